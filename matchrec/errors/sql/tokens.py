"""Errors in single words and signs, whatever the part of the query that has them.

In the arguments, `where` is the part of the query that has the word or sign, such as ORDER BY or
"the query". `token_advice` has the advice on what to write instead.
"""

from __future__ import annotations

import re
from unicodedata import category

from matchrec.errors.kinds import MatchRecognizeParseError
from matchrec.errors.misspelt_keywords import misspelt_keyword
from matchrec.errors.sql.look_alikes import LOOK_ALIKES
from matchrec.errors.sql.token_advice import MAX_AROUND, MisspeltKeyword, TokenInText, explain_token
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import join_lines, quote_in_backticks, shorten
from matchrec.source import Span

# The note of errors about names in double quotes.
IN_DOUBLE_QUOTES = (
    "double quotes are for strings in Spark SQL, unless spark.sql.ansi.enabled and "
    "spark.sql.ansi.doubleQuotedIdentifiers are both true"
)


def advise_backticks(text: str) -> str:
    """Return advice for a name in double quotes, which make a string in Spark SQL.

    >>> advise_backticks('"price"')
    'write `price` in backticks, or pass dialect="snowflake", "oracle" or "trino"'
    """
    dialects = current_surface().write_option("dialect", "snowflake", "oracle", "trino")
    return f"write {quote_in_backticks(text)} in backticks, or pass {dialects}"


# For each mark that opens a text: what it opens, and the mark that closes it.
_CLOSING_MARKS = {
    "'": ("string", "'"),
    '"': ("text in double quotes", '"'),
    "`": ("quoted name", "`"),
    "/": ("comment", "*/"),
}


def unclosed_text(span: Span, *, mark: str = "") -> MatchRecognizeParseError:
    """Return the error for a quote or a comment that is opened and not closed.

    Args:
        span: the location in the text of the query.
        mark: the first character of the quote or the comment; "" if it is not known.
    """
    what = "a string, a quoted name or a comment"
    hint = "close it where it ends"
    if mark in _CLOSING_MARKS:
        opened, closing = _CLOSING_MARKS[mark]
        what = f"the {opened} that begins here"
        hint = f"add {closing} where the {opened} ends"
    return MatchRecognizeParseError(f"{what} is not closed", span, hint=hint, code="unclosed-text")


def malformed_binary(span: Span, *, text: str) -> MatchRecognizeParseError:
    """Return the error for a malformed binary value, such as `X'1G'`.

    Args:
        span: the location in the text of the query.
        text: the value as it is written.
    """
    return MatchRecognizeParseError(
        f"`{text}` is not a binary value",
        span,
        hint="write X'1F', with the digits 0 to 9 and A to F only",
        code="malformed-binary",
    )


def unexpected_token(token: TokenInText, span: Span) -> MatchRecognizeParseError:
    """Return the error for a word or sign that is not allowed at its location.

    Args:
        token: the word or sign.
        span: the word or sign in the text of the query.

    >>> print(unexpected_token(TokenInText("descnding", "ORDER BY"), Span(12, 21)))
    unknown keyword `descnding` in ORDER BY [misspelt-keyword]
      help: write DESC
    """
    where = token.where
    if re.match(r"(?i)GROUP\s+BY\b", token.text_from_token):
        return group_by_in_clause(join_lines(token.text_from_token), where, span)
    without_by = missing_by(token.text_from_token, span, where=where)
    if without_by is not None and where != "the query":
        return without_by
    explanation = explain_token(token)
    if isinstance(explanation, MisspeltKeyword):
        return misspelt_keyword(span, text=token.text, keyword=explanation.keyword, where=where)
    if explanation.text is not None:
        span = Span(span.start, span.start + len(explanation.text))
    return MatchRecognizeParseError(
        f"{explanation.problem} in {where}", span, hint=explanation.hint, code="unexpected-word"
    )


# PARTITION or ORDER without BY, with ON or FOR that may be written instead, and the first key.
_WITHOUT_BY = re.compile(
    r"(?P<keyword>PARTITION|ORDER)\b(?!\s+BY\b)(?P<instead>\s+(?:ON|FOR|WITH|OF)\b)?"
    r"(?:\s+(?P<keys>[\w`].*))?",
    re.IGNORECASE | re.DOTALL,
)


# BY with one wrong letter, or with its letters swapped, before a key.
_MISSPELT_BY = re.compile(
    r"(?:B\w|\wY|YB|BY\w|B\wY)\b(?=\s+(?!(?:ASC|DESC|NULLS)\b)[\w`])", re.IGNORECASE
)


def missing_by(text: str, span: Span, *, where: str) -> MatchRecognizeParseError | None:
    """Return the error for PARTITION or ORDER without BY, or with a misspelt BY.

    Returns None if the text begins with other words.

    Args:
        text: the text of the clause from the word up to the next part.
        span: the word in the text of the query.
        where: the part of the clause before the word.

    >>> print(missing_by("PARTITION ON sym", Span(0, 9), where="MATCH_RECOGNIZE"))
    missing BY after PARTITION in MATCH_RECOGNIZE [missing-by]
      help: write PARTITION BY sym
    """
    written = _WITHOUT_BY.match(text)
    if written is None:
        return None
    keyword = written["keyword"].upper()
    misspelt_by = _MISSPELT_BY.match(written["keys"] or "")
    if misspelt_by is not None and not written["instead"]:
        start = span.start + written.start("keys")
        return misspelt_keyword(
            Span(start, start + len(misspelt_by[0])),
            text=misspelt_by[0],
            keyword="BY",
            where="MATCH_RECOGNIZE",
        )
    keys = f" {shorten(written['keys'])}" if written["keys"] else ""
    location = " before ORDER BY" if (keyword, where) == ("PARTITION", "ORDER BY") else ""
    marked = written["keyword"] + (written["instead"] or "")
    return MatchRecognizeParseError(
        f"missing BY after {keyword} in MATCH_RECOGNIZE",
        Span(span.start, span.start + len(marked)),
        hint=f"write {keyword} BY{keys}{location}",
        code="missing-by",
    )


def group_by_in_clause(text: str, where: str, span: Span) -> MatchRecognizeParseError:
    """Return the error for GROUP BY inside of a clause.

    Args:
        text: the text of the part from GROUP BY on.
        where: the part of the clause before it.
        span: the word GROUP.
    """
    return MatchRecognizeParseError(
        f"GROUP BY is not allowed here in {where}",
        span,
        notes=("MATCH_RECOGNIZE groups rows with PARTITION BY",),
        hint=f"write {text[:MAX_AROUND]} after the ) of MATCH_RECOGNIZE to group the matches; "
        "or write PARTITION BY instead, after the opening (, to search each group of rows alone",
        code="group-by-in-clause",
    )


# For two signs with a space between them or in the wrong order: the operator that is meant.
_MEANT_OPERATORS = {
    ("=", "<"): "<=",
    ("=", ">"): ">=",
    (">", "="): ">=",
    ("<", "="): "<=",
    ("<", ">"): "<>",
    ("!", "="): "<>",
    ("=", "!"): "<>",
    ("=", "="): "=",
    ("|", "|"): "||",
    ("&", "&"): "AND",
}


def two_operators(first: str, second: str, span: Span, *, where: str) -> MatchRecognizeParseError:
    """Return the error for two operators in succession, as in `price = < 5`."""
    intended_operator = _MEANT_OPERATORS.get((first, second))
    if intended_operator is not None:
        hint = f"write {intended_operator}"
    elif first == second == "/":
        hint = "write -- before a comment, up to the end of the line, or /* ... */ around it"
    elif first == second:
        hint = f"write `{first}` once, or the value between the two"
    else:
        hint = f"write only `{first}` or `{second}`"
    return MatchRecognizeParseError(
        f"`{first} {second}` is not allowed in {where}",
        span,
        notes=("a value is missing between two operators",),
        hint=hint,
        code="two-operators",
    )


def placeholder_of_python(span: Span, *, text: str, name: str) -> MatchRecognizeParseError:
    """Return the error for `%s` or `%(name)s`, for which a driver of Python inserts a value.

    Args:
        span: the placeholder in the text of the query.
        text: the placeholder.
        name: the name in it; "" for `%s`.
    """
    parameter = f":{name or 'name'}"
    advice = current_surface().advice_on_parameter.format(name=name or "name")
    return MatchRecognizeParseError(
        f"placeholder `{text}` is not supported",
        span,
        notes=("parameters begin with a colon",),
        hint=f"write {parameter}, and {advice}",
        code="placeholder-of-python",
    )


def no_value_before_operator(operator: str, span: Span, *, where: str) -> MatchRecognizeParseError:
    """Return the error for an operator with which an expression begins, as in `A AS = 5`."""
    return MatchRecognizeParseError(
        f"a value is missing before `{operator}` in {where}",
        span,
        hint=f"write a column or another value before `{operator}`",
        code="no-value-before-operator",
    )


def value_after_is(
    span: Span, *, where: str, operator: str, operator_after: str = ""
) -> MatchRecognizeParseError:
    """Return the error for IS or IS NOT before a value, as in `price IS NOT PREV(price)`.

    Args:
        span: IS or IS NOT in the text of the query.
        where: the part of the query.
        operator: the operator that the help writes instead, such as `<>`.
        operator_after: the comparison after IS, such as `>` in `price IS > 3`; "" if there is none.
    """
    is_negated = operator == "<>"
    if operator_after and is_negated:
        hint = f"write NOT before the comparison: NOT x {operator_after} y"
    elif operator_after:
        hint = f"remove IS before {operator_after}"
    else:
        hint = f"write {operator}"
    return MatchRecognizeParseError(
        f"IS is not allowed before a value in {where}",
        span,
        notes=("NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM follow IS and IS NOT",),
        hint=hint,
        code="is-before-value",
    )


def strange_sign(text: str, where: str, span: Span) -> MatchRecognizeParseError:
    """Return the error for a word with a character that is not allowed in SQL outside quotes.

    The error has the code of `unexpected_token` if the character looks like a sign of SQL.

    >>> print(strange_sign("n≥", "MATCH_RECOGNIZE", Span(0, 2)))
    `≥` is not allowed here in MATCH_RECOGNIZE [unexpected-word]
      help: write >= for ≥
    """
    signs = [character for character in text if not character.isascii() and not character.isalnum()]
    look_alikes = [character for character in signs if character in LOOK_ALIKES]
    # A sign that can be replaced, or else the first sign, or else the whole word.
    sign, *_ = (*look_alikes, *signs, text)
    start = span.start + text.index(sign)
    if sign in LOOK_ALIKES:
        return unexpected_token(TokenInText(sign, where), Span(start, start + 1))
    if category(sign[0])[0] in "CZ":
        code = f"U+{ord(sign[0]):04X}"
        return MatchRecognizeParseError(
            f"the invisible character {code} is not allowed in {where}",
            Span(start, start + 1),
            hint="remove it",
            code="invisible-character",
        )
    return MatchRecognizeParseError(
        f"`{text}` is not allowed in {where}",
        span,
        hint="write a name with such characters in backticks",
        code="unquoted-special-character",
    )
