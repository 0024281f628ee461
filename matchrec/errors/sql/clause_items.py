"""Errors in the items of MEASURES, SUBSET and DEFINE, such as a measure without a name."""

from __future__ import annotations

import re
from dataclasses import dataclass

from matchrec.errors.kinds import MatchRecognizeParseError
from matchrec.errors.run.origins import read_users_text_around
from matchrec.errors.sql.token_advice import MAX_AROUND
from matchrec.errors.wording import join_lines, quote_in_backticks, shorten, write_name
from matchrec.source import Span


def measure_without_name(
    span: Span, *, text: str, name: str = "", what: str = "measure", clause: str = "MEASURES"
) -> MatchRecognizeParseError:
    """Return the error for a measure without AS, for AS without a name, or AS without a value.

    Args:
        span: the measure in the text of the query.
        text: the expression; `AS p` for a measure that has a name only.
        name: the name that the user probably means; "" if the expression must suggest one.
        what: what the name is for: a measure, or a partition column, which needs no name.
        clause: the keyword of the part of the clause, such as "MEASURES".
    """
    if re.match(r"(?i)AS\s", text):  # `MEASURES AS p`
        missing = "value"
        hint = f"write the value before it, such as LAST(x) {shorten(text)}"
    else:
        missing = "name"
        value, string = _split_string_at_end(text)
        name = name or string or _suggest_name(value)
        named_expression = f"{shorten(value)} AS {name}"
        is_name_optional = clause == "PARTITION BY"
        prefix = f"{shorten(text)}, or " if is_name_optional else ""
        hint = f"write {prefix}{named_expression}"
    return MatchRecognizeParseError(
        f"missing {missing} of a {what} in {clause}", span, hint=hint, code="measure-without-name"
    )


def _split_string_at_end(text: str) -> tuple[str, str]:
    """Return a value, and the string after it as a name; "" if the text does not end with one.

    >>> _split_string_at_end("A.day 'first day'"), _split_string_at_end("A.day || 'x'")
    (('A.day', '`first day`'), ("A.day || 'x'", ''))
    """
    named_value = re.fullmatch(r"(?s)(?P<value>.*[\w)\]])\s+'(?P<name>[^'`]+)'", text)
    if named_value is None:
        return text, ""
    return named_value["value"], write_name(named_value["name"])


# A column, and a call of a function with a column or without arguments.
_NAMED_BY_WORDS = re.compile(r"(?:\w+\.)?\w+|\w+\((?:\w+\.)?\w*\)")


def _suggest_name(text: str) -> str:
    """Return a name for a value: the words of a short expression, or else `name`.

    >>> _suggest_name("LAST(B.price)"), _suggest_name("price"), _suggest_name("price + 1")
    ('last_b_price', 'price', 'name')
    """
    words = re.findall(r"\w+", text.lower())
    is_short = _NAMED_BY_WORDS.fullmatch(text) is not None
    return "_".join(words) if is_short and not words[0].isdigit() else "name"


def name_with_blank(span: Span, *, name: str, text: str) -> MatchRecognizeParseError:
    """Return the error for a measure whose name has a blank: `A.id AS my id`.

    Args:
        span: the name in the text of the query.
        name: the two words of the name.
        text: the expression of the measure.
    """
    return MatchRecognizeParseError(
        f"name `{name}` in MEASURES has a blank",
        span,
        hint=f"write {shorten(text)} AS {quote_in_backticks(name)}, or a comma before the second "
        "word if it is another measure",
        code="name-with-blank",
    )


def star_as_measure(span: Span, *, text: str) -> MatchRecognizeParseError:
    """Return the error for `*` or `A.*` as a measure."""
    prefix = text.removesuffix("*").strip()
    return MatchRecognizeParseError(
        f"`{text}` is not allowed in MEASURES",
        span,
        notes=("a measure is one expression with a name",),
        hint=f"name each column, as in {prefix}x AS x; ALL ROWS PER MATCH gives every input column",
        code="star-as-measure",
    )


def string_as_name(span: Span, *, what: str, clause: str, text: str) -> MatchRecognizeParseError:
    """Return the error for a string after AS, as in MEASURES x AS 'y'.

    Args:
        span: the string in the text of the query.
        what: what the name is for, such as "measure".
        clause: the keyword of the part of the clause, such as "MEASURES".
        text: the string with its quotes.
    """
    return MatchRecognizeParseError(
        f"the name of a {what} in {clause} is a string",
        span,
        hint=f"write AS {quote_in_backticks(text)}",
        code="string-as-name",
    )


def malformed_subset(span: Span, *, text: str) -> MatchRecognizeParseError:
    """Return the error for a definition in SUBSET without parentheses or members.

    Args:
        span: the location in the text of the query.
        text: the definition.

    >>> print(malformed_subset(Span(0, 8), text="U (A, B)"))
    `U (A, B)` in SUBSET does not have the form U = (A, B) [malformed-subset]
      help: write SUBSET U = (A, B)
    """
    definition, text_after = _split_at_parenthesis(text)
    name, *members = re.findall(rf"{_QUOTED_NAME}|\w+", definition) or [""]
    members = [member for member in members if member.upper() != "AS"]
    if name:
        next_definition = f", {text_after.strip()}" if text_after.strip() else ""
        hint = f"write SUBSET {name} = ({', '.join(members) or 'A, B'}){next_definition}"
    else:
        hint = "write SUBSET U = (A, B)"
    return MatchRecognizeParseError(
        f"`{shorten(text)}` in SUBSET does not have the form U = (A, B)",
        span,
        hint=hint,
        code="malformed-subset",
    )


# A name in backticks, in which two backticks stand for one.
_QUOTED_NAME = "`(?:[^`]|``)*`"


def _split_at_parenthesis(text: str) -> tuple[str, str]:
    """Return the text before the first closing parenthesis that is not in a name, and after it.

    >>> _split_at_parenthesis("`U)` = (A, B) V = (A)")
    ('`U)` = (A, B', ' V = (A)')
    """
    before = re.match(rf"(?:{_QUOTED_NAME}|[^)])*", text)
    assert before is not None, "the expression also matches no characters"
    return text[: before.end()], text[before.end() + 1 :]


@dataclass(frozen=True, slots=True)
class ProposedDefinition:
    """What a malformed definition probably means: `A AS x > 1` for `A = x > 1`."""

    variable: str
    # The rest of the user's text; it may begin with an operator, and is then not a condition.
    condition: str


def malformed_definition(
    span: Span,
    *,
    text: str,
    proposal: ProposedDefinition | None,
    follows_comma: bool,
    number_before: str = "",
) -> MatchRecognizeParseError:
    """Return the error for a definition that does not have the form `A AS condition`.

    Args:
        span: the definition in the text of the query.
        text: the definition.
        proposal: what the definition probably means; None if it does not begin with a name.
        follows_comma: whether a comma precedes the definition.
        number_before: the number before the comma if no blank is on either side of the comma;
            otherwise "".
    """
    hint = _find_definition_hint(text, proposal)
    if follows_comma and not text.isidentifier():
        hint = _find_comma_hint(text, number_before) or f"{hint}, or AND instead of the comma"
    return MatchRecognizeParseError(
        f"`{shorten(text)}` in DEFINE does not have the form A AS condition",
        span,
        hint=hint,
        code="malformed-definition",
    )


def _find_definition_hint(text: str, proposal: ProposedDefinition | None) -> str:
    """Return how to write a definition; the arguments are as for `malformed_definition`."""
    parenthesized_match = re.fullmatch(r"(?is)\(\s*(\w+\s+AS\s.+)\)", text)
    if parenthesized_match is not None:
        return f"remove the parentheses: DEFINE {shorten(parenthesized_match[1])}"
    match_without_condition = re.fullmatch(r"(?i)([`\w]+)\s+AS", text)
    if match_without_condition is not None:
        return f"write a condition after AS, such as {match_without_condition[1]} AS x > 1"
    if re.fullmatch(r"[^\W\d]\w*", text):  # a variable alone
        return f"write {text} AS and a condition, or remove {text}, which then takes any row"
    match_without_variable = re.match(r"(?i)AS\s+(?=[^\s.=<>!])", text)
    if match_without_variable is not None:
        return f"write a variable before AS: A {shorten(text)}"
    reference = re.fullmatch(r"(?is)(\w+)\.(\w+\s*[=<>!](?:(?!\sAS\s).)*)", text)
    if reference is not None:  # `A.price > 3`
        return f"write {reference[1]} AS {shorten(reference[2])}"
    # The help for `A < 5` is not `A AS < 5`, because no condition begins with an operator.
    if proposal is not None and proposal.condition[0] not in "<>!":
        return f"write {proposal.variable} AS {shorten(proposal.condition)}"
    return "write DEFINE A AS x > 1, B AS x > 2"


def _find_comma_hint(text: str, number_before: str) -> str | None:
    """Return what to write instead of the comma before a text that is not a definition.

    Returns None unless the text shows that it continues the condition before the comma.

    >>> _find_comma_hint("AND x > 1", ""), _find_comma_hint("B x > 1", "")
    ('remove the comma before AND', None)
    >>> _find_comma_hint("05 AND x > 1", "1")
    'write 1.05: the decimal point is `.`'
    >>> _find_comma_hint("125", "1"), _find_comma_hint("125", "0")
    ('write 1125 without the comma', 'write 0.125: the decimal point is `.`')
    """
    joining_word = re.match(r"(?i)(AND|OR)\b", text)
    if joining_word is not None:
        return f"remove the comma before {joining_word[1]}"
    digits = re.match(r"\d+\b", text)
    # In `1,125` the comma may separate thousands, but not in `0,125` and `1.000,125`.
    can_have_thousands = number_before.isdigit() and not number_before.startswith("0")
    if digits is not None and can_have_thousands and len(digits[0]) == 3:
        return f"write {number_before}{digits[0]} without the comma"
    if digits is not None and number_before:
        number_before = number_before.replace(".", "")  # `1.000,00`
        return f"write {number_before}.{digits[0]}: the decimal point is `.`"
    return None


def and_between_definitions(
    span: Span, *, word: str, definition: str = ""
) -> MatchRecognizeParseError:
    """Return the error for AND or OR instead of the comma between two definitions.

    Args:
        span: the word in the text of the query.
        word: AND or OR.
        definition: the definition that the word precedes, if no comma is missing, as in
            `DEFINE A AS x > 1, AND B AS x > 2`; otherwise "".
    """
    if definition:
        where = "before a variable"
        hint = f"remove {word}: {shorten(definition)}"
    else:
        where = "between two variables"
        hint = f"write a comma instead: {_join_definitions(span)}"
    return MatchRecognizeParseError(
        f"{word} is not allowed {where} in DEFINE", span, hint=hint, code="and-between-definitions"
    )


def _join_definitions(span: Span) -> str:
    """Return the texts around a word between two definitions, with a comma instead of the word.

    Args:
        span: the word in the text of the query.
    """
    text, start = read_users_text_around(span)
    before = re.split(r"(?i)\bDEFINE\s", text[:start])[-1]
    after = text[start + span.end - span.start :]
    definition = re.match(r"(?s)\s*(\w+\s+AS\s[^,)]{1,40})", after)
    if not before.strip() or definition is None:
        return "DEFINE A AS x > 1, B AS x > 2"
    shown = join_lines(before)
    start_text = f"DEFINE {shown}" if len(shown) <= MAX_AROUND else f"...{shown[-MAX_AROUND:]}"
    return f"{start_text}, {join_lines(definition[1])}"
