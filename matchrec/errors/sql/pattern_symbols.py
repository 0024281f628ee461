"""Errors in symbols and words that PATTERN does not have, such as `,` and AND."""

from __future__ import annotations

import re

from matchrec.errors.kinds import MatchRecognizeParseError
from matchrec.errors.run.origins import read_users_text_around
from matchrec.errors.wording import join_lines, shorten
from matchrec.source import Span

# For symbols between two variables: what to write instead, with `{first}` and `{second}` for the
# variables.
_HINTS_BETWEEN_VARIABLES = {
    ",": (
        "write {first} {second} for one after the other, PERMUTE({first}, {second}) for any order"
    ),
    "&": (
        "write {first} {second} for {first} and then {second}, PERMUTE({first}, {second}) for any "
        "order"
    ),
    **dict.fromkeys(("->", "~>", ";"), "write {first} {second} for {first} and then {second}"),
}


# For other symbols: what to write instead.
_HINTS_FOR_SYMBOLS = {
    ".": (
        "write a variable without a condition in DEFINE for any row, such as X*? for `.*?`; "
        "conditions on columns belong in DEFINE"
    ),
    ":": "write a parameter only as the bound of a quantifier: A{:n}",
    "-": (
        "write A B for A and then B, A{3,5} for 3 to 5 rows, a_b for a name with `_`, {- A -} for "
        "an exclusion"
    ),
    "/": "write a comment as /* ... */, or as -- ... to the end of the line",
}


def stray_character(
    span: Span, *, text: str, variables: str = "B", brackets: str = ""
) -> MatchRecognizeParseError:
    """Return the error for a symbol that PATTERN does not have.

    Args:
        span: the symbol in the text of the query.
        text: the symbol.
        variables: the variable or the group of variables right after the symbol, `B` or `(B | C)`;
            an example if neither follows.
        brackets: if the symbol is `[`, the text from it to the bracket that closes it; otherwise,
            and if no bracket closes it, "".
    """
    match text:
        case "[":
            hint = _find_bracket_hint(brackets)
        case "!" | "~":
            hint = f'write NOT {variables} for "no row of {variables} here"'
        case "'":
            hint = _find_string_hint(span)
        case "=" | "<" | ">":
            hint = f"write the condition in DEFINE: DEFINE {_find_condition(span)}"
        case _ if text in _HINTS_BETWEEN_VARIABLES:
            first, second = _find_neighbours(span)
            hint = _HINTS_BETWEEN_VARIABLES[text].format(first=first, second=second)
        case _:
            any_symbol = "write variables, ( ) | * + ? {n,m} ^ $ {- -} or PERMUTE(...)"
            hint = _HINTS_FOR_SYMBOLS.get(text, any_symbol)
    return MatchRecognizeParseError(
        f"`{text}` is not allowed in PATTERN", span, hint=hint, code="stray-character"
    )


def _find_condition(span: Span) -> str:
    """Return the definition for a condition after a variable, `A(price > 1)`; else an example.

    Args:
        span: the comparison in the text of the query.
    """
    text, start = read_users_text_around(span)
    before = re.search(r"(?P<variable>\w+)\s*[(\[](?P<left>[^()\[\]]*)$", text[:start])
    after = re.match(r"[^()\[\]]*(?=[)\]])", text[start:])
    if before is None or after is None or before["variable"].upper() in ("PATTERN", "PERMUTE"):
        return "A AS x > 1"
    return f"{before['variable']} AS {shorten(join_lines(before['left'] + after[0]).strip())}"


def _find_neighbours(span: Span) -> tuple[str, str]:
    """Return the variables before and after a symbol, with their quantifiers; A and B if unclear.

    Args:
        span: the symbol in the text of the query.
    """
    text, start = read_users_text_around(span)
    before = re.search(r"(?<![\w`.])(\w+[*+?]?)\s*$", text[:start])
    after = re.match(r"\W{1,2}?\s*(\w+[*+?]?)(?=[\s,;)]|$)", text[start:])
    if before is None or after is None:
        return "A", "B"
    return before[1], after[1]


def _find_string_hint(span: Span) -> str:
    """Return what to write instead of a string, whose first quote is at a span."""
    text, start = read_users_text_around(span)
    string = re.match(r"'([^']+)'", text[start:])
    inside = "" if string is None else join_lines(string[1])
    if re.search(r"[\s+*?|{]", inside):  # a whole row pattern
        return f"write PATTERN ({inside}), without quotes"
    return "write the variable's name in backticks"


def unclosed_exclusion(span: Span, *, inside: str) -> MatchRecognizeParseError:
    """Return the error for an exclusion that ends with `}` instead of `-}`.

    Args:
        span: the `}` in the text of the query.
        inside: the text between `{-` and `}`.
    """
    error = stray_character(span, text="}")
    error.hint = f"write {{- {inside or 'A'} -}}"
    return error


def _find_bracket_hint(brackets: str) -> str:
    """Return what to write instead of brackets of regular expressions and arrays.

    Args:
        brackets: the brackets with their content.

    >>> _find_bracket_hint("[2]"), _find_bracket_hint("[A B]")
    ('write {2} for a number of rows', 'write (A | B) for one of these variables')
    """
    inside = brackets[1:-1].strip()
    variables = re.findall(r"[^\W\d]\w*", inside)
    if re.fullmatch(r"\d+|\d*\s*,\s*\d*", inside):
        return f"write {{{inside}}} for a number of rows"
    if inside.startswith("^"):
        return "write a variable with the negated condition in DEFINE: DEFINE X AS NOT x > 1"
    if len(variables) > 1:
        return f"write ({' | '.join(variables)}) for one of these variables"
    if variables:
        return f"write {variables[0]} without brackets, or (A | B) for one of several variables"
    return "write A{1,3} for a number of rows, (A | B) for one of several variables"


def stray_number(span: Span, *, text: str) -> MatchRecognizeParseError:
    """Return the error for a number that is not in braces, as in PATTERN (A 2)."""
    return MatchRecognizeParseError(
        f"`{text}` is not allowed in PATTERN",
        span,
        hint="start a name with a letter; write a number of repetitions after its variable: A{2}",
        code="stray-number",
    )


def reserved_word(word: str, where: str, span: Span) -> MatchRecognizeParseError:
    """Return the error for a reserved word, such as AND, as a pattern variable without quotes."""
    return MatchRecognizeParseError(
        f"reserved word `{word}` is not allowed as a pattern variable in {where}",
        span,
        hint=f"write `{word}` in backticks if it is the name of a variable",
        code="reserved-word",
    )


def reserved_word_in_pattern(
    word: str, span: Span, *, before: str, after: str
) -> MatchRecognizeParseError:
    """Return the error for a reserved word in PATTERN, which is often a word of other languages.

    Args:
        word: the word in upper case.
        span: the word in the text of the query.
        before: the variable right before the word, with its quantifier; "" if there is none.
        after: the variable right after the word, with its quantifier; "" if there is none.

    >>> reserved_word_in_pattern("OR", Span(2, 4), before="A+", after="B").hint
    'write (A+ | B) for A+ or B; or write `OR` in backticks if it is the name of a variable'
    """
    error = reserved_word(word, "PATTERN", span)
    first, second = before or "A", after or "B"
    advice = ""
    match word:
        case "AND" | "THEN" | "BY":
            advice = f"write {first} {second} for {first}, then {second}"
            if word == "AND":
                advice += f", PERMUTE({first}, {second}) for any order"
        case "OR":
            advice = f"write ({first} | {second}) for {first} or {second}"
        case "NULL":
            advice = "write () for a pattern without rows"
        case "WITHIN":
            advice = "write the length of a match after the parentheses: WITHIN INTERVAL 1 HOUR"
        case "ANY":
            advice = "write X for any row: a variable without a condition in DEFINE"
        case "WHERE" | "ON" | "HAVING" | "WHEN":
            advice = "write the conditions in DEFINE: DEFINE A AS x > 1"
    if advice:
        error.hint = f"{advice}; or {error.hint}"
    return error
