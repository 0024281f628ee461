"""The classes of warnings. Each says in one sentence when it is given."""

from matchrec.errors.kinds import Located


class MatchRecognizeWarning(Located, UserWarning):
    """A query that runs, and nearly never means what it says, with the place and the cure.

    Fields as of `MatchRecognizeError`.
    """


class NoOrderWarning(MatchRecognizeWarning):
    """The clause has no ORDER BY."""


class NoConditionsWarning(MatchRecognizeWarning):
    """PATTERN has variables, and the clause has no DEFINE."""


class AnyRowsWarning(MatchRecognizeWarning):
    """Without WITHIN, the last part of PATTERN is one variable without a condition, repeated
    greedily without an upper bound.
    """


class ReluctantEndWarning(MatchRecognizeWarning):
    """The last part of PATTERN is repeated reluctantly, and the preferred matches come out."""


class EmptyMatchesWarning(MatchRecognizeWarning):
    """The preferred match at every row is the empty one."""


class SameValueWarning(MatchRecognizeWarning):
    """Both sides of a comparison in a condition are one value of one row."""


class NeverTrueWarning(MatchRecognizeWarning):
    """A comparison in a condition is with NULL, or of two constants for which it does not hold."""


class SkippedRowWarning(MatchRecognizeWarning):
    """With SKIP TILL NEXT MATCH or SKIP TILL ANY MATCH, the condition of a variable that is never
    the first of a match reads the row before the current one by PREV.
    """


class UnboundedStateWarning(MatchRecognizeWarning):
    """The clause is over a stream without WITHIN, and a match may have any number of rows."""


class ProductWarning(MatchRecognizeWarning):
    """With `dialect=`, a part of the query gives another result here than in the product."""
