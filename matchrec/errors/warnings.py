"""The messages of warnings: a function for each situation, with its name, returns the warning.

    yield loop_takes_all_rows(span, loop="UP+", variable="UP")

    `UP+` at the end of PATTERN takes all rows that follow
      note: UP has no condition in DEFINE, so it is true for every row
      help: add UP to DEFINE; if you mean every row, write UP AS TRUE

`span` is the part of the query that the message shows, if the query has a text. Messages take words
from the language of the query: DEFINE in SQL is WHERE in SASE+, and rows are events. The classes
are in `warning_classes`, and `warn_caller` gives the warnings to the user's program. The warnings
about conditions are in `condition_warnings`, and those about arguments without effect in
`idle_arguments`.
"""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.errors.language import name_part
from matchrec.errors.surface import current_surface
from matchrec.errors.warning_classes import (
    AnyRowsWarning,
    BracesWarning,
    DaysInHoursWarning,
    EarlyEndWarning,
    EmptyMatchesWarning,
    NanosecondsWarning,
    NeverTrueWarning,
    NextRowWarning,
    NoConditionsWarning,
    NoEffectWarning,
    NoOrderWarning,
    ProductWarning,
    RejectedRuleWarning,
    ReluctantEndWarning,
    SkippedRowWarning,
    SkipTargetWarning,
    TiesWarning,
    UnboundedStateWarning,
    UntunedSessionWarning,
)
from matchrec.errors.wording import join_with_and, show_count, write_name
from matchrec.source import Span

# The clause as a whole.


def no_order(span: Span | None) -> NoOrderWarning:
    """Return the warning for a clause without ORDER BY.

    Args:
        span: the keyword of the part before which ORDER BY belongs.
    """
    return NoOrderWarning(
        "MATCH_RECOGNIZE has no ORDER BY",
        span,
        notes=("the order of rows, and so the result, can differ from run to run",),
        hint="add ORDER BY and the time column before this part",
    )


def order_by_partition_keys(span: Span, *, surplus_key: str | None) -> NoEffectWarning:
    """Return the warning for PARTITION BY sym, day ORDER BY day.

    Args:
        span: the keys of ORDER BY.
        surplus_key: the key that PARTITION BY probably has by mistake, `day`; None if it is not
            known.
    """
    hint = "write the time column, or another column that orders the rows of a partition"
    if surplus_key is not None:
        hint = f"remove {surplus_key} from PARTITION BY, or add another column to ORDER BY"
    return NoEffectWarning(
        "ORDER BY has no effect, because all its columns are in PARTITION BY",
        span,
        notes=("the order of rows, and so the result, can differ from run to run",),
        hint=hint,
    )


def no_conditions(span: Span | None, *, variable: str) -> NoConditionsWarning:
    """Return the warning for a clause without DEFINE.

    A clause that has WITHIN with a time gets no warning, because that is a condition, too.

    Args:
        span: the part of the query that the warning shows.
        variable: a variable of PATTERN.
    """
    return NoConditionsWarning(
        "MATCH_RECOGNIZE has no DEFINE",
        span,
        notes=("without conditions, every row can be mapped to every pattern variable",),
        hint=f"add conditions after PATTERN (...): DEFINE {variable} AS ...",
    )


# The row pattern.


def loop_takes_all_rows(
    span: Span | None, *, loop: str, variables: Sequence[str]
) -> AnyRowsWarning:
    """Return the warning for PATTERN (A UP+) DEFINE A AS ..., whose last loop takes all rows.

    Args:
        span: the part of the query that the warning shows.
        loop: the loop, `UP+`.
        variables: the variables in it, `UP`.
    """
    names = join_with_and(variables)
    if len(variables) == 1:
        note = f"{names} has no condition in DEFINE, so it is true for every row"
    else:
        note = f"{names} have no condition in DEFINE, so they are true for every row"
    trivial_conditions = ", ".join(f"{variable} AS TRUE" for variable in variables)
    return AnyRowsWarning(
        f"`{loop}` at the end of PATTERN takes all rows that follow",
        span,
        notes=(note,),
        hint=f"add {names} to DEFINE; if you mean every row, write {trivial_conditions}",
    )


def describe_stop_at_lower_bound(lower_bound: int) -> str:
    """Return the end of a sentence about a loop that stops when it has its least repetitions.

    Args:
        lower_bound: the least number of repetitions.

    >>> describe_stop_at_lower_bound(1), describe_stop_at_lower_bound(3)
    ('never repeats', 'always repeats exactly 3 times')
    """
    texts = {0: "never takes a row", 1: "never repeats"}
    return texts.get(lower_bound, f"always repeats exactly {lower_bound:,} times")


def reluctant_end(
    span: Span | None, *, loop: str, lower_bound: int, greedy_loop: str, minimal_part: str
) -> ReluctantEndWarning:
    """Return the warning for a reluctant quantifier at the end of PATTERN, as in PATTERN (A B*?).

    Args:
        span: the loop in the text of the query.
        loop: the loop, `B*?`.
        lower_bound: the least number of repetitions, 0.
        greedy_loop: the same loop, but greedy: `B*`.
        minimal_part: the pattern of the least repetitions, `B` for `B+?`; empty for no repetition.
    """
    alternative = f"write {minimal_part}" if minimal_part else f"leave {loop} out"
    return ReluctantEndWarning(
        f"`{loop}` at the end of PATTERN {describe_stop_at_lower_bound(lower_bound)}",
        span,
        notes=(
            "a reluctant quantifier takes few rows, and nothing after it forces it to take more",
        ),
        hint=f"write {greedy_loop} for as many rows as there are, or {alternative}",
    )


def only_empty_matches(span: Span | None, *, pattern: str) -> EmptyMatchesWarning:
    """Return the warning for PATTERN (A*?) or PATTERN (), whose matches are all empty.

    Args:
        span: the part of the query that the warning shows.
        pattern: the row pattern.
    """
    return EmptyMatchesWarning(
        f"every match of `{pattern}` in PATTERN is empty",
        span,
        notes=("the pattern needs no row, and prefers the match without rows",),
        hint="write a part that takes a row, such as A or A+",
    )


def negation_of_every_row(span: Span | None, *, variable: str) -> NeverTrueWarning:
    """Return the warning for PATTERN (A NOT D B) if D has no condition.

    Args:
        span: the NOT in the text of the query.
        variable: the variable, D.
    """
    define = name_part("DEFINE")
    return NeverTrueWarning(
        f"`NOT {variable}` in PATTERN is never true if a row follows",
        span,
        notes=(f"{variable} has no condition, so every row matches it",),
        hint=f"add {variable} to {define}, or remove NOT {variable}",
    )


def end_before_row(span: Span | None) -> NeverTrueWarning:
    """Return the warning for PATTERN (A $ B)."""
    return NeverTrueWarning(
        "`$` in PATTERN is never true, because a row must follow it",
        span,
        notes=("`$` is the end of the partition, so no row follows it",),
        hint="remove $, or write it at the end of PATTERN",
    )


def start_after_row(span: Span | None) -> NeverTrueWarning:
    """Return the warning for PATTERN (A ^ B)."""
    return NeverTrueWarning(
        "`^` in PATTERN is never true, because a row must come before it",
        span,
        notes=("`^` is the start of the partition, so no row comes before it",),
        hint="remove ^, or write it at the beginning of PATTERN",
    )


def window_shorter_than_pattern(span: Span | None, *, least: int, most: int) -> NeverTrueWarning:
    """Return the warning for PATTERN (A B{9,}) WITHIN 3 ROWS.

    Args:
        span: the row pattern in the text of the query.
        least: the least number of rows in a match of the row pattern.
        most: the largest number of rows that the window allows.
    """
    return NeverTrueWarning(
        f"a match of PATTERN needs {show_count(least, 'row')}, but may have only {most:,}",
        span,
        hint=f"allow at least {show_count(least, 'row')}, or write a shorter PATTERN",
    )


def dead_alternative(
    span: Span | None, *, alternative: str, earlier: str, reason: str
) -> NeverTrueWarning:
    """Return the warning for PATTERN (A | B C), whose B C is never tried.

    Args:
        span: the alternative in the text of the query.
        alternative: the alternative, `B C`.
        earlier: the alternative that is preferred, `A`.
        reason: why it always matches: "A matches every row".
    """
    return NeverTrueWarning(
        f"`{alternative}` in PATTERN never matches, because `{earlier}` is preferred",
        span,
        notes=(f"{reason}, and the alternatives are tried from left to right",),
        hint=f"write {alternative} | {earlier}",
    )


def repeated_alternative(span: Span | None, *, alternative: str) -> NeverTrueWarning:
    """Return the warning for PATTERN (B | C | B), whose second B is never tried.

    Args:
        span: the second alternative in the text of the query.
        alternative: the alternative, `B`.
    """
    return NeverTrueWarning(
        f"the second `{alternative}` in PATTERN never matches, because the first one is preferred",
        span,
        hint=f"leave the second {alternative} out",
    )


def skip_to_optional_variable(
    span: Span | None, *, variable: str, pattern: str
) -> SkipTargetWarning:
    """Return the warning for AFTER MATCH SKIP TO B PATTERN (A B?).

    Args:
        span: the variable in the text of the query.
        variable: the variable, `B`.
        pattern: the row pattern, `A B?`.
    """
    return SkipTargetWarning(
        f"AFTER MATCH SKIP TO `{variable}` fails if a match has no row of {variable}",
        span,
        notes=(f"a match of PATTERN ({pattern}) can have no row of {variable}",),
        hint=(f"make {variable} match at least one row, or write AFTER MATCH SKIP PAST LAST ROW"),
    )


def skip_to_first_variable(span: Span | None, *, variable: str, pattern: str) -> SkipTargetWarning:
    """Return the warning for AFTER MATCH SKIP TO B PATTERN (A? B C).

    Args:
        span: the variable in the text of the query.
        variable: the variable, `B`.
        pattern: the row pattern, `A? B C`.
    """
    return SkipTargetWarning(
        f"AFTER MATCH SKIP TO `{variable}` fails if it goes to the first row of a match",
        span,
        notes=(f"a match of PATTERN ({pattern}) can begin with this row of {variable}",),
        hint="skip to a later variable, or write AFTER MATCH SKIP TO NEXT ROW",
    )


# Skipped rows, and NOT.


def prev_of_skipped_row(span: Span | None, *, selection: str, argument: str) -> SkippedRowWarning:
    """Return the warning for PATTERN (A B) SKIP TILL NEXT MATCH DEFINE B AS price > PREV(price).

    Args:
        span: the part of the query that the warning shows.
        selection: the event selection.
        argument: the argument of PREV.
    """
    return SkippedRowWarning(
        f"PREV in {name_part('DEFINE')} with {selection} may read a row that is skipped",
        span,
        notes=(
            "PREV reads the previous row of the partition, whether or not that row is in the match",
        ),
        hint=(
            f"write LAST({argument}, 1) for the previous row of the match; for the previous row of "
            f"the partition, compute lag({argument}) in a subquery in FROM"
        ),
    )


def loop_ends_before_skipped_row(
    span: Span | None, *, loop: str, selection: str
) -> EarlyEndWarning:
    """Return the warning for PATTERN (A{3,}) SKIP TILL NEXT MATCH.

    Args:
        span: the part of the query that the warning shows.
        loop: the loop, `A{3,}`.
        selection: the event selection.
    """
    return EarlyEndWarning(
        f"`{loop}` at the end of PATTERN ends before the first row that {selection} would skip",
        span,
        notes=("the match is complete there, and ending it is preferred to skipping a row",),
        hint=(
            "write ALL MATCHES for the longer matches too; for the longest match, leave out "
            f"{selection} and filter the input to the rows that variables of PATTERN can take"
        ),
    )


def loop_ends_when_complete(
    span: Span | None, *, loop: str, lower_bound: int, selection: str
) -> EarlyEndWarning:
    """Return the warning for PATTERN (A{3,}) with NON-OVERLAPPING MATCHES.

    Args:
        span: the loop in the text of the query.
        loop: the loop, `A{3,}`.
        lower_bound: the number of repetitions after which the match is complete.
        selection: the event selection, `SKIP TILL NEXT MATCH`; empty if rows must follow each other
            without a gap.
    """
    longest_match = "for the longest match, leave out NON-OVERLAPPING MATCHES"
    if selection:
        longest_match = (
            f"for the longest match, leave out {selection} NON-OVERLAPPING MATCHES and filter the "
            "input to the rows that variables of PATTERN can take"
        )
    return EarlyEndWarning(
        f"`{loop}` at the end of PATTERN {describe_stop_at_lower_bound(lower_bound)}",
        span,
        notes=("NON-OVERLAPPING MATCHES takes the match that is complete first",),
        hint=f"write ALL MATCHES for the longer matches too; {longest_match}",
    )


def negation_of_next_row_only(span: Span | None, *, negation: str) -> NextRowWarning:
    """Return the warning for PATTERN (A NOT B) WITHIN INTERVAL 7 DAYS.

    Args:
        span: the part of the query that the warning shows.
        negation: the negation, `NOT B`.
    """
    return NextRowWarning(
        f"`{negation}` at the end of PATTERN tests the next row only",
        span,
        notes=("WITHIN limits the rows of the match, not the rows that NOT tests",),
        hint=(
            "to forbid such a row until the window ends, write SKIP TILL NEXT MATCH ALL MATCHES "
            "before WITHIN; to test only the next row, write NEXT(x) in the condition of the row "
            "before it"
        ),
    )


# Braces of an f-string, and days of a window: texts that mean something else than they say.


def braces_of_f_string(span: Span | None, *, variable: str, name: str, count: str) -> BracesWarning:
    """Return the warning for PATTERN (A B3), which a Python f-string makes of PATTERN (A B{3}).

    Args:
        span: the variable in the text of the query.
        variable: the variable without a condition, `B3`.
        name: the variable that has a condition, `B`.
        count: the number after it, `3`.
    """
    notes: tuple[str, ...] = ()
    hint = f"write {name}{{{count}}} for {count} rows"
    if current_surface().has_python_calls:
        note = f"a Python f-string turns {name}{{{count}}} into {name}{count}"
        hint = f"write {name}{{{{{count}}}}} in an f-string"
        notes = (note,)
    return BracesWarning(
        f"`{variable}` in PATTERN has no condition, but `{name}` has one",
        span,
        notes=notes,
        hint=f"{hint}; if another variable is meant, add {variable} to DEFINE",
    )


def days_counted_as_hours(span: Span | None, *, interval: str) -> DaysInHoursWarning:
    """Return the warning for WITHIN INTERVAL 1 DAY on Sail in America/New_York.

    Args:
        span: the part of the query that the warning shows.
        interval: the interval.
    """
    advice_on_utc = current_surface().write_setting("spark.sql.session.timeZone", "UTC")
    return DaysInHoursWarning(
        f"this session counts the days of {interval} as 24 hours each",
        span,
        notes=(
            "clocks change in the session's time zone, and a day of Spark can have 23 or 25 hours",
        ),
        hint=f"if you mean hours, {advice_on_utc}; if you mean days, run on Spark",
    )


# The order of rows, and streams.


def order_lost_with_nanoseconds(
    span: Span | None, *, count: int, frame: str, column: str, frame_with_ns: str
) -> NanosecondsWarning:
    """Return the warning for rows whose order is lost with their nanoseconds.

    An example is ORDER BY ts over a pandas frame in which two rows have the same microsecond.

    Args:
        span: the part of the query that the warning shows.
        count: the number of rows that differ from another row only in nanoseconds.
        frame: the name of the frame.
        column: the column of ORDER BY.
        frame_with_ns: Python code for the frame with a column `ns` of the nanoseconds.
    """
    rows = f"1 row of `{frame}` differs" if count == 1 else f"{count:,} rows of `{frame}` differ"
    note = "Spark's times have microseconds, so the order of these rows can differ from run to run"
    return NanosecondsWarning(
        f"{rows} from another row only in the nanoseconds of `{column}`",
        span,
        notes=(note,),
        hint=f"pass {frame_with_ns}, and write ORDER BY {write_name(column)}, ns",
    )


def tied_rows(*, count: int, clause: str, example: str) -> TiesWarning:
    """Return the warning for rows of a partition with the same values of ORDER BY.

    Args:
        count: the number of rows that have the same values as the row before them.
        clause: ORDER BY as the user's language calls it.
        example: the values that two of these rows have.
    """
    if count == 1:
        rows = f"1 row has the same {clause} values as the row before it"
    else:
        rows = f"{count:,} rows have the same {clause} values as the row before them"
    return TiesWarning(
        rows,
        notes=(
            "their order can differ from run to run, and so can the result",
            f"for example, two rows have {example}",
        ),
        hint=f"add a column to {clause} that tells these rows apart",
    )


def unbounded_state(span: Span | None = None) -> UnboundedStateWarning:
    """Return the warning for a clause over a stream whose matches may have any number of rows.

    `unbounded_runs` is the warning for SASE+ and Patterns.
    """
    return UnboundedStateWarning(
        "a match of PATTERN over a stream may wait for any number of rows",
        span,
        notes=(
            "until the match is decided, its rows are kept and searched again as more rows come",
        ),
        hint="add WITHIN after PATTERN (...), or bound the repetition, as in B{1,100}",
    )


def unbounded_runs(span: Span | None = None) -> UnboundedStateWarning:
    """Return the warning for SASE+ or a Pattern over a stream without a window."""
    return UnboundedStateWarning(
        "a run over a stream may wait for any number of rows",
        span,
        notes=("until the run ends, it is kept with its rows",),
        hint="add WITHIN, or .within(...) to a Pattern",
    )


# Rules, products and the session.


def rejected_rule(*, error: str) -> RejectedRuleWarning:
    """Return the warning for a rule that on_error="continue" leaves out.

    Args:
        error: the message of the rule's error, which names the rule.
    """
    return RejectedRuleWarning(f"a rule is left out: {error}")


def differs_in_product(*, title: str, message: str) -> ProductWarning:
    """Return the warning for a part of the query with another result here than in the product.

    Args:
        title: the name of the product, such as Flink SQL.
        message: the difference, then the part of the query.
    """
    return ProductWarning(f"{title}: {message}")


def untuned_session(*, names: str) -> UntunedSessionWarning:
    """Return the warning for a session without the settings of matchrec.tune.

    Args:
        names: the settings that the session lacks, joined by "and".
    """
    return UntunedSessionWarning(
        "the queries of this session could be faster",
        notes=(f"matchrec.tune sets {names}",),
        hint="call matchrec.tune(spark)",
    )
