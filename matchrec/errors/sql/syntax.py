"""Errors of SQL syntax outside PATTERN: in expressions, in the clause, around it."""

from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    MatchRecognizeUnsupportedError,
    as_note,
    meant_keyword,
)
from matchrec.errors.sql.foreign_names import or_dialect
from matchrec.source import Span

IN_DOUBLE_QUOTES = (
    "double quotes are for strings in Spark SQL, unless spark.sql.ansi.enabled and",
    "spark.sql.ansi.doubleQuotedIdentifiers are both true",
)


def name_in_double_quotes(message: str, text: str, span: Span) -> MatchRecognizeParseError:
    """A name in double quotes where they are for strings; the constructors of its kinds call it."""
    return MatchRecognizeParseError(message, span, notes=IN_DOUBLE_QUOTES, hint=in_backticks(text))


def in_backticks(text: str) -> str:
    """The cure of a name in double quotes."""
    name = text[1:-1].replace("`", "``")
    return or_dialect(f"write `{name}` in backticks", "snowflake", "oracle", "trino")


def unreadable_text(span: Span) -> MatchRecognizeParseError:
    """A string, quoted name or comment without end."""
    return MatchRecognizeParseError(
        "text that is opened here and never closed",
        span,
        hint="close the string, the quoted name or the comment",
    )


def unexpected_token(text: str, where: str, span: Span) -> MatchRecognizeParseError:
    """A token that cannot stand where it does."""
    return MatchRecognizeParseError(
        f"unexpected `{text}` in {where}",
        span,
        hint=meant_by(text, where) or _separated(text, where),
    )


def meant_by(text: str, where: str) -> str | None:
    """What was probably meant by a token, such as a keyword spelled otherwise."""
    if where == "MATCH_RECOGNIZE" and text.upper() in ("LIMIT", "INTERVAL", "DURATION"):
        return "limit the time of a match after PATTERN (...): WITHIN INTERVAL 1 HOUR"
    keyword = meant_keyword(text)
    if keyword or text.upper() in _OF_OTHERS:
        return _OF_OTHERS.get(text.upper()) or f"write {keyword}"
    if text in ")]}":
        return f"remove the `{text}`, or add the bracket that it closes"
    return None


def _separated(text: str, where: str) -> str | None:
    """What to write before a token that starts a value."""
    if text.upper().removesuffix("S") in _UNITS:
        unit = text.upper().removesuffix("S")
        return f"write a length of time as INTERVAL '1' {unit}, with the number in quotes"
    return _SEPARATED.get(where) if text[0].isalnum() or text[0] in "'\"`_" else None


_OF_OTHERS = {
    "RETURN": "write ONE ROW PER MATCH or ALL ROWS PER MATCH",
    "SHOW": "write ALL ROWS PER MATCH SHOW EMPTY MATCHES",
    "OMIT": "write ALL ROWS PER MATCH OMIT EMPTY MATCHES",
    "WITH": "write ALL ROWS PER MATCH WITH UNMATCHED ROWS",
    "SKIP": "write AFTER MATCH SKIP",
    "PARTITION": "write PARTITION BY",
    "ORDER": "write ORDER BY",
    "BY": "write PARTITION BY or ORDER BY",
    "ALL": "write ALL ROWS PER MATCH",
    "ONE": "write ONE ROW PER MATCH",
    "AFTER": "write AFTER MATCH SKIP PAST LAST ROW, TO NEXT ROW, TO FIRST A, TO LAST A or TO A",
    ";": "remove the `;`",
    "=>": "write >= for a number that is as great or greater",
    "&&": "write AND",
    "->": "a lambda function stands in a function that takes one: transform(x, p -> p + 1)",
    "OPTIONS": or_dialect("write LONGEST MATCH after PATTERN (...)", "bigquery"),
    "WHERE": "filter the input in a subquery before the clause, or the result after it",
}
_UNITS = frozenset({"SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "YEAR"})
_SEPARATED = {
    "PARTITION BY": "write an operator before it, or a comma: PARTITION BY a, b",
    "ORDER BY": "write an operator before it, or a comma: ORDER BY a, b DESC",
    "MEASURES": "write an operator before it, or a comma: MEASURES FIRST(x) AS a, LAST(x) AS b",
    "DEFINE": "write an operator before it, or a comma: DEFINE A AS x > 1, B AS x > 2",
    "WITHIN": "write one interval or number: WITHIN INTERVAL 1 HOUR",
    "MATCH_RECOGNIZE": "after PATTERN come WITHIN, SUBSET and DEFINE",
}


def unreadable_expression(reason: str, where: str, span: Span) -> MatchRecognizeParseError:
    """An expression that is no SQL; `reason` is the parser's."""
    return MatchRecognizeParseError(
        f"cannot read the expression in {where}", span, notes=(as_note(reason),)
    )


def in_without_parentheses(value: str, where: str, span: Span) -> MatchRecognizeParseError:
    """`x IN y`, where a list or a query should stand."""
    return MatchRecognizeParseError(
        f"IN without parentheses in {where}", span, hint=f"write IN ({value}), or = {value}"
    )


def unclosed_bracket(opening: str, where: str, span: Span) -> MatchRecognizeParseError:
    """A bracket in an expression that nothing closes."""
    closing = {"(": ")", "[": "]", "{": "}"}[opening]
    return MatchRecognizeParseError(
        f"`{opening}` is not closed in {where}", span, hint=f"add `{closing}` where it ends"
    )


def missing_expression(where: str, span: Span) -> MatchRecognizeParseError:
    """Nothing where an expression should stand."""
    return MatchRecognizeParseError(f"expression missing in {where}", span)


def expression_nested_too_deep(where: str, span: Span) -> MatchRecognizeUnsupportedError:
    """Parentheses in parentheses beyond the parser's stack."""
    return MatchRecognizeUnsupportedError(
        f"expression in {where} is nested too deep to read",
        span,
        hint="remove parentheses, or compute parts of it as columns of the input",
    )
