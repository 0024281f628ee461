"""The classes of warnings, to be filtered as Python's own.

warnings.simplefilter("ignore", matchrec.warnings.NoOrderWarning)
"""

from matchrec.errors.warnings import (
    AnyRowsWarning,
    DaysInHoursWarning,
    EmptyMatchesWarning,
    MatchRecognizeWarning,
    NeverTrueWarning,
    NoConditionsWarning,
    NoOrderWarning,
    ProductWarning,
    RefusedRuleWarning,
    ReluctantEndWarning,
    SameValueWarning,
    SkippedRowWarning,
    UnboundedStateWarning,
    UntunedSessionWarning,
)

__all__ = [
    "AnyRowsWarning",
    "DaysInHoursWarning",
    "EmptyMatchesWarning",
    "MatchRecognizeWarning",
    "NeverTrueWarning",
    "NoConditionsWarning",
    "NoOrderWarning",
    "ProductWarning",
    "RefusedRuleWarning",
    "ReluctantEndWarning",
    "SameValueWarning",
    "SkippedRowWarning",
    "UnboundedStateWarning",
    "UntunedSessionWarning",
]
