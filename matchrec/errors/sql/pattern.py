"""Errors in a row pattern, in navigation among its rows, and in frames of rows.

In messages about NOT, `name` is the variable that NOT forbids.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
)
from matchrec.errors.language import current_language, current_surface, name_part
from matchrec.errors.wording import shorten
from matchrec.source import Span


def stray_character(span: Span, *, text: str, variables: str = "B") -> MatchRecognizeParseError:
    """Return the error for a symbol that PATTERN does not have.

    Args:
        span: the symbol in the text of the query.
        text: the symbol.
        variables: the variable right after the symbol, or one of several, `(B | C)`; an example if
            there is none.
    """
    match text:
        case ",":
            hint = "write A B for one after the other, PERMUTE(A, B) for any order"
        case ".":
            hint = (
                "write a variable without a condition in DEFINE for any row, such as X*? for "
                "`.*?`; conditions on columns belong in DEFINE"
            )
        case ":":
            hint = "write a parameter only as the bound of a quantifier: A{:n}"
        case "-":
            hint = (
                "write A B for A and then B, A{3,5} for 3 to 5 rows, a_b for a name with `_`, "
                "{- A -} for an exclusion"
            )
        case "!" | "~":
            hint = f'write NOT {variables} for "no row of {variables} here"'
        case "[":
            hint = "write A{1,3} for a number of rows, (A | B) for one of several variables"
        case "=" | "<" | ">":
            hint = "write the condition in DEFINE: DEFINE A AS x > 1"
        case "&":
            hint = "write A B for A and then B, PERMUTE(A, B) for any order"
        case "'":
            hint = "write the variable's name in backticks"
        case "/":
            hint = "write a comment as /* ... */, or as -- ... to the end of the line"
        case "->" | "~>":
            hint = "write A B for A and then B"
        case _:
            hint = "write variables, ( ) | * + ? {n,m} ^ $ {- -} or PERMUTE(...)"
    return MatchRecognizeParseError(
        f"`{text}` is not allowed in PATTERN", span, hint=hint, code="stray-character"
    )


def stray_number(span: Span, *, text: str) -> MatchRecognizeParseError:
    """Return the error for a number that is not in braces, as in PATTERN (A 2)."""
    return MatchRecognizeParseError(
        f"`{text}` is not allowed in PATTERN",
        span,
        hint="start a name with a letter; write a number of repetitions after its variable: A{2}",
        code="stray-number",
    )


def braces_lost_in_pattern(
    span: Span, parenthesized: str, part: str, braced: str
) -> MatchRecognizeParseError:
    """Return the error for B(3,), which a Python f-string makes of B{3,}.

    Args:
        span: the parentheses.
        parenthesized: the parentheses with what they hold, `(3,)`.
        part: what they follow, `B`.
        braced: the quantifier that is meant, `{3,}`.
    """
    note = ""
    hint = f"write {part}{braced}"
    if current_surface().is_python:
        note = f"a Python f-string turns {part}{braced} into {part}{parenthesized}"
        hint = f"write {part}{{{braced}}} in an f-string, or pass a plain string"
    return MatchRecognizeParseError(
        f"`{parenthesized}` in PATTERN is not a quantifier",
        span,
        notes=(note,),
        hint=hint,
        code="braces-lost-in-pattern",
    )


def doubled_braces(span: Span, bounds: str) -> MatchRecognizeParseError:
    """Return the error for B{{3,}} outside a Python f-string; `bounds` is what the braces hold."""
    note = ""
    if current_surface().is_python:
        note = "only Python f-strings need doubled braces: they turn {{ into {"
    return MatchRecognizeParseError(
        "doubled braces are not allowed in PATTERN",
        span,
        notes=(note,),
        hint=f"write {{{bounds}}}",
        code="doubled-braces",
    )


def reserved_word(word: str, where: str, span: Span) -> MatchRecognizeParseError:
    """Return the error for a reserved word, such as AND, as a pattern variable without quotes."""
    note = _NOTES_ON_WORDS.get(word, "") if where == "PATTERN" else ""
    return MatchRecognizeParseError(
        f"reserved word `{word}` is not allowed as a pattern variable in {where}",
        span,
        notes=(note,),
        hint=f"write `{word}` in backticks if it is the name of a variable",
        code="reserved-word",
    )


# For reserved words in PATTERN: how to write what was probably meant.
_NOTES_ON_WORDS = {
    "AND": "A B means A, then B; conditions belong in DEFINE",
    "OR": "(A | B) means A or B",
    "NULL": "() is a pattern without rows",
    **dict.fromkeys(("THEN", "BY"), "A B means A, then B"),
    "WITHIN": "the length of a match follows the parentheses: PATTERN (A B) WITHIN INTERVAL 1 HOUR",
}


def empty_alternative(span: Span, *, other: str) -> MatchRecognizeParseError:
    """Return the error for `|` without a pattern before or after it.

    Args:
        span: the location of the `|` in the text of the query.
        other: the text of the alternatives before the `|`, or "" if there are none.
    """
    alternatives = f"({shorten(other)} | ())" if other else "(() | A)"
    return MatchRecognizeParseError(
        "`|` in PATTERN has nothing on one side",
        span,
        hint=f"write () for an alternative without rows, {alternatives}, or remove the `|`",
        code="empty-alternative",
    )


def empty_exclusion(span: Span) -> MatchRecognizeParseError:
    """Return the error for {- -} with nothing in it."""
    return MatchRecognizeParseError(
        "the exclusion in PATTERN is empty",
        span,
        hint="write {- A -}, or remove the exclusion",
        code="empty-exclusion",
    )


def unclosed_variable_name(span: Span) -> MatchRecognizeParseError:
    """Return the error for a variable in quotes whose second quote is missing."""
    return MatchRecognizeParseError(
        "quoted name in PATTERN is not closed",
        span,
        hint="add the second quote",
        code="unclosed-variable-name",
    )


def comment_after_brace(span: Span) -> MatchRecognizeParseError:
    """Return the error for {-- A --}, in which `--` starts a comment."""
    return MatchRecognizeParseError(
        "`--` in `{--` starts a comment in PATTERN",
        span,
        hint="write {- A -} for an exclusion",
        code="comment-after-brace",
    )


def unclosed_comment(span: Span) -> MatchRecognizeParseError:
    """Return the error for `/*` without `*/` in PATTERN."""
    return MatchRecognizeParseError(
        "comment in PATTERN is not closed",
        span,
        hint="add `*/` where the comment ends",
        code="unclosed-comment",
    )


def empty_variable_name(span: Span) -> MatchRecognizeParseError:
    """Return the error for a variable in quotes without a name, as in PATTERN ("")."""
    return MatchRecognizeParseError(
        "missing name between the quotes in PATTERN",
        span,
        hint="write a name between the quotes, or () for a pattern without rows",
        code="empty-variable-name",
    )


def unclosed_bracket(span: Span, *, opening: str, closing: str) -> MatchRecognizeParseError:
    """Return the error for a group that is never closed."""
    return MatchRecognizeParseError(
        f"`{opening}` is not closed in PATTERN",
        span,
        hint=f"add `{closing}` where the group ends",
        code="unclosed-bracket",
    )


def unopened_bracket(span: Span, *, closing: str, opening: str) -> MatchRecognizeParseError:
    """Return the error for a closing bracket without an opening one."""
    return MatchRecognizeParseError(
        f"`{closing}` in PATTERN closes nothing",
        span,
        hint=f"remove it, or add `{opening}` where the group starts",
        code="unopened-bracket",
    )


def wrong_bracket(
    *spans: Span, opening: str, closed_by: str, closing: str
) -> MatchRecognizeParseError:
    """Return the error for a group that is closed by another kind of bracket."""
    return MatchRecognizeParseError(
        f"`{opening}` in PATTERN is closed by `{closed_by}`",
        *spans,
        hint=f"close it with `{closing}`, and close inner groups before outer ones",
        code="wrong-bracket",
    )


def regex_group_in_pattern(span: Span) -> MatchRecognizeParseError:
    """Return the error for (?: ...), (?= ...) and other groups of regular expressions."""
    return MatchRecognizeParseError(
        "`(?` is not allowed in PATTERN",
        span,
        hint="write a group as (A | B)",
        code="regex-group-in-pattern",
    )


def nothing_to_repeat(span: Span, *, quantifier: str) -> MatchRecognizeParseError:
    """Return the error for a quantifier without a part before it, as in PATTERN (+ A)."""
    return MatchRecognizeParseError(
        f"quantifier `{quantifier}` in PATTERN has nothing to repeat",
        span,
        hint=f"write it after a variable or a group: A{quantifier}",
        code="nothing-to-repeat",
    )


def two_quantifiers(span: Span, *, part: str, first: str, second: str) -> MatchRecognizeParseError:
    """Return the error for two quantifiers after one part, as in PATTERN (A+{2}).

    Args:
        span: the quantifiers in the text of the query.
        part: the part before them.
        first: the first quantifier.
        second: the second one.
    """
    return MatchRecognizeParseError(
        f"one part of PATTERN has two quantifiers, `{first}` and `{second}`",
        span,
        hint=f"keep one, or write parentheses: ({part}{first}){second}",
        code="two-quantifiers",
    )


def bounds_reversed(span: Span | None, *, least: int, most: int) -> MatchRecognizeParseError:
    """Return the error for {5,2}."""
    return MatchRecognizeParseError(
        f"the lower bound {least} of the quantifier in PATTERN is above its upper bound {most}",
        span,
        hint=f"write {{{most},{least}}}",
        code="bounds-reversed",
    )


def bound_too_large(span: Span, *, limit: int) -> MatchRecognizeUnsupportedError:
    """Return the error for a bound of a quantifier above the limit."""
    return MatchRecognizeUnsupportedError(
        f"the quantifier in PATTERN has a bound over {limit:,}",
        span,
        hint="lower it, or write {n,} for no upper bound",
        code="bound-too-large",
    )


def malformed_quantifier(span: Span, *, text: str = "") -> MatchRecognizeParseError:
    """Return the error for braces that are neither a quantifier nor an exclusion.

    Args:
        span: the braces, or the beginning of them.
        text: the braces as the query writes them; "" if that is not known.
    """
    bounds = re.fullmatch(r"\{\s*(\d+)\s*(?:;|-|:|\.\.+|to|TO|\s)\s*(\d+)\s*\}", text)
    if bounds is not None:
        return MatchRecognizeParseError(
            "the quantifier in PATTERN is malformed",
            span,
            hint=f"write {{{bounds[1]},{bounds[2]}}} for {bounds[1]} to {bounds[2]} rows",
            code="malformed-quantifier",
        )
    return MatchRecognizeParseError(
        "the quantifier in PATTERN is malformed",
        span,
        hint="write {2}, {2,}, {,5} or {2,5}, with whole numbers, or {- A -} for an exclusion",
        code="malformed-quantifier",
    )


def parameter_without_name(span: Span, *, mark: str) -> MatchRecognizeParseError:
    """Return the error for a parameter in a quantifier without its name, as in A{:}."""
    return MatchRecognizeParseError(
        f"missing name after `{mark}` in a quantifier in PATTERN",
        span,
        hint="write {:name}, {:low,:high}, or {?} for a value by its position",
        code="parameter-without-name",
    )


def parameter_in_foreign_syntax(span: Span | None, *, name: str) -> MatchRecognizeUnsupportedError:
    """Return the error for {@n}: BigQuery writes parameters so, but Spark SQL does not."""
    surface = current_surface()
    return MatchRecognizeUnsupportedError(
        f"parameter `@{name}` is not supported in PATTERN",
        span,
        hint=f"write :{name}, or pass {surface.write_option('dialect', 'bigquery')}",
        code="parameter-in-foreign-syntax",
    )


def parameter_not_a_number(
    span: Span | None, *, parameter: str, what: str, value: str, least: int
) -> MatchRecognizePlanError:
    """Return the error for a parameter's value that is not a number in a range.

    The parameter is a bound of a quantifier, an offset, or a number of rows or matches.

    Args:
        span: the location in the text of the query.
        parameter: the parameter as the query writes it.
        what: what the parameter is for.
        value: its value in words.
        least: the least value that it may have.
    """
    return MatchRecognizePlanError(
        f"parameter `{parameter}`, {what}, is {value}",
        span,
        hint=f"pass a whole number from {least} to 2,147,483,647",
        code="parameter-not-a-number",
    )


def empty_permutation_part(span: Span) -> MatchRecognizeParseError:
    """Return the error for PERMUTE(A, )."""
    return MatchRecognizeParseError(
        "PERMUTE in PATTERN has an empty part",
        span,
        hint="write the parts with commas between them: PERMUTE(A, B)",
        code="empty-permutation-part",
    )


def pattern_nested_too_deep(span: Span, *, limit: int) -> MatchRecognizeUnsupportedError:
    """Return the error for groups nested deeper than the limit."""
    return MatchRecognizeUnsupportedError(
        f"PATTERN is nested more than {limit} groups deep",
        span,
        hint="remove groups that hold one part only",
        code="pattern-nested-too-deep",
    )


def pattern_too_large(span: Span | None, *, limit: int, what: str) -> MatchRecognizePlanError:
    """Return the error for a row pattern whose automaton is too large.

    Args:
        span: the location in the text of the query.
        limit: the largest number of parts of the automaton.
        what: the parts that are too many, such as "states".
    """
    words = current_language()
    return MatchRecognizePlanError(
        f"{words.pattern} is too large: its automaton has over {limit:,} {what}",
        span,
        hint=words.advice_on_size,
        code="pattern-too-large",
    )


def malformed_negation(span: Span) -> MatchRecognizeParseError:
    """Return the error for NOT that no variable follows."""
    return MatchRecognizeParseError(
        "NOT in PATTERN needs one variable, or one of several",
        span,
        hint="write NOT B, or NOT (B | C); if a variable is called NOT, write it in backticks",
        code="malformed-negation",
    )


def negation_with_quantifier(span: Span) -> MatchRecognizeParseError:
    """Return the error for NOT B+."""
    return MatchRecognizeParseError(
        "a quantifier is not allowed after NOT in PATTERN",
        span,
        notes=("NOT matches no row, so there is nothing to repeat",),
        hint="write NOT B once; it forbids every such row",
        code="negation-with-quantifier",
    )


def negation_at_start(span: Span | None) -> MatchRecognizeUnsupportedError:
    """Return the error for NOT B A if the rows of a match are consecutive."""
    return MatchRecognizeUnsupportedError(
        "NOT is not supported before the first row of a match in PATTERN",
        span,
        hint=(
            "write NOT after a variable, A NOT B; write what the first row must not be in its "
            "condition, and read the row before it with PREV"
        ),
        code="negation-at-start",
    )


def several_negations_at_end(span: Span | None) -> MatchRecognizeUnsupportedError:
    """Return the error for A (NOT B | NOT C) at the end of PATTERN."""
    return MatchRecognizeUnsupportedError(
        "a PATTERN that can end with one of several NOTs is not supported",
        span,
        hint="end it with one NOT, such as NOT (B | C)",
        code="several-negations-at-end",
    )


def negation_with_preferred_matches(span: Span | None) -> MatchRecognizeUnsupportedError:
    """Return the error for NOT with preferred matches and an event selection that skips rows."""
    return MatchRecognizeUnsupportedError(
        "NOT in PATTERN is not supported for preferred matches that may skip rows",
        span,
        hint="write ALL MATCHES or NON-OVERLAPPING MATCHES after the event selection",
        code="negation-with-preferred-matches",
    )


def negation_inside_group(span: Span | None) -> MatchRecognizeUnsupportedError:
    """Return the error for (A NOT B)+ C if a match may skip rows."""
    return MatchRecognizeUnsupportedError(
        "NOT inside a group, an exclusion or PERMUTE is not supported for matches that may skip "
        "rows",
        span,
        hint="write it between two parts of the whole pattern, A NOT B C",
        code="negation-inside-group",
    )


def negation_beside_optional(span: Span | None, *, side: str) -> MatchRecognizeUnsupportedError:
    """Return the error for A NOT B C? if a match may skip rows.

    Args:
        span: the location in the text of the query.
        side: the side of NOT on which all variables are optional, "before" or "after".
    """
    return MatchRecognizeUnsupportedError(
        f"NOT is not supported if all variables {side} it in PATTERN are optional and matches may "
        "skip rows",
        span,
        hint=f"write a variable {side} it that has a row in every match",
        code="negation-beside-optional",
    )


def negation_without_within(span: Span | None, *, name: str, end: str) -> MatchRecognizePlanError:
    """Return the error for A NOT B without WITHIN if a match may skip rows.

    Args:
        span: the location in the text of the query.
        name: the variable that NOT forbids.
        end: the end of PATTERN that has NOT, "beginning" or "end".
    """
    return MatchRecognizePlanError(
        f"missing WITHIN for NOT {name} at the {end} of PATTERN",
        span,
        notes=("rows may be skipped, so NOT forbids such a row in the whole window of the match",),
        hint="add WITHIN after PATTERN (...), such as WITHIN INTERVAL 1 HOUR",
        code="negation-without-within",
    )


def variable_reused_beside_negation(
    span: Span | None, *, name: str, positions: str
) -> MatchRecognizeUnsupportedError:
    """Return the error for A NOT B C A or A NOT B C B if a match may skip rows.

    Args:
        span: the location in the text of the query.
        name: the variable that is in two places.
        positions: the places, such as "before NOT and after it".
    """
    return MatchRecognizeUnsupportedError(
        f"`{name}` {positions} is not supported for matches that may skip rows",
        span,
        hint="write another variable with the same condition in one of the two places",
        code="variable-reused-beside-negation",
    )


def variable_under_negation(
    span: Span | None, *, name: str, clause: str
) -> MatchRecognizePlanError:
    """Return the error for a clause that reads rows of a variable under NOT."""
    return MatchRecognizePlanError(
        f"`{name}` in {clause} has no rows, because PATTERN has it under NOT",
        span,
        hint="name a variable that has rows",
        code="variable-under-negation",
    )


def reads_row_under_negation(
    span: Span | None, *, what: str, name: str, hint: str
) -> MatchRecognizeUnsupportedError:
    """Return the error for a condition of a variable under NOT that reads what it cannot know.

    Args:
        span: the location in the text of the query.
        what: what the condition reads.
        name: the variable.
        hint: what to write instead.
    """
    return MatchRecognizeUnsupportedError(
        f"{what} is not supported in the condition of `{name}`, which is under NOT",
        span,
        hint=hint,
        code="reads-row-under-negation",
    )


def navigation_without_column(span: Span, *, function: str, clause: str) -> MatchRecognizePlanError:
    """Return the error for a navigation whose argument has no column, as in PREV(1)."""
    return MatchRecognizePlanError(
        f"{function} in {clause} reads no column",
        span,
        hint=f"write {function}(A.x) or {function}(CLASSIFIER())",
        code="navigation-without-column",
    )


def wrong_navigation_nesting(
    *spans: Span, inner: str, outer: str, clause: str, arguments: Sequence[str]
) -> MatchRecognizePlanError:
    """Return the error for FIRST(PREV(x)) and other navigations in a wrong order.

    Args:
        spans: the locations of both in the text of the query.
        inner: the inner navigation.
        outer: the navigation around it.
        clause: the clause.
        arguments: the arguments of the inner navigation, as the query writes them.
    """
    value = arguments[0] if arguments else "A.x"
    if outer in ("FIRST", "LAST") and inner in ("PREV", "NEXT"):
        corrected = ", ".join([f"{outer}({value})", *arguments[1:]])
        hint = f"write {outer} inside: {inner}({corrected})"
    elif inner == outer and inner in ("PREV", "NEXT"):
        hint = f"write one of them, with the sum of their offsets: {outer}({value}, 2)"
    elif inner in ("PREV", "NEXT") and outer in ("PREV", "NEXT"):
        hint = "write one of them, with the difference of their offsets"
    elif inner in ("FIRST", "LAST") and outer in ("FIRST", "LAST"):
        hint = f"write one of them: {outer}({value})"
    else:
        hint = "write PREV(FIRST(A.x, 2), 3), with the whole expression in the inner one"
    return MatchRecognizePlanError(
        f"{inner} is not allowed in {outer} in {clause}",
        *spans,
        notes=("PREV and NEXT may contain FIRST or LAST; no other navigation may contain one",),
        hint=hint,
        code="wrong-navigation-nesting",
    )


def malformed_offset(  # noqa: PLR0913 -- the parts of the call
    span: Span, *, function: str, clause: str, value: str, offset: str, default: int
) -> MatchRecognizePlanError:
    """Return the error for an offset of a navigation that is not a constant whole number.

    Args:
        span: the location in the text of the query.
        function: the navigation.
        clause: the clause.
        value: the first argument as the query writes it.
        offset: the offset as the query writes it.
        default: the offset that a navigation without one has.
    """
    digits = re.match(r"\d+", offset)
    number = digits[0] if digits else default
    return MatchRecognizePlanError(
        f"offset of {function} in {clause} is `{offset}`, not a constant whole number of rows",
        span,
        hint=f"write a whole number of rows, 0 or more, such as {function}({value}, {number})",
        code="malformed-offset",
    )


def offset_too_large(
    span: Span, *, function: str, clause: str, limit: int
) -> MatchRecognizeUnsupportedError:
    """Return the error for an offset that is larger than any partition."""
    return MatchRecognizeUnsupportedError(
        f"offset of {function} in {clause} is over {limit:,}",
        span,
        hint="write a number of rows that a partition can have",
        code="offset-too-large",
    )


def negative_offset(
    span: Span, *, function: str, clause: str, value: str, rows: str
) -> MatchRecognizePlanError:
    """Return the error for a negative offset of a navigation.

    Args:
        span: the location in the text of the query.
        function: the navigation.
        clause: the clause.
        value: the first argument as the query writes it.
        rows: the offset without its sign: the number of rows in the opposite direction.
    """
    opposites = {"PREV": "NEXT", "NEXT": "PREV", "FIRST": "LAST", "LAST": "FIRST"}
    opposite = opposites.get(function.upper(), "NEXT")
    hint = f"write {opposite}({value}, {rows}) to go the other way"
    return MatchRecognizePlanError(
        f"offset of {function} in {clause} is `-{rows}`; offsets are whole numbers, 0 or more",
        span,
        hint=hint,
        code="negative-offset",
    )


def wrong_number_of_arguments(
    span: Span, *, function: str, clause: str, expected: str, count: int
) -> MatchRecognizePlanError:
    """Return the error for a navigation or match function with too few or many arguments."""
    surface = current_surface()
    hint: str | None
    match function.upper():
        case "PREV" | "NEXT" | "FIRST" | "LAST":
            hint = f"write {function}(A.x) or {function}(A.x, 2)"
        case "CLASSIFIER" | "MATCHED_ROWS":
            hint = f"write {function}() or {function}(A)"
        case "MATCH_NUMBER" | "MATCH_ROW_NUMBER":
            hint = f"write {function}()"
        case "COUNT":
            hint = (
                "write count(*) for all rows, count(A.*) for the rows of A, or pass "
                f"{surface.write_option('dialect', 'trino')}"
            )
        case _:
            hint = None
    return MatchRecognizePlanError(
        f"{function} in {clause} takes {expected}, not {count}",
        span,
        hint=hint,
        code="wrong-number-of-arguments",
    )


def modifier_after_navigation(
    function: str, modifier: str, clause: str, span: Span
) -> MatchRecognizeParseError:
    """Return the error for FILTER, IGNORE NULLS or another modifier of a navigation.

    Args:
        function: the navigation, such as FIRST.
        modifier: the first word of the modifier, such as IGNORE.
        clause: the clause of the expression.
        span: the modifier in the text of the query.
    """
    if modifier in ("IGNORE", "RESPECT"):
        modifier = f"{modifier} NULLS"
    hint_template = _HINTS_FOR_MODIFIERS.get((function, modifier), f"remove {modifier}")
    hint = hint_template.format(define=name_part("DEFINE"))
    argument = "a variable" if function == "CLASSIFIER" else "an offset"
    return MatchRecognizeParseError(
        f"{modifier} is not allowed with {function} in {clause}",
        span,
        notes=(f"{function} reads one row of the match and takes {argument} only",),
        hint=hint,
        code="modifier-after-navigation",
    )


# For a navigation and a modifier: what to write instead.
_HINTS_FOR_MODIFIERS = {
    ("FIRST", "FILTER"): "test the row in {define}, or write min_by(A.x, order) FILTER (WHERE ...)",
    ("LAST", "FILTER"): "test the row in {define}, or write max_by(A.x, order) FILTER (WHERE ...)",
    ("FIRST", "IGNORE NULLS"): "write min_by(A.x, order) FILTER (WHERE A.x IS NOT NULL)",
    ("LAST", "IGNORE NULLS"): "write max_by(A.x, order) FILTER (WHERE A.x IS NOT NULL)",
}


def over_without_frame(span: Span, *, frame: str) -> MatchRecognizeUnsupportedError:
    """Return the error for OVER that is not exactly a frame of rows.

    Args:
        span: the location in the text of the query.
        frame: the frame to write.
    """
    return MatchRecognizeUnsupportedError(
        f"OVER without a frame of rows is not supported in {name_part('DEFINE')}",
        span,
        notes=(
            "OVER takes only a frame; the rows are those of the clause's PARTITION BY and ORDER BY",
        ),
        hint=f"write OVER ({frame})",
        code="over-without-frame",
        condition="MATCH_RECOGNIZE_UNSUPPORTED_WINDOW_FUNCTION",
    )


def empty_frame(span: Span) -> MatchRecognizePlanError:
    """Return the error for ROWS BETWEEN CURRENT ROW AND 2 PRECEDING."""
    return MatchRecognizePlanError(
        "this frame ends before it starts",
        span,
        hint="write OVER (ROWS BETWEEN 2 PRECEDING AND CURRENT ROW), the earlier row first",
        code="empty-frame",
    )


def over_with_variable(span: Span, *, name: str) -> MatchRecognizeUnsupportedError:
    """Return the error for sum(A.x) OVER (ROWS ...)."""
    return MatchRecognizeUnsupportedError(
        f"OVER after an aggregate over the rows of `{name}` is not supported",
        span,
        notes=("a frame has rows of the partition, whichever variables they are mapped to",),
        hint=f"remove `{name}.`, or remove OVER",
        code="over-with-variable",
    )


def distinct_with_over(span: Span) -> MatchRecognizeUnsupportedError:
    """Return the error for count(DISTINCT x) OVER (ROWS ...)."""
    return MatchRecognizeUnsupportedError(
        "DISTINCT in an aggregate with OVER is not supported",
        span,
        hint="write size(collect_set(x) OVER (...)) for the count of distinct values",
        code="distinct-with-over",
    )
