"""The messages of warnings about conditions: a function for each situation returns the warning.

    yield same_value(span, intended="PREV(price) for the previous row")

    a comparison in DEFINE has the same value on both sides
      help: write PREV(price) for the previous row

`warnings` has all other warnings about a query, and says more about their functions.
"""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.errors.language import current_language, name_part
from matchrec.errors.run.origins import read_users_text
from matchrec.errors.surface import current_surface
from matchrec.errors.warning_classes import (
    CountedConditionWarning,
    NeverTrueWarning,
    NoEffectWarning,
    SameValueWarning,
    WildcardWarning,
)
from matchrec.errors.wording import write_name
from matchrec.source import Span

# Comparisons in conditions.


def same_value(span: Span, *, intended: str | None) -> SameValueWarning:
    """Return the warning for a comparison of a value with itself, as in price = price.

    Args:
        span: the comparison in the text of the query.
        intended: what was probably meant, with its meaning: "PREV(price) for the previous row";
            None if that is not known.
    """
    row = current_language().row
    hint = f"compare it with a value of another {row}, or with a constant"
    return SameValueWarning(
        f"a comparison in {name_part('DEFINE')} has the same value on both sides",
        span,
        hint=hint if intended is None else f"write {intended}",
    )


def compared_with_null(span: Span, *, operator: str, other: str) -> NeverTrueWarning:
    """Return the warning for DEFINE A AS price = NULL.

    Args:
        span: the part of the query that the warning shows.
        operator: the operator of the comparison, `=`.
        other: the side that is not NULL, `price`.
    """
    if operator == "<>" and "!=" in (read_users_text(span) or ""):
        operator = "!="
    match operator:
        case "=":
            hint = f"write {other} IS NULL"
        case "<>" | "!=":
            hint = f"write {other} IS NOT NULL"
        case _:
            hint = f"write {other} IS NULL or IS NOT NULL"
    return NeverTrueWarning(
        f"`{operator}` with NULL in {name_part('DEFINE')} is never true", span, hint=hint
    )


def compared_with_null_parameter(
    span: Span, *, name: str | None, condition: str
) -> NeverTrueWarning:
    """Return the warning for DEFINE A AS price > :low with args={"low": None}.

    Args:
        span: the condition in the text of the query.
        name: the name of the parameter, `low`; None for `?`.
        condition: the condition, `price > :low`.
    """
    parameter = "?" if name is None else f":{name}"
    hint = "pass a value instead of None"
    if name is not None:
        hint += f"; to leave the condition out for None, write ({parameter} IS NULL OR {condition})"
    return NeverTrueWarning(
        f"`{condition}` in {name_part('DEFINE')} is never true",
        span,
        notes=(f"{current_surface().source_of_values} has None for {parameter}, which is NULL",),
        hint=hint,
    )


def parameter_in_quotes(span: Span, *, clause: str, string: str, intended: str) -> NoEffectWarning:
    """Return the warning for DEFINE A AS sym = ':name' with args={"name": "X"}.

    Args:
        span: the part of the query that the warning shows.
        clause: the clause that has the string.
        string: the string, `':name'`.
        intended: what was probably meant, `:name`.
    """
    return NoEffectWarning(
        f"`{string}` in {name_part(clause)} is a string, and not a parameter",
        span,
        notes=(f"{current_surface().source_of_values} has no effect on text in quotes",),
        hint=f"write {intended}",
    )


def compared_with_later_variable(
    span: Span, *, read: str, other: str, variable: str
) -> NeverTrueWarning:
    """Return the warning for PATTERN (A B) DEFINE A AS price < B.price.

    Args:
        span: the part of the query that the warning shows.
        read: the value that the condition reads, `B.price`.
        other: the variable whose row comes later, `B`.
        variable: the variable of the condition, `A`.
    """
    language = current_language()
    reason = (
        f"{other} has no {language.row} yet when {language.row_with_article} is tested for "
        f"{variable}"
    )
    return NeverTrueWarning(
        f"a comparison with `{read}` in {name_part('DEFINE')} is never true",
        span,
        notes=(f"{reason}, so {read} is NULL",),
        hint=f"write the comparison in the condition of {other}{language.advice_on_later_rows}",
    )


def compared_with_row_before_first(
    span: Span, *, read: str, rows: str | None, variable: str, condition: str
) -> NeverTrueWarning:
    """Return the warning for DEFINE A AS price < LAST(A.price, 1).

    Args:
        span: the comparison in the text of the query.
        read: the value that is NULL for the first row of the variable, `LAST(A.price, 1)`.
        rows: the variable, or the SUBSET, whose rows `read` counts; None for all rows of the match.
        variable: the variable of the condition, `A`.
        condition: what to write: `count(A.*) = 1 OR price < LAST(A.price, 1)`.
    """
    reason = f"no row of {rows or 'the match'} comes before the first row of {variable}"
    return NeverTrueWarning(
        f"a comparison with `{read}` in {name_part('DEFINE')} is never true",
        span,
        notes=(f"{reason}, so {read} is NULL there",),
        hint=f"write ({condition}), or PREV(...) for the previous row",
    )


def compared_with_only_row(
    span: Span, *, read: str, variable: str, condition: str
) -> NeverTrueWarning:
    """Return the warning for DEFINE A AS price > AVG(A.price).

    Args:
        span: the comparison in the text of the query.
        read: the value that includes the tested row, `AVG(A.price)`.
        variable: the variable of the condition, `A`.
        condition: what to write: `count(A.*) = 1 OR price > AVG(A.price)`.
    """
    return NeverTrueWarning(
        f"a comparison with `{read}` in {name_part('DEFINE')} is never true",
        span,
        notes=(
            f"at the first row of {variable}, {read} reads only that row, so both sides are equal",
        ),
        hint=f"write ({condition}), or compare with the row of a variable before {variable}",
    )


def beyond_extreme(
    span: Span, *, read: str, value: str, is_greatest: bool, inclusive: str
) -> NeverTrueWarning:
    """Return the warning for DEFINE A AS price > MAX(A.price).

    Args:
        span: the comparison in the text of the query.
        read: the extreme, which includes the tested row: `MAX(A.price)`.
        value: what is compared with it: `price`.
        is_greatest: whether the extreme is the greatest value, and not the least one.
        inclusive: the comparison that also accepts equal values: `price >= MAX(A.price)`.
    """
    row = current_language().row
    comparative = "greater" if is_greatest else "less"
    return NeverTrueWarning(
        f"a comparison with `{read}` in {name_part('DEFINE')} is never true",
        span,
        notes=(f"{read} includes the tested {row}, so {value} is never {comparative}",),
        hint=f"write {inclusive}",
    )


def compared_with_own_stage(span: Span, *, read: str, stage: str, column: str) -> NeverTrueWarning:
    """Return the warning for Pattern.begin("a").where("a.price > 5").

    Args:
        span: the part of the query that the warning shows.
        read: the value that the condition reads, `a.price`.
        stage: the stage of the condition, `a`.
        column: the column, `price`.
    """
    row = current_language().row
    return NeverTrueWarning(
        f"a comparison with `{read}` in {name_part('DEFINE')} is never true",
        span,
        notes=(f"{stage} has no {row} yet when its first one is tested, so {read} is NULL",),
        hint=f"write {column}, which is the value of the tested {row}",
    )


def false_constant_comparison(span: Span) -> NeverTrueWarning:
    """Return the warning for a comparison of two constants that is false, as in 1 = 2."""
    return NeverTrueWarning(
        f"a comparison of constants in {name_part('DEFINE')} is never true",
        span,
        hint=f"compare a column; if no {current_language().row} should match, write FALSE",
    )


def different_strings(span: Span | None, *, quoted: str | None) -> NeverTrueWarning:
    """Return the warning for two different strings in a comparison, as in "status" = 'on'.

    Args:
        span: the comparison in the text of the query.
        quoted: the string in double quotes, with the quotes; None if none has double quotes.
    """
    notes: tuple[str, ...] = ()
    hint = f"compare a column; if no {current_language().row} should match, write FALSE"
    if quoted is not None:
        notes = ("text in double quotes is a string, too",)
        hint = f"write {write_name(quoted[1:-1])} without quotes, if it is a column"
    return NeverTrueWarning(
        f"a comparison of two strings in {name_part('DEFINE')} is never true",
        span,
        notes=notes,
        hint=hint,
    )


def contradicting_comparisons(span: Span, *, first: str, second: str) -> NeverTrueWarning:
    """Return the warning for price > 10 AND price < 5.

    Args:
        span: the second comparison in the text of the query.
        first: the first comparison, `price > 10`.
        second: the second comparison, `price < 5`.
    """
    return NeverTrueWarning(
        f"`{second}` in {name_part('DEFINE')} is never true together with `{first}`",
        span,
        hint=f"write ({first} OR {second}), or correct one of them",
    )


def swapped_bounds(span: Span, *, value: str, least: str, most: str) -> NeverTrueWarning:
    """Return the warning for price BETWEEN 100 AND 50.

    Args:
        span: the comparison in the text of the query.
        value: the value, `price`.
        least: the smaller bound, `50`.
        most: the larger bound, `100`.
    """
    return NeverTrueWarning(
        f"BETWEEN in {name_part('DEFINE')} is never true, because its bounds are swapped",
        span,
        hint=f"write {value} BETWEEN {least} AND {most}",
    )


def not_in_with_null(span: Span, *, value: str, candidates: Sequence[str]) -> NeverTrueWarning:
    """Return the warning for price NOT IN (1, NULL).

    Args:
        span: the condition in the text of the query.
        value: the value, `price`.
        candidates: the values in parentheses except NULL, `1`.
    """
    if candidates:
        hint = f"write {value} NOT IN ({', '.join(candidates)}), which is not true for NULL either"
    else:
        hint = f"write {value} IS NOT NULL"
    return NeverTrueWarning(
        f"`NOT IN` with NULL in {name_part('DEFINE')} is never true",
        span,
        notes=(f"{value} <> NULL is NULL, so it is not known whether {value} is in the list",),
        hint=hint,
    )


def count_below_one(span: Span, *, condition: str, count: str, variable: str) -> NeverTrueWarning:
    """Return the warning for DEFINE B AS count(B.*) = 0.

    Args:
        span: the comparison in the text of the query.
        condition: the comparison, `count(B.*) = 0`.
        count: the number of rows, `count(B.*)`.
        variable: the variable of the condition, `B`.
    """
    return NeverTrueWarning(
        f"`{condition}` in {name_part('DEFINE')} is never true",
        span,
        notes=(f"{count} counts the row that is tested for {variable}, too, so it is at least 1",),
        hint=f"write {count} = 1, if no such row may come before this row",
    )


def comparison_against_order(
    span: Span, *, condition: str, key: str, possible_condition: str, is_descending: bool
) -> NeverTrueWarning:
    """Return the warning for ORDER BY day ... DEFINE B AS day < PREV(day).

    Args:
        span: the comparison in the text of the query.
        condition: the comparison, `day < PREV(day)`.
        key: the key of ORDER BY, `day`.
        possible_condition: the opposite comparison, `day > PREV(day)`.
        is_descending: whether the order of the key is descending.
    """
    direction = "descending" if is_descending else "ascending"
    return NeverTrueWarning(
        f"`{condition}` in {name_part('DEFINE')} is never true",
        span,
        notes=(f"ORDER BY sorts the rows by {key} in {direction} order",),
        hint=f"write {possible_condition}, or compare another column",
    )


# Aggregates.


def counted_condition(span: Span | None, *, clause: str, condition: str) -> CountedConditionWarning:
    """Return the warning for COUNT of a condition, as in COUNT(A.price > 1).

    Args:
        span: the call of COUNT.
        clause: the clause of the call.
        condition: the condition, `A.price > 1`.
    """
    return CountedConditionWarning(
        f"`COUNT` of a condition in {name_part(clause)} also counts rows where it is false",
        span,
        notes=("COUNT counts every value that is not NULL, and FALSE is not NULL",),
        hint=f"write count_if({condition})",
    )


# Wildcards.


def star_in_like(span: Span, *, operator: str, literal: str, intended: str) -> WildcardWarning:
    """Return the warning for DEFINE A AS kind LIKE 'payment*'.

    Args:
        span: the part of the query that the warning shows.
        operator: LIKE or another operator with the same wildcards.
        literal: the text with the asterisk, in the user's quotes.
        intended: the text with wildcards of LIKE, in the same quotes.
    """
    return WildcardWarning(
        f"`{operator} {literal}` in {name_part('DEFINE')} looks for an asterisk",
        span,
        notes=("the wildcards of LIKE are % for any characters and _ for one",),
        hint=f"write {operator} {intended}",
    )


def percent_in_equality(span: Span, *, operator: str, literal: str, like: str) -> WildcardWarning:
    """Return the warning for DEFINE A AS kind = 'payment%'.

    Args:
        span: the part of the query that the warning shows.
        operator: the comparison.
        literal: the text with the percent sign, in the user's quotes.
        like: the operator to write, LIKE or NOT LIKE.
    """
    return _percent_sign(span, operator, literal, hint=f"write {like} {literal}")


def percent_in_list(span: Span, *, operator: str, literal: str, test: str) -> WildcardWarning:
    """Return the warning for DEFINE A AS kind IN ('sale', 'payment%').

    Args:
        span: the part of the query that the warning shows.
        operator: IN or NOT IN.
        literal: the text with the percent sign, in the user's quotes.
        test: the test that was meant, `kind LIKE 'payment%'`.
    """
    connective = "OR" if operator == "IN" else "AND"
    return _percent_sign(
        span, operator, literal, hint=f"take {literal} out of the list, and add {connective} {test}"
    )


def percent_in_function(
    span: Span, *, function: str, literal: str, intended: str
) -> WildcardWarning:
    """Return the warning for DEFINE A AS startswith(kind, 'payment%').

    Args:
        span: the part of the query that the warning shows.
        function: the function.
        literal: the text with the percent sign, in the user's quotes.
        intended: the text without the percent sign, in the same quotes.
    """
    return _percent_sign(span, function, literal, hint=f"write {intended}")


def _percent_sign(span: Span, operator: str, literal: str, *, hint: str) -> WildcardWarning:
    """Return the warning for a percent sign in an operator or function that knows no wildcards."""
    return WildcardWarning(
        f"`{operator}` with {literal} in {name_part('DEFINE')} looks for a percent sign",
        span,
        notes=("% is a wildcard of LIKE only",),
        hint=hint,
    )


def percent_in_regex(span: Span, *, operator: str, literal: str, like: str) -> WildcardWarning:
    """Return the warning for DEFINE A AS kind RLIKE 'payment%'.

    Args:
        span: the part of the query that the warning shows.
        operator: the operator for regular expressions.
        literal: the text with the percent sign, in the user's quotes.
        like: the operator to write, LIKE or NOT LIKE.
    """
    return WildcardWarning(
        f"`{operator}` with {literal} in {name_part('DEFINE')} looks for a percent sign",
        span,
        notes=("the pattern is a regular expression; % is a wildcard of LIKE",),
        hint=f"write {like} {literal}",
    )
