"""The classes of warnings about queries. They are filtered like Python's own:

    warnings.simplefilter("ignore", matchrec.warnings.NoOrderWarning)

All of them are subclasses of `MatchRecognizeWarning`.
"""

from matchrec.errors.warning_classes import AnyRowsWarning as AnyRowsWarning
from matchrec.errors.warning_classes import BracesWarning as BracesWarning
from matchrec.errors.warning_classes import CountedConditionWarning as CountedConditionWarning
from matchrec.errors.warning_classes import DaysInHoursWarning as DaysInHoursWarning
from matchrec.errors.warning_classes import EarlyEndWarning as EarlyEndWarning
from matchrec.errors.warning_classes import EmptyMatchesWarning as EmptyMatchesWarning
from matchrec.errors.warning_classes import MatchRecognizeWarning as MatchRecognizeWarning
from matchrec.errors.warning_classes import NanosecondsWarning as NanosecondsWarning
from matchrec.errors.warning_classes import NeverTrueWarning as NeverTrueWarning
from matchrec.errors.warning_classes import NextRowWarning as NextRowWarning
from matchrec.errors.warning_classes import NoConditionsWarning as NoConditionsWarning
from matchrec.errors.warning_classes import NoEffectWarning as NoEffectWarning
from matchrec.errors.warning_classes import NoOrderWarning as NoOrderWarning
from matchrec.errors.warning_classes import ProductWarning as ProductWarning
from matchrec.errors.warning_classes import RejectedRuleWarning as RejectedRuleWarning
from matchrec.errors.warning_classes import ReluctantEndWarning as ReluctantEndWarning
from matchrec.errors.warning_classes import SameValueWarning as SameValueWarning
from matchrec.errors.warning_classes import SkippedRowWarning as SkippedRowWarning
from matchrec.errors.warning_classes import SkipTargetWarning as SkipTargetWarning
from matchrec.errors.warning_classes import TiesWarning as TiesWarning
from matchrec.errors.warning_classes import UnboundedStateWarning as UnboundedStateWarning
from matchrec.errors.warning_classes import UntunedSessionWarning as UntunedSessionWarning
from matchrec.errors.warning_classes import WildcardWarning as WildcardWarning

__all__ = [name for name in globals() if name.endswith("Warning")]
