"""The warnings: their classes, and their messages as records."""

from __future__ import annotations

import inspect
import warnings

from matchrec.errors.kinds import Located
from matchrec.errors.language import current_surface, name_part
from matchrec.errors.message import as_name, of
from matchrec.source import Span

# The classes of warnings. Each says in one sentence when it is given.


class MatchRecognizeWarning(Located, UserWarning):
    """A query runs, but probably does not mean what you want.

    It has the same attributes as `MatchRecognizeError`, but no code.
    """


class NoOrderWarning(MatchRecognizeWarning):
    """The clause has no ORDER BY."""


class NoConditionsWarning(MatchRecognizeWarning):
    """PATTERN has variables, and the clause has neither DEFINE nor WITHIN with a time."""


class AnyRowsWarning(MatchRecognizeWarning):
    """PATTERN ends with a variable without a condition that takes all rows that follow.

    The variable is repeated greedily without an upper bound, and the clause has no WITHIN.
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
    """A comparison in a condition can never be true.

    It compares with NULL, with a variable that has no row yet, or two constants.
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


class WildcardWarning(MatchRecognizeWarning):
    """A text in a condition has `%` or `*` as a wildcard, which the operator does not know."""


class BracesWarning(MatchRecognizeWarning):
    """A variable without a condition looks like a quantifier whose braces a Python f-string has
    removed.

    Its name is the name of a defined variable, followed by digits.
    """


class DaysInHoursWarning(MatchRecognizeWarning):
    """WITHIN counts a day as 24 hours, although clocks change in the time zone of the session.

    The length of WITHIN is a day or more, along a TIMESTAMP.
    """


class TiesWarning(MatchRecognizeWarning):
    """Rows of a partition have the same ORDER BY values, but differ in columns that the query
    reads.

    The warning appears once for each query, after it has run.
    """


class NanosecondsWarning(MatchRecognizeWarning):
    """Rows of a pandas, Polars or Arrow frame differ only in the nanoseconds of an ORDER BY column.

    Spark's times have microseconds.
    """


class UnboundedStateWarning(MatchRecognizeWarning):
    """A clause over a stream has no WITHIN, and a match may have any number of rows."""


class RefusedRuleWarning(MatchRecognizeWarning):
    """`on_error="keep"` leaves out a row of a table of rules that is not a valid rule."""


class ProductWarning(MatchRecognizeWarning):
    """With `dialect=`, a part of the query has another result here than in the product."""


class UntunedSessionWarning(MatchRecognizeWarning):
    """The session lacks a setting that `matchrec.tune` sets, and no value sent to Python may be
    long.

    The warning appears once, at the first such query.
    """


no_order = of(NoOrderWarning)("""MATCH_RECOGNIZE has no ORDER BY
    note: the order of rows, and so the result, can differ from run to run
    add ORDER BY and the column of time""")
no_conditions = of(NoConditionsWarning)("""MATCH_RECOGNIZE has no DEFINE
    note: every pattern variable is true for every row
    add conditions after PATTERN (...), such as DEFINE {variable} AS x > 1""")

# PATTERN (A UP+) DEFINE A AS ...; `written` is the loop.
any_rows = of(AnyRowsWarning)("""`{written}` at the end of PATTERN takes all rows that follow
    note: {variable} has no condition in DEFINE, so it is true for every row
    add {variable} to DEFINE; if you mean every row, write {variable} AS TRUE""")


def repetitions_taken(least: int) -> str:
    """Return the predicate of a loop at the end of PATTERN that stops at its lower bound.

    >>> repetitions_taken(1), repetitions_taken(3)
    ('never repeats', 'always repeats exactly 3 times')
    """
    texts = {0: "never takes a row", 1: "never repeats"}
    return texts.get(least, f"always repeats exactly {least:,} times")


def reluctant_end(
    written: str, least: int, instead: tuple[str, str], span: Span | None
) -> ReluctantEndWarning:
    """Return the warning for a reluctant quantifier at the end of PATTERN, as in PATTERN (A B*?).

    Args:
        written: the loop, `B*?`.
        least: its smallest number of repetitions.
        instead: the greedy loop, `B*`, and the part that takes exactly `least` repetitions; "" if
            that is no row.
        span: the loop in the text of the query.
    """
    greedy, exact = instead
    fixed = f"write {exact}" if exact else "leave it out"
    return _reluctant_end(
        span, written=written, said=repetitions_taken(least), greedy=greedy, fixed=fixed
    )


_reluctant_end = of(ReluctantEndWarning)("""`{written}` at the end of PATTERN {said}
    note: a reluctant quantifier takes few rows, and nothing after it forces it to take more
    write {greedy} for as many rows as there are, or {fixed}""")

# PATTERN (A*?), PATTERN (); `written` is the row pattern.
empty_matches = of(EmptyMatchesWarning)("""every match of `{written}` in PATTERN is empty
    note: a row is taken only if the pattern needs or prefers one
    write a part that takes a row, such as A or A+""")
same_value = of(SameValueWarning)("""a comparison in {part[DEFINE]} has the same value on both sides
    write {word.another}""")

# DEFINE A AS price = NULL; `other` is the other side of the comparison.
compared_with_null = of(NeverTrueWarning)("""`{operator}` with NULL in {part[DEFINE]} is never true
    case =: write {other} IS NULL
    case <>: write {other} IS NOT NULL
    write {other} IS NULL or IS NOT NULL""")

# PATTERN (A B) DEFINE A AS price < B.price.
compared_with_later = of(NeverTrueWarning)("""a comparison with `{read}` in {part[DEFINE]} is never
        true
    note: {other} has no row yet when a row is tested for {variable}, so that {read} is NULL
    write it in the condition of {other}{word.or_after}""")

# Pattern.begin("a").where("a.price > 5").
compared_with_own = of(NeverTrueWarning)("""a comparison with `{read}` in {part[DEFINE]} is never
        true
    note: {own} has no row yet when its first is tested, so that {read} is NULL
    write {column} for the row that is tested""")
false_constants = of(NeverTrueWarning)("""a comparison of constants in {part[DEFINE]} is never true
    compare a column; if no row should match, write FALSE""")


def false_texts(span: Span | None, quoted: str) -> NeverTrueWarning:
    """Return the warning for two different strings in a comparison, as in "status" = 'on'.

    Args:
        span: the comparison in the text of the query.
        quoted: the string in double quotes, with the quotes; "" if none has double quotes.
    """
    column = f"write {as_name(quoted[1:-1])} without quotes, if it is a column"
    message = f"a comparison of two texts in {name_part('DEFINE')} is never true"
    notes = ("text in quotes is a string, also in double quotes",) if quoted else ()
    hint = column if quoted else "compare a column; if no row should match, write FALSE"
    return NeverTrueWarning(message, span, notes=notes, hint=hint)


# PATTERN (A B) SKIP TILL NEXT MATCH DEFINE B AS price > PREV(price).
skipped_row = of(SkippedRowWarning)("""PREV in {part[DEFINE]} with {selection} may read a row that
        is skipped
    note: PREV reads the previous row of the partition, whether or not that row is in the match
    write LAST({argument}, 1) for the previous row of the match; for that of the partition, compute
        lag({argument}) in a subquery before the clause""")

# PATTERN (A{3,}) SKIP TILL NEXT MATCH; `written` is the loop.
end_before_skipped_row = of(EarlyEndWarning)("""`{written}` at the end of PATTERN ends before the
        first row that {selection} would skip
    note: the match is complete there, and ending it is preferred to skipping a row
    write ALL MATCHES for the longer matches too; for the longest match, leave out {selection} and
        filter the input to the rows that variables of PATTERN can take""")


def loop_that_completes_first(written: str, least: int, span: Span | None) -> EarlyEndWarning:
    """Return the warning for PATTERN (A{3,}) with NON-OVERLAPPING MATCHES.

    Args:
        written: the loop, `A{3,}`.
        least: the number of repetitions after which the match is complete.
        span: the loop in the text of the query.
    """
    return _loop_that_completes_first(span, written=written, said=repetitions_taken(least))


_loop_that_completes_first = of(EarlyEndWarning)("""`{written}` at the end of PATTERN {said}
    note: NON-OVERLAPPING MATCHES takes the match that is complete first
    write ALL MATCHES for the longer matches too; for the longest match, leave out the event
        selection and filter the input to the rows that variables of PATTERN can take""")

# PATTERN (A NOT B) WITHIN INTERVAL 7 DAYS; `written` is the negation.
not_for_next_row = of(NextRowWarning)("""`{written}` at the end of PATTERN tests the next row only
    note: WITHIN limits the rows of the match, not the rows that NOT tests
    to forbid such a row until the window ends, write SKIP TILL NEXT MATCH ALL MATCHES before
        WITHIN; to test only the next row, write NEXT(x) in the condition of the row before it""")

# DEFINE A AS kind LIKE 'payment*'.
star_in_like = of(WildcardWarning)("""`{operator} '{text}'` in {part[DEFINE]} looks for an asterisk
    note: the wildcards of LIKE are % for any characters and _ for one
    write {operator} '{meant}'""")

# DEFINE A AS kind = 'payment%'.
percent_in_equality = of(WildcardWarning)("""`{operator}` with '{text}' in {part[DEFINE]} looks for
        a percent sign
    note: % is a wildcard of LIKE only
    write {like} '{text}'""")
percent_in_function = of(WildcardWarning)("""`{function}` with '{text}' in {part[DEFINE]} looks for
        a percent sign
    note: % is a wildcard of LIKE only
    write '{meant}'""")
percent_in_regex = of(WildcardWarning)("""`{operator}` with '{text}' in {part[DEFINE]} looks for a
        percent sign
    note: the pattern is a regular expression; % is a wildcard of LIKE
    write {like} '{text}'""")


def braces_of_f_string(span: Span | None, variable: str, name: str, count: str) -> BracesWarning:
    """Return the warning for PATTERN (A B3), which a Python f-string makes of PATTERN (A B{3}).

    Args:
        span: the variable in the text of the query.
        variable: the variable without a condition, `B3`.
        name: the variable that has a condition, `B`.
        count: the number after it, `3`.
    """
    message = _braces_of_f_string if current_surface().is_python else _number_without_braces
    return message(span, variable=variable, name=name, count=count)


_braces_of_f_string = of(BracesWarning)("""`{variable}` in PATTERN has no condition, but `{name}`
        has one
    note: a Python f-string turns {name}{{count}} into {name}{count}
    write {name}{{{count}}} in an f-string; if another variable is meant, add {variable} to
        DEFINE""")
_number_without_braces = of(BracesWarning)("""`{variable}` in PATTERN has no condition, but `{name}`
        has one
    write {name}{{count}} for {count} rows; if another variable is meant, add {variable} to
        DEFINE""")

# WITHIN INTERVAL 1 DAY, on Sail, in America/New_York.
days_in_hours = of(DaysInHoursWarning)("""this session counts the days of {written} as 24 hours each
    note: clocks change in its time zone, and Spark ends a day at the same time of the next day
    if you mean hours, set spark.sql.session.timeZone to UTC; if you mean days, run on Spark""")

# ORDER BY ts, over a pandas frame in which two rows have the same microsecond.
nanoseconds = of(NanosecondsWarning)("""{count:,} rows of `{frame}` differ from another row only in
        the nanoseconds of `{column}`
    note: Spark's times have microseconds, so the order of these rows can differ from run to run
    pass {part}, and write ORDER BY {column:name}, ns""")
unbounded_state = of(UnboundedStateWarning)("""a match of PATTERN over a stream may wait for any
        number of rows
    note: until the match is decided, its rows are kept and searched again as more rows come
    add WITHIN after PATTERN (...), or bound the repetition, as in B{1,100}""")
unbounded_runs = of(UnboundedStateWarning)("""a run over a stream may wait for any number of rows
    note: until the run ends, it is kept with its rows
    add WITHIN, or .within(...) to a Pattern""")


def tied_rows(number: int, clause: str, example: str) -> TiesWarning:
    """Return the warning for rows of a partition with the same values of ORDER BY.

    Args:
        number: how many rows have the same values as the row before them.
        clause: ORDER BY as the user's language calls it.
        example: the values that two of these rows have.
    """
    if number == 1:
        rows = f"1 row has the same {clause} values as the row before it"
    else:
        rows = f"{number:,} rows have the same {clause} values as the row before them"
    return _tied_rows(rows=rows, clause=clause, example=example)


_tied_rows = of(TiesWarning)("""{rows}
    note: their order can differ from run to run, and so can the result
    note: for example, two rows have {example}
    add a column to {clause} that tells these rows apart""")
refused_rule = of(RefusedRuleWarning)("""a rule is left out: {error}""")
other_in_product = of(ProductWarning)("""{title}: {message}""")
untuned_session = of(UntunedSessionWarning)("""matchrec.tune(spark) would make the queries of this
        session faster: it sets {names}""")


# Packages that can be on the call stack between the user's program and a warning.
_PACKAGES = frozenset({"matchrec", "pyspark", "py4j", "functools", "contextlib"})


def warn_caller(*remarks: MatchRecognizeWarning) -> None:
    """Give warnings at the line of the user's program that has called us."""
    frame = inspect.currentframe()
    level = 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _PACKAGES:
        frame = frame.f_back
        level += 1
    for warning in remarks:
        warnings.warn(warning, stacklevel=level)
