"""The warnings: their classes, and their messages as records."""

from __future__ import annotations

from matchrec.errors.kinds import Located
from matchrec.errors.language import part
from matchrec.errors.message import as_name, of
from matchrec.source import Span

# The classes of warnings. Each says in one sentence when it is given.


class MatchRecognizeWarning(Located, UserWarning):
    """A query that runs but probably isn't what you meant, with location, notes and hint.

    Fields as of `MatchRecognizeError`.
    """


class NoOrderWarning(MatchRecognizeWarning):
    """The clause has no ORDER BY."""


class NoConditionsWarning(MatchRecognizeWarning):
    """PATTERN has variables, and the clause has neither DEFINE nor WITHIN with a time."""


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
    """A comparison in a condition is with NULL, with a variable that has no row so early, or of two
    constants for which it does not hold.
    """


class SkippedRowWarning(MatchRecognizeWarning):
    """With SKIP TILL NEXT MATCH or SKIP TILL ANY MATCH, the condition of a variable that is never
    the first of a match reads the row before the current one by PREV.
    """


class DaysInHoursWarning(MatchRecognizeWarning):
    """WITHIN of a day or more is along a TIMESTAMP, clocks change in the session's time zone, and
    the session counts a day as 24 hours.
    """


class UnboundedStateWarning(MatchRecognizeWarning):
    """The clause is over a stream without WITHIN, and a match may have any number of rows."""


class RefusedRuleWarning(MatchRecognizeWarning):
    """A table of rules has something that is no rule, and `on_error="keep"` leaves it out."""


class ProductWarning(MatchRecognizeWarning):
    """With `dialect=`, a part of the query gives another result here than in the product."""


class UntunedSessionWarning(MatchRecognizeWarning):
    """The session lacks a setting that `matchrec.tune` sets, and no value that crosses may be long.

    Given once, at the first such query.
    """


no_order = of(NoOrderWarning)("""MATCH_RECOGNIZE without ORDER BY
    note: the order of rows, and so the result, may differ each time
    add ORDER BY and the column of time""")
no_conditions = of(NoConditionsWarning)("""MATCH_RECOGNIZE without DEFINE
    note: every pattern variable is true for every row
    add conditions after PATTERN (...), such as DEFINE {variable} AS x > 1""")

# PATTERN (A UP+) DEFINE A AS ...; `written` is the loop.
any_rows = of(AnyRowsWarning)("""`{written}` at the end of PATTERN takes all rows that follow
    note: {variable} has no condition in DEFINE, so it is true for every row
    add {variable} to DEFINE; if every row is meant, write {variable} AS TRUE""")


def reluctant_end(
    written: str, least: int, instead: tuple[str, str], span: Span | None
) -> ReluctantEndWarning:
    """PATTERN (A B*?). instead: the greedy loop, and what takes `least` repetitions."""
    greedy, fixed = instead[0], f"write {instead[1]}" if instead[1] else "leave it out"
    times = {0: "never takes a row", 1: "never comes twice"}
    said = times.get(least, f"comes {least:,} times, never more")
    return _reluctant_end(span, written=written, said=said, greedy=greedy, fixed=fixed)


_reluctant_end = of(ReluctantEndWarning)("""`{written}` at the end of PATTERN {said}
    note: a reluctant quantifier takes few rows, and nothing after it forces it to take more
    write {greedy} for as many rows as there are, or {fixed}""")

# PATTERN (A*?), PATTERN (); `written` is the row pattern.
empty_matches = of(EmptyMatchesWarning)("""every match of `{written}` in PATTERN is empty
    note: a row is taken only where the pattern needs or prefers one
    write a part that takes a row, such as A or A+""")
same_value = of(SameValueWarning)("""a comparison in {part[DEFINE]} has the same value on both sides
    write {word.another}""")

# DEFINE A AS price = NULL; `other` is what is compared.
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
    compare a column; if no row is meant, write FALSE""")


def false_texts(span: Span | None, quoted: str) -> NeverTrueWarning:
    """DEFINE A AS "status" = 'on'. quoted: a text in double quotes, or nothing."""
    column = f"write {as_name(quoted[1:-1])} without quotes, if it is a column"
    message = f"a comparison of two texts in {part('DEFINE')} is never true"
    notes = ("quotes make a text, also double quotes",) if quoted else ()
    hint = column if quoted else "compare a column; if no row is meant, write FALSE"
    return NeverTrueWarning(message, span, notes=notes, hint=hint)


# PATTERN (A B) SKIP TILL NEXT MATCH DEFINE B AS price > PREV(price).
skipped_row = of(SkippedRowWarning)("""PREV in {part[DEFINE]} with {selection} may read a row that
        is skipped
    note: PREV is of the row before in the partition, whether or not the match has it
    write LAST({argument}, 1) for the row before in the match; if that of the partition is meant,
        compute lag({argument}) in a subquery before the clause""")

# WITHIN INTERVAL 1 DAY, on Sail, in America/New_York.
days_in_hours = of(DaysInHoursWarning)("""this session counts the days of {written} as 24 hours each
    note: clocks change in its time zone: Spark ends a day at the same time of the next day
    if hours are meant, set spark.sql.session.timeZone to UTC; if days are, run on Spark""")
unbounded_state = of(UnboundedStateWarning)("""a match of PATTERN over a stream may wait for any
        number of rows
    note: until it is decided, its rows are kept, and searched again as more rows come
    add WITHIN after PATTERN (...), or bound what is repeated, as in B{1,100}""")
unbounded_runs = of(UnboundedStateWarning)("""a run over a stream may wait for any number of rows
    note: until it ends, it is kept with the rows that it leads to
    add WITHIN, or .within(...) to a Pattern""")
refused_rule = of(RefusedRuleWarning)("""left out: {error}""")
other_in_product = of(ProductWarning)("""{title}: {message}""")
untuned_session = of(UntunedSessionWarning)("""matchrec.tune(spark) would make the queries of this
        session faster: it sets {names}""")
