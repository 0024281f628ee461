"""Errors in the text of a row pattern, and errors about row patterns that are too large.

`negations` has the errors of NOT.
"""

from __future__ import annotations

import re

from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
)
from matchrec.errors.language import current_language
from matchrec.errors.run.origins import read_users_text_around
from matchrec.errors.surface import current_surface
from matchrec.errors.warning_classes import NoEffectWarning
from matchrec.errors.wording import join_lines, shorten
from matchrec.source import Span


def braces_lost_in_pattern(
    span: Span, *, parenthesized: str, part: str, braced: str
) -> MatchRecognizeParseError:
    """Return the error for B(3,), which a Python f-string makes of B{3,}.

    Args:
        span: the parentheses.
        parenthesized: the parentheses with their content, `(3,)`.
        part: the part of the pattern before the parentheses, `B`.
        braced: the quantifier that is meant, `{3,}`.
    """
    note = ""
    hint = f"write {part}{braced}"
    if current_surface().has_python_calls:
        note = f"a Python f-string turns {part}{braced} into {part}{parenthesized}"
        hint = f"write {part}{{{braced}}} in an f-string, or pass a plain string"
    return MatchRecognizeParseError(
        f"`{parenthesized}` in PATTERN is not a quantifier",
        span,
        notes=(note,),
        hint=hint,
        code="braces-lost-in-pattern",
    )


def doubled_braces(span: Span, *, bounds: str) -> MatchRecognizeParseError:
    """Return the error for B{{3,}} outside a Python f-string.

    Args:
        span: the braces.
        bounds: the text between the braces, `3,`.
    """
    note = ""
    if current_surface().has_python_calls:
        note = "only Python f-strings need doubled braces: they turn {{ into {"
    return MatchRecognizeParseError(
        "doubled braces are not allowed in PATTERN",
        span,
        notes=(note,),
        hint=f"write {{{bounds}}}",
        code="doubled-braces",
    )


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
        hint=f"add `{closing}` after the group",
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


# A group of regular expressions: `(?:A B)`, `(?=A)`, `(?<!A)` or `(?<name>A)`.
_REGEX_GROUP = re.compile(r"\(\s*\?\s*(?P<sign><?[=!]|P?<(?P<name>\w+)>|:)?(?P<inside>[^()]*)")


def regex_group_in_pattern(span: Span) -> MatchRecognizeParseError:
    """Return the error for (?: ...), (?= ...) and other groups of regular expressions.

    Args:
        span: the `(?` in the text of the query.
    """
    text, start = read_users_text_around(span)
    group = _REGEX_GROUP.match(text, start)
    sign = (group and group["sign"]) or ""
    inside = join_lines(group["inside"]) if group else ""
    headline = "`(?` is not allowed in PATTERN"
    hint = f"write a group as ({inside if sign == ':' and inside else 'A | B'})"
    if group is not None and group["name"]:
        headline = "a named group is not allowed in PATTERN"
        variables = ", ".join(dict.fromkeys(re.findall(r"[^\W\d]\w*", inside)))
        hint = f"write ({inside}), and SUBSET {group['name']} = ({variables}) for a name"
    elif sign.endswith(("=", "!")):
        function = "PREV" if sign.startswith("<") else "NEXT"
        side = "behind" if sign.startswith("<") else "ahead"
        headline = f"a look-{side} is not allowed in PATTERN"
        row = "before" if sign.startswith("<") else "after"
        hint = (
            f"write a condition on the row {row} it in DEFINE: "
            f"DEFINE A AS {function}(x) > 1, with a column x"
        )
    return MatchRecognizeParseError(headline, span, hint=hint, code="regex-group-in-pattern")


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


# Braces with another sign than a comma between the bounds: `{2-5}`, `{2 to 5}`.
_BOUNDS_WITHOUT_COMMA = re.compile(r"\{\s*(\d+)\s*(?:;|-|:|\.\.+|to|TO|\s)\s*(\d+)\s*\}")


def malformed_quantifier(span: Span, *, text: str = "") -> MatchRecognizeParseError:
    """Return the error for braces that are neither a quantifier nor an exclusion.

    Args:
        span: the braces, or their beginning.
        text: the braces as the query writes them; "" if the end of the braces is not known.
    """
    hint = "write {2}, {2,}, {,5} or {2,5}, with whole numbers, or {- A -} for an exclusion"
    bounds = _BOUNDS_WITHOUT_COMMA.fullmatch(text)
    number = re.fullmatch(r"\{\s*(\d+(?:\s*,\s*\d*)?)\s*[)\]]?", text)
    name = re.fullmatch(r"\{\s*([^\W\d]\w*)\s*\}", text)
    if number is not None:  # `A{3` without its end
        hint = f"write {{{number[1]}}}"
    elif bounds is not None:
        hint = f"write {{{bounds[1]},{bounds[2]}}} for {bounds[1]} to {bounds[2]} rows"
    elif name is not None:
        hint = f"write a whole number, such as {{2}}, or {{:{name[1]}}} for a parameter"
    return MatchRecognizeParseError(
        f"{f'`{shorten(text)}`' if text else 'this'} in PATTERN is not a quantifier",
        span,
        hint=hint,
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
        what: what the parameter is for, such as "the bound of a quantifier".
        value: the value of the parameter, in words.
        least: the least value that it may have.
    """
    return MatchRecognizePlanError(
        f"parameter `{parameter}`, {what}, must be a whole number from {least} to 2,147,483,647, "
        f"but is {value}",
        span,
        hint=_find_hint_for_number(parameter, value, least),
        code="parameter-not-a-number",
    )


def _find_hint_for_number(parameter: str, value: str, least: int) -> str:
    """Return what to pass for a parameter that must be a whole number.

    The arguments are as for `parameter_not_a_number`.
    """
    name = parameter.lstrip(":")
    digits = re.search(r"\d+", value)
    number = int(digits[0]) if digits and int(digits[0]) >= least else max(least, 3)
    if not name.isidentifier():
        return f"pass a number such as {number}"
    return f"pass a number for {name}, such as {number}"


def empty_permutation_part(span: Span) -> MatchRecognizeParseError:
    """Return the error for PERMUTE(A, )."""
    return MatchRecognizeParseError(
        "PERMUTE in PATTERN has an empty part",
        span,
        hint="write the parts with commas between them: PERMUTE(A, B)",
        code="empty-permutation-part",
    )


def permutation_of_one_part(span: Span | None, *, parts: str) -> NoEffectWarning:
    """Return the warning for PATTERN (PERMUTE(A B)), in which a comma is probably missing.

    Args:
        span: the row pattern.
        parts: the text in the parentheses, `A B`.
    """
    in_any_order = ", ".join(parts.split())
    return NoEffectWarning(
        "PERMUTE in PATTERN has no effect, because it has one part",
        span,
        notes=(f"{parts} without a comma is one part: it matches in this order only",),
        hint=f"write PERMUTE({in_any_order}) for any order, or {parts} without PERMUTE",
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
    language = current_language()
    return MatchRecognizePlanError(
        f"{language.pattern} is too large: its automaton has over {limit:,} {what}",
        span,
        hint=language.advice_on_size,
        code="pattern-too-large",
    )
