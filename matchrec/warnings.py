"""The classes of warnings, which are filtered like Python's own:

warnings.simplefilter("ignore", matchrec.warnings.NoOrderWarning)
"""

from matchrec.errors.warnings import AnyRowsWarning as AnyRowsWarning
from matchrec.errors.warnings import BracesWarning as BracesWarning
from matchrec.errors.warnings import DaysInHoursWarning as DaysInHoursWarning
from matchrec.errors.warnings import EarlyEndWarning as EarlyEndWarning
from matchrec.errors.warnings import EmptyMatchesWarning as EmptyMatchesWarning
from matchrec.errors.warnings import MatchRecognizeWarning as MatchRecognizeWarning
from matchrec.errors.warnings import NanosecondsWarning as NanosecondsWarning
from matchrec.errors.warnings import NeverTrueWarning as NeverTrueWarning
from matchrec.errors.warnings import NextRowWarning as NextRowWarning
from matchrec.errors.warnings import NoConditionsWarning as NoConditionsWarning
from matchrec.errors.warnings import NoOrderWarning as NoOrderWarning
from matchrec.errors.warnings import ProductWarning as ProductWarning
from matchrec.errors.warnings import RejectedRuleWarning as RejectedRuleWarning
from matchrec.errors.warnings import ReluctantEndWarning as ReluctantEndWarning
from matchrec.errors.warnings import SameValueWarning as SameValueWarning
from matchrec.errors.warnings import SkippedRowWarning as SkippedRowWarning
from matchrec.errors.warnings import TiesWarning as TiesWarning
from matchrec.errors.warnings import UnboundedStateWarning as UnboundedStateWarning
from matchrec.errors.warnings import UntunedSessionWarning as UntunedSessionWarning
from matchrec.errors.warnings import WildcardWarning as WildcardWarning

__all__ = [name for name in globals() if name.endswith("Warning")]
