"""The classes of warnings, which `matchrec.warnings` publishes.

Each docstring says when the warning appears. `errors.warnings`,
`errors.condition_warnings` and `errors.idle_arguments` have the functions that word the warnings of
each class.
"""

from __future__ import annotations

from matchrec.errors.kinds import Located


class MatchRecognizeWarning(Located, UserWarning):
    """A query runs, but probably does not mean what you want.

    It has the same attributes as `MatchRecognizeError`, but no code.
    """

    __module__ = "matchrec.warnings"

    def __init_subclass__(cls) -> None:
        """Show the class as a name of the public module."""
        cls.__module__ = "matchrec.warnings"


class NoOrderWarning(MatchRecognizeWarning):
    """The clause has no ORDER BY."""


class NoConditionsWarning(MatchRecognizeWarning):
    """PATTERN has variables, and the clause has neither DEFINE nor WITHIN with a time."""


class AnyRowsWarning(MatchRecognizeWarning):
    """PATTERN ends with variables without a condition that take all rows that follow.

    The variable, or the group of variables, is repeated greedily without an upper bound, and the
    clause has no WITHIN.
    """


class ReluctantEndWarning(MatchRecognizeWarning):
    """PATTERN ends with a reluctant quantifier, which stops at its smallest number of rows.

    The warning is about queries that return the preferred matches.
    """


class EmptyMatchesWarning(MatchRecognizeWarning):
    """The preferred match at every row is empty."""


class SameValueWarning(MatchRecognizeWarning):
    """A comparison in a condition has the same value of the same row on both sides."""


class NeverTrueWarning(MatchRecognizeWarning):
    """A comparison in a condition, PATTERN, or a part of PATTERN can never be true.

    The comparison is with NULL or None, with a variable that has no row yet, with an earlier row
    that the first row of a variable does not have, with FIRST or an aggregate that has the same
    value at the first row of a variable, of two constants, or against the order of the rows. Or it
    contradicts another comparison of the same value. PATTERN needs more rows than WITHIN allows.
    The part of PATTERN is an alternative that is never tried, NOT of a variable without a
    condition, `^` after a row, or `$` before a row.
    """


class SkippedRowWarning(MatchRecognizeWarning):
    """PREV in a condition may read a row that the match skips.

    The clause has SKIP TILL NEXT MATCH or SKIP TILL ANY MATCH, and the variable of the condition is
    never the first of a match.
    """


class EarlyEndWarning(MatchRecognizeWarning):
    """PATTERN ends with a repeated or optional part, so matches may end earlier than you expect.

    Either a match may skip rows and the query returns the preferred matches, or it returns the
    non-overlapping matches.
    """


class NextRowWarning(MatchRecognizeWarning):
    """NOT at the end of PATTERN tests the next row only, although the clause has WITHIN.

    A match of the clause may not skip rows.
    """


class SkipTargetWarning(MatchRecognizeWarning):
    """AFTER MATCH SKIP TO a variable fails at some matches of PATTERN.

    Such a match has no row of the variable, or this row is the first one of the match. The query
    then ends with an error while it runs.
    """


class WildcardWarning(MatchRecognizeWarning):
    """A string in a condition has `%` or `*` as a wildcard, which the operator does not know."""


class CountedConditionWarning(MatchRecognizeWarning):
    """COUNT of a condition counts the rows in which the condition is false, too.

    COUNT counts every value that is not NULL, and FALSE is such a value.
    """


class BracesWarning(MatchRecognizeWarning):
    """A variable looks like a quantifier whose braces a Python f-string has removed.

    It has no condition, and its name is the name of a defined variable, followed by digits.
    """


class DaysInHoursWarning(MatchRecognizeWarning):
    """WITHIN counts a day as 24 hours, although clocks change in the time zone of the session.

    The length of WITHIN is a day or more, along a TIMESTAMP.
    """


class NoEffectWarning(MatchRecognizeWarning):
    """An argument of a call, a parameter in quotes, ORDER BY, or PERMUTE of one part has no effect.

    ORDER BY has no effect if all its columns are also in PARTITION BY.
    """


class TiesWarning(MatchRecognizeWarning):
    """Rows with the same ORDER BY values differ in columns that the query reads.

    The rows are in the same partition. The warning appears once for each query, after it has run.
    """


class NanosecondsWarning(MatchRecognizeWarning):
    """Rows of a pandas, Polars or Arrow frame differ only in the nanoseconds of an ORDER BY column.

    Spark's times have microseconds.
    """


class UnboundedStateWarning(MatchRecognizeWarning):
    """A clause over a stream has no WITHIN, and a match may have any number of rows."""


class RejectedRuleWarning(MatchRecognizeWarning):
    """`on_error="continue"` leaves out a row of a table of rules that is not a valid rule."""


class ProductWarning(MatchRecognizeWarning):
    """With `dialect=`, a part of the query has another result here than in the product."""


class UntunedSessionWarning(MatchRecognizeWarning):
    """The session lacks a setting that `matchrec.tune` sets and that makes the query faster.

    The warning appears once, at the first query that sends only numbers, dates, times and booleans
    to Python. The keys of PARTITION BY and ORDER BY may have any type.
    """


def list_warning_classes() -> list[str]:
    """Return the names of the classes of warnings, in the order of this module."""
    return [name for name in globals() if name.endswith("Warning")]
