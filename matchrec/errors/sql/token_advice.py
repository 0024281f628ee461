"""Explain why a word or sign is not allowed where it is written, and what to write instead.

`explain_token` tries the functions in `_EXPLAINERS` one after the other. The first explanation that
fits becomes the headline and the help of the error:

    ... DEFINE A AS x > 1 AND AND y > 2     missing condition between `AND` and `AND`
                              ^^^           help: remove one AND, or write the condition between ...
    ... ORDER BY ts descnding               unknown keyword `descnding`
                    ^^^^^^^^^               help: write DESC

`where` is the part of the query that has the word, such as ORDER BY or "the query".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from matchrec.errors.lengths import find_meant_length
from matchrec.errors.misspellings import (
    KEYWORDS,
    find_keyword,
    find_misspelt_operator,
    find_nearest,
)
from matchrec.errors.sql.brackets import CLOSING_BRACKETS, find_bracket_hint
from matchrec.errors.sql.foreign_syntax import (
    find_foreign_call_hint,
    find_foreign_sign_hint,
    find_foreign_word_hint,
)
from matchrec.errors.sql.look_alikes import find_look_alike_hint
from matchrec.errors.sql.sort_directions import find_direction
from matchrec.errors.wording import join_lines, shorten

# The parts of a clause, as a sentence lists them.
PARTS_IN_ORDER = ", ".join(KEYWORDS).replace("ONE ROW PER MATCH, ALL ROWS", "ONE ROW or ALL ROWS")

# The most characters that a help repeats of the text before an error, and of the text after it.
MAX_AROUND = 40


@dataclass(frozen=True, slots=True)
class TokenInText:
    """A word or sign that is not allowed at its location, with the text around it."""

    # The word or sign.
    text: str
    # The part of the query that has it.
    where: str
    # The text of this part before the token; "" if it is not known.
    text_before: str = ""
    # The text of this part from the token on, so it begins with the token; "" if it is not known.
    text_from_token: str = ""
    # The word or sign before the token in the same expression; "" if there is none.
    word_before: str = ""

    @property
    def key(self) -> str:
        """The token in upper case, to compare it with keywords."""
        return self.text.upper()


@dataclass(frozen=True, slots=True)
class TokenExplanation:
    """Why a token is not allowed at its location, and what to write instead."""

    # The headline without the part of the query.
    problem: str
    # None if it is not clear what to write.
    hint: str | None
    # The text that is not allowed, which begins with the token; None for the token alone.
    text: str | None = None


@dataclass(frozen=True, slots=True)
class MisspeltKeyword:
    """The explanation of a token that misspells a keyword."""

    keyword: str


TokenAdvice = TokenExplanation | MisspeltKeyword


def explain_token(token: TokenInText) -> TokenAdvice:
    """Explain why a token is not allowed, by the first explanation that fits.

    >>> explain_token(TokenInText("AND", "DEFINE", word_before="AND")).problem
    'missing condition between `AND` and `AND`'
    >>> explain_token(TokenInText("descnding", "ORDER BY"))
    MisspeltKeyword(keyword='DESC')
    """
    for explain in _EXPLAINERS:
        explanation = explain(token)
        if explanation is not None:
            return explanation
    return _refuse(token.text, None)


def _refuse(text: str, hint: str | None) -> TokenExplanation:
    """Return an explanation that says no more than that a word or sign is not allowed."""
    return TokenExplanation(f"`{text}` is not allowed here", hint)


# Text that belongs elsewhere, or to another language. Each function explains a token that begins
# such a text, and returns None for other tokens.


def _explain_bracket(token: TokenInText) -> TokenExplanation | None:
    """Explain brackets that Spark SQL lacks, such as `[1, 2]`."""
    hint = find_bracket_hint(token.text, token.text_before, token.text_from_token)
    return None if hint is None else _refuse(token.text, hint)


def _explain_foreign_call(token: TokenInText) -> TokenExplanation | None:
    """Explain a word in a call of another product, such as AS in `SAFE_CAST(x AS INT64)`."""
    hint = find_foreign_call_hint(token.text_before, token.text_from_token)
    return None if hint is None else _refuse(token.text, hint)


def _explain_case(token: TokenInText) -> TokenExplanation | None:
    """Explain CASE without WHEN, and IF instead of CASE."""
    case = _write_case(token.text_from_token) if token.key in ("CASE", "IF") else None
    return None if case is None else _refuse(token.text, f"write {shorten(case)}")


def _write_case(text: str) -> str | None:
    """Return a CASE that lacks WHEN, or that is written IF, as SQL writes it; else None.

    >>> _write_case("IF price > 3 THEN 1 ELSE 2 END IF")
    'CASE WHEN price > 3 THEN 1 ELSE 2 END'
    """
    case = re.fullmatch(
        r"(?i)(?:CASE|IF)\s+(?!WHEN\b)(?P<condition>.+?)\s+THEN\s+(?P<values>.+?)(?:\s+END(?:\s+IF)?)?",
        join_lines(text),
    )
    if case is None or re.search(r"(?i)\bEND\b", case["values"]):
        return None
    return f"CASE WHEN {case['condition']} THEN {case['values']} END"


# A length of time: `INTERVAL '5' MINUTE`, `'5 minutes'`, `5 min`.
_LENGTH = re.compile(
    r"(?:(?:INTERVAL|DURATION)\s+)?(?:'[^']*'(?:\s+[a-z]+)?|\d+\s*[a-z]+)", re.IGNORECASE
)


def _explain_length_without_within(token: TokenInText) -> TokenExplanation | None:
    """Explain a length of time after PATTERN (...) without WITHIN."""
    window = _LENGTH.match(token.text_from_token)
    if token.where != "MATCH_RECOGNIZE" or token.text_before or window is None:
        return None
    length = find_meant_length(window[0])
    return None if length is None else _refuse(token.text, f"write WITHIN {length.sql}")


def _explain_not_null(token: TokenInText) -> TokenExplanation | None:
    """Explain `price NOT NULL`."""
    not_null = re.match(r"(?i)NOT\s+NULL\b", token.text_from_token)
    if not_null is None:
        return None
    return TokenExplanation("`NOT NULL` is not allowed here", "write IS NOT NULL", not_null[0])


# An option of PATTERN, perhaps after the name of a measure without AS. The word MATCH can be
# missing: in `count(*) n SKIP TILL NEXT MATCH`, the parser reads it as the name of a measure.
_OPTION_OF_PATTERN = re.compile(
    r"(?:\w+\s+)?(?P<option>(?:ALL|NON\s*-\s*OVERLAPPING|FIRST\s+\d+)\s+MATCHES"
    r"|LONGEST\s+MATCH|SKIP\s+TILL\s+(?:NEXT|ANY)(?:\s+MATCH|\s*$))(?!\w)",
    re.IGNORECASE,
)


def begins_with_pattern_option(text: str) -> bool:
    """Return whether a text begins with an option of PATTERN, perhaps after one other word.

    >>> begins_with_pattern_option("n SKIP TILL NEXT MATCH"), begins_with_pattern_option("n")
    (True, False)
    """
    return _OPTION_OF_PATTERN.match(text) is not None


def _explain_option_before_pattern(token: TokenInText) -> TokenExplanation | None:
    """Explain an option of PATTERN in a part before PATTERN, as in `ORDER BY ts ALL MATCHES`."""
    misplaced = _OPTION_OF_PATTERN.match(token.text_from_token)
    if token.where not in ("PARTITION BY", "ORDER BY", "MEASURES") or misplaced is None:
        return None
    option = join_lines(misplaced["option"])
    if option.upper().startswith("SKIP") and not option.upper().endswith("MATCH"):
        option += " MATCH"
    return TokenExplanation(
        f"`{option}` is not allowed here",
        f"write it after PATTERN: PATTERN (...) {option}",
        misplaced[0],
    )


def _explain_swapped_measure(token: TokenInText) -> TokenExplanation | None:
    """Explain the dot in `MEASURES last_price AS B.price`, whose sides are swapped."""
    measure = re.search(r"(?i)(?P<name>\w+)\s+AS\s+(?P<variable>\w+)\s*$", token.text_before)
    column = re.match(r"\.\s*(?P<name>\w+)", token.text_from_token)
    if token.where != "MEASURES" or measure is None or column is None:
        return None
    hint = f"write {measure['variable']}.{column['name']} AS {measure['name']}"
    return _refuse(token.text, hint)


def _explain_where_for_define(token: TokenInText) -> TokenExplanation | None:
    """Explain `WHERE A AS price > 1`."""
    definition = re.match(r"(?i)WHERE\s+(?P<text>\w+\s+AS\s.+)", join_lines(token.text_from_token))
    if definition is None:
        return None
    return _refuse(token.text, f"write DEFINE {shorten(definition['text'])}")


# For a keyword of the query around the clause: the text that the help repeats, and the help.
_HINTS_FOR_QUERY_KEYWORDS = {
    "LIMIT": (
        r"LIMIT (\d+)",
        "write LIMIT {0} after the clause, or FIRST {0} MATCHES after PATTERN (...)",
    ),
    "HAVING": (
        r"HAVING (.{1,60})$",
        "write WHERE {0} after the ) of MATCH_RECOGNIZE to filter the matches",
    ),
    "WHERE": (
        r"(WHERE .{1,60})$",
        (
            "write FROM (SELECT * FROM ... {0}) to filter the input, {0} after the ) of "
            "MATCH_RECOGNIZE to filter the matches, or a condition in DEFINE"
        ),
    ),
}


def _explain_where_before_condition(token: TokenInText) -> TokenExplanation | None:
    """Explain `A AS WHERE price > 1`."""
    if token.where != "DEFINE" or token.key != "WHERE" or token.text_before.strip():
        return None
    return _refuse(token.text, "remove WHERE")


def _explain_hyphen_in_name(token: TokenInText) -> TokenExplanation | None:
    """Explain the hyphen in `A.day AS first-day`."""
    start = re.search(r"(?i)\bAS\s+(?P<name>[^\W\d]\w*)$", token.text_before)
    rest = re.match(r"(?:-\w+)+", token.text_from_token)
    if token.where != "MEASURES" or start is None or rest is None:
        return None
    name = start["name"] + rest[0]
    return _refuse(token.text, f"write AS {name.replace('-', '_')}, or AS `{name}`")


def _explain_query_keyword(token: TokenInText) -> TokenExplanation | None:
    """Explain LIMIT, HAVING and WHERE, which belong to the query around the clause."""
    if token.key not in _HINTS_FOR_QUERY_KEYWORDS:
        return None
    pattern, hint = _HINTS_FOR_QUERY_KEYWORDS[token.key]
    repeated = re.match(pattern, join_lines(token.text_from_token), re.IGNORECASE)
    return None if repeated is None else _refuse(token.text, hint.format(repeated[1]))


def _explain_foreign_sign(token: TokenInText) -> TokenExplanation | None:
    """Explain two characters that are one sign in another product, such as `!>` and `{{`."""
    sign = token.text_from_token[:2]
    hint = find_foreign_sign_hint(sign)
    return None if hint is None else _refuse(sign, hint)


@dataclass(frozen=True, slots=True)
class _CutOffOption:
    """An option of the clause, or the end of one, that cannot begin a part of the clause."""

    # The words of the option. A space in it stands for any blanks.
    words: str
    # What is missing before the words.
    missing: str
    # The words with which the help writes the option; "" if they are the missing words.
    start: str = ""

    @property
    def pattern(self) -> str:
        """A regular expression for the words, in upper and lower case."""
        return "(?i)" + self.words.replace(" ", r"\s+") + r"\b"


_ALL_ROWS = "ALL ROWS PER MATCH"
_ONE_OR_ALL_ROWS = "ONE ROW PER MATCH or ALL ROWS PER MATCH"
_PARTIAL_MATCHES = "(?:TIMEOUT AND UNFINISHED|TIMEOUT|UNFINISHED) MATCHES"
_CUT_OFF_OPTIONS = (
    _CutOffOption("(?:SHOW|OMIT) EMPTY MATCHES", _ALL_ROWS),
    _CutOffOption("EMPTY MATCHES", f"{_ALL_ROWS} SHOW"),
    _CutOffOption("WITH UNMATCHED ROWS", _ALL_ROWS),
    _CutOffOption("UNMATCHED ROWS", f"{_ALL_ROWS} WITH"),
    _CutOffOption(f"SHOW {_PARTIAL_MATCHES}", _ONE_OR_ALL_ROWS, "ONE ROW PER MATCH"),
    _CutOffOption(_PARTIAL_MATCHES, "ONE ROW PER MATCH SHOW"),
    _CutOffOption("ROW PER MATCH", "ONE"),
    _CutOffOption("ROWS PER MATCH", "ALL"),
    _CutOffOption("PER MATCH", "ONE ROW or ALL ROWS", "ONE ROW"),
    _CutOffOption("MATCH SKIP (?:TO|PAST)", "AFTER"),
    _CutOffOption("SKIP (?:TO|PAST)", "AFTER MATCH"),
    _CutOffOption("PAST LAST ROW", "AFTER MATCH SKIP"),
    _CutOffOption("TO NEXT ROW", "AFTER MATCH SKIP"),
)
# The words after AFTER MATCH SKIP TO.
_SKIP_TARGET = re.compile(r"(?i)\s+(?:(?:NEXT|LAST)\s+ROW|(?:FIRST|LAST)\s+\w+|\w+)")


def _explain_cut_off_option(token: TokenInText) -> TokenExplanation | None:
    """Explain an option of the clause without the words that come before it.

    >>> token = TokenInText("PAST", "MATCH_RECOGNIZE", text_from_token="PAST LAST ROW PATTERN")
    >>> _explain_cut_off_option(token).problem, _explain_cut_off_option(token).hint
    ('missing AFTER MATCH SKIP before PAST LAST ROW', 'write AFTER MATCH SKIP PAST LAST ROW')
    """
    for option in _CUT_OFF_OPTIONS:
        match = re.match(option.pattern, token.text_from_token)
        if match is None:
            continue
        end = match.end()
        if match[0].upper().endswith((" TO", " PAST")):
            target = _SKIP_TARGET.match(token.text_from_token, end)
            end = target.end() if target else end
        text = token.text_from_token[:end]
        words = join_lines(text)
        problem = f"missing {option.missing} before {words}"
        return TokenExplanation(problem, f"write {option.start or option.missing} {words}", text)
    return None


# Misspelt words, missing words, and keywords at the wrong place. Each function returns None for
# other tokens.


def _explain_missing_condition(token: TokenInText) -> TokenExplanation | None:
    """Explain two of AND and OR without a condition between them, as in `a > 1 AND AND b > 2`."""
    first, second = token.word_before, token.text
    if first.upper() not in ("AND", "OR") or second.upper() not in ("AND", "OR"):
        return None
    hint = f"write the condition between them, or remove {first} or {second}"
    if first.upper() == second.upper():
        hint = f"remove one {second}, or write the condition between the two"
    return TokenExplanation(f"missing condition between `{first}` and `{second}`", hint)


def _explain_misspelt_operator(token: TokenInText) -> MisspeltKeyword | None:
    """Explain a misspelt AND, LIKE or BETWEEN in a condition."""
    if token.where != "DEFINE" or not token.word_before:
        return None
    operator = find_misspelt_operator(token.text)
    return None if operator is None else MisspeltKeyword(operator)


# For each word of CASE without the words before it: what to write.
_HINTS_FOR_CASE = {
    "WHEN": "write CASE before WHEN",
    "THEN": "write CASE WHEN and a condition before THEN",
    "ELSE": "write CASE WHEN condition THEN value before ELSE, and END after the value of ELSE",
    "END": "write CASE WHEN condition THEN value before END, or remove END",
}


def _explain_word_of_case(token: TokenInText) -> TokenExplanation | None:
    """Explain WHEN, THEN, ELSE and END without CASE before them."""
    hint = _HINTS_FOR_CASE.get(token.key)
    return None if hint is None else _refuse(token.text, hint)


def _explain_word_after_key(token: TokenInText) -> TokenAdvice | None:
    """Explain a direction or a measure after a key of ORDER BY."""
    if token.where != "ORDER BY":
        return None
    if token.key in ("ASC", "DESC", "NULLS"):
        hint = "write one direction after each key, such as x DESC or x ASC NULLS LAST"
        if not token.text_before.strip() and len(token.text_from_token.split()) > 1:  # `DESC ts`
            hint = f"write {shorten(token.text_from_token.split(maxsplit=1)[1])} {token.key}"
        return _refuse(token.text, hint)
    direction = find_direction(token.text)
    if direction is not None:
        return MisspeltKeyword(direction)
    measure = re.fullmatch(r"(?i)\w+[.(].*\bAS\s+\w+", join_lines(token.text_from_token))
    if measure is not None and token.text_before.strip().upper() != "MEASURES":
        hint = f"write MEASURES {shorten(measure[0])}"
        return TokenExplanation(f"missing MEASURES before `{token.text}`", hint)
    return None


_UNITS = frozenset({"SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "YEAR"})


def _find_written_unit(word: str) -> str | None:
    """Return the unit of time that a word is, in singular and upper case; None for other words.

    >>> _find_written_unit("days"), _find_written_unit("price")
    ('DAY', None)
    """
    unit = word.upper().removesuffix("S")
    return unit if unit in _UNITS else None


def _explain_limit(token: TokenInText) -> TokenExplanation | None:
    """Explain a word after a number in WITHIN, such as EVENTS, and a number after ROWS."""
    hint = _find_limit_hint(token.text_before, token.text) if token.where == "WITHIN" else None
    return None if hint is None else _refuse(token.text, hint)


# Words that people write for ROWS in WITHIN.
_WORDS_FOR_ROWS = ("ROW", "ROWS", "EVENT", "EVENTS", "RECORD", "RECORDS", "TUPLES")
# A number at the end of WITHIN, with or without INTERVAL and quotes.
_LIMIT = re.compile(
    r"(?:^|,|\bWITHIN\s)\s*(?P<interval>INTERVAL\s+)?(?P<quote>'?)(?P<number>\d+)(?P=quote)\s*$",
    re.IGNORECASE,
)


def _find_limit_hint(before: str, word: str) -> str | None:
    """Return what to write instead of a number and a word in WITHIN; None for other texts.

    Args:
        before: the text of WITHIN before the word.
        word: the word.

    >>> _find_limit_hint("5", "ROW"), _find_limit_hint("INTERVAL 5", "MINUTS")
    ('write WITHIN 5 ROWS', 'write WITHIN INTERVAL 5 MINUTE')
    >>> _find_limit_hint("ROWS", "5")
    'write WITHIN 5 ROWS'
    """
    if before.strip().upper() in ("ROWS", "EVENTS") and word.isdecimal():
        return f"write WITHIN {word} ROWS"
    limit = _LIMIT.search(before)
    if limit is None or not word.isalpha():
        return None
    can_be_rows = limit["interval"] is None
    if can_be_rows and word.upper() in _WORDS_FOR_ROWS:
        return f"write WITHIN {limit['number']} ROWS"
    unit = find_nearest(word.upper().removesuffix("S"), sorted(_UNITS))
    if unit is not None:
        return f"write WITHIN INTERVAL {limit['number']} {unit}"
    if can_be_rows and find_nearest(word, ("ROWS",)):
        return f"write WITHIN {limit['number']} ROWS"
    return None


def _explain_missing_key(token: TokenInText) -> TokenExplanation | None:
    """Explain the expression after MEASURES in `ORDER BY MEASURES A.x AS a`."""
    is_first_key = token.text_before.strip().upper() == "MEASURES"
    if token.where not in ("PARTITION BY", "ORDER BY") or not is_first_key:
        return None
    return TokenExplanation("a key is missing before MEASURES", f"write {token.where} x MEASURES")


def _explain_column_named_like_unit(token: TokenInText) -> TokenExplanation | None:
    """Explain a missing comma before a column such as `day`, as in `PARTITION BY sym day`."""
    follows_number = token.text_before.rstrip()[-1:].isdigit()
    if _find_written_unit(token.text) is None or follows_number:
        return None
    hint = _find_comma_hint(token.where, token.text_before, token.text_from_token)
    return None if hint is None else _say_comma_is_missing(token.text, hint)


def _explain_known_word(token: TokenInText) -> TokenAdvice | None:
    """Explain a misspelt keyword, and a word or sign whose meaning in other products is known."""
    hint = find_look_alike_hint(token.text) or find_hint_for_token(token.text, token.where)
    keyword = find_keyword(token.text)
    if keyword is None or hint != f"write {keyword}":
        return None if hint is None else _refuse(token.text, hint)
    if keyword.startswith(f"{token.key} "):  # PARTITION of PARTITION BY is spelt right
        return _refuse(token.text, hint)
    return MisspeltKeyword(keyword)


def find_hint_for_token(text: str, where: str) -> str | None:
    """Return what to write instead of a token, such as a misspelt keyword.

    Returns None if that is not clear.

    Args:
        text: the token.
        where: the part of the query that has it.

    >>> find_hint_for_token("MEASURE", "MATCH_RECOGNIZE")
    'write MEASURES'
    """
    word = text.upper()
    if (where, text) == ("MATCH_RECOGNIZE", ","):
        return "remove the `,`"
    if where == "the query" and word in ("PARTITION", "ORDER", "MEASURES"):
        return "write SELECT * FROM t MATCH_RECOGNIZE (...) around a clause"
    if where == "MATCH_RECOGNIZE" and word in ("LIMIT", "INTERVAL", "DURATION"):
        return "limit the time of a match after PATTERN (...): WITHIN INTERVAL 1 HOUR"
    if (where, word) == ("ORDER BY", "AS"):
        return "remove AS and the name: a key of ORDER BY has no name"
    keyword = find_keyword(text)
    if keyword == word:
        return f"write the parts in this order: {PARTS_IN_ORDER}"
    foreign_word_hint = find_foreign_word_hint(text)
    if foreign_word_hint is not None:
        return foreign_word_hint
    if keyword:
        return f"write {keyword}"
    if text in CLOSING_BRACKETS.values():
        return f"remove the `{text}`, or add the bracket that it closes"
    return None


# Names and values. These explanations fit so many tokens that they come last.


def _explain_unit(token: TokenInText) -> TokenExplanation | None:
    """Explain a unit of time, which needs INTERVAL."""
    unit = _find_written_unit(token.text)
    if unit is None:
        return None
    number = token.word_before.strip("'")
    if re.fullmatch(r"\d+(?:\.\d+)?", number):
        return _refuse(token.text, f"write INTERVAL '{number}' {unit}")
    hint = f"write a length of time as INTERVAL '1' {unit}, with the number in quotes"
    return _refuse(token.text, hint)


# For each part of the clause that is a list: a list of two items.
_LIST_EXAMPLES = {
    "PARTITION BY": "PARTITION BY a, b",
    "ORDER BY": "ORDER BY a, b DESC",
    "MEASURES": "MEASURES FIRST(x) AS a, LAST(x) AS b",
    "DEFINE": "DEFINE A AS x > 1, B AS x > 2",
}


def _explain_name_or_value(token: TokenInText) -> TokenExplanation | None:
    """Explain a name or a value before which something is missing."""
    text, where = token.text, token.where
    if not text[0].isalnum() and text[0] not in "'\"`_":
        return None
    if where == "MATCH_RECOGNIZE":
        return _refuse(text, f"write WITHIN, SUBSET or DEFINE before {text}")
    if where == "WITHIN":
        return _refuse(text, "write one interval or number: WITHIN INTERVAL 1 HOUR")
    if where not in _LIST_EXAMPLES:
        return None
    hint = (
        _find_comma_hint(where, token.text_before, token.text_from_token)
        or _find_separator_hint(where, token.word_before, text)
        or f"write a comma, as in {_LIST_EXAMPLES[where]}, or an operator before it; write a name "
        "with a blank in backticks"
    )
    return _say_comma_is_missing(text, hint)


def _say_comma_is_missing(text: str, hint: str) -> TokenExplanation:
    """Return the explanation of a word before which a comma or an operator is missing."""
    return TokenExplanation(f"missing comma or operator before `{text}`", hint)


def _find_comma_hint(where: str, before: str, after: str) -> str | None:
    """Return the help for a missing comma, with the user's text on both sides of the comma.

    Returns None if the part of the query is not a list, or if one of the sides has no text.

    >>> _find_comma_hint("PARTITION BY", "sym ", "day")
    'write a comma: PARTITION BY sym, day'
    >>> _find_comma_hint("DEFINE", "A AS x > 1 THEN ", "B AS x > 2")
    'write a comma instead of THEN: DEFINE A AS x > 1, B AS x > 2'
    """
    before, after = join_lines(before), join_lines(after)
    if where not in _LIST_EXAMPLES or not before or not after:
        return None
    replaced = ""
    separator = re.search(r"(?i)\s(THEN)$|(;)$", before)
    if separator is not None and not re.search(r"(?i)\bCASE\b", before):
        replaced = f" instead of {separator[1] or separator[2]}"
        before = before[: separator.start()].rstrip()
        if not before:
            return None
    start = f"{where} {before}"
    if len(before) > MAX_AROUND:
        start = f"...{before[-MAX_AROUND:]}"
    end = after if len(after) <= MAX_AROUND else f"{after[:MAX_AROUND]}..."
    return f"write a comma{replaced}: {start}, {end}"


# Functions whose parentheses are often forgotten, as in `LAST A.price`.
_CALLED_WITH_PARENTHESES = frozenset(
    ("PREV", "NEXT", "FIRST", "LAST", "SUM", "AVG", "MIN", "MAX", "COUNT", "ABS")
)


def _find_separator_hint(where: str, first: str, second: str) -> str | None:
    """Return the help for two words or signs of an expression between which something is missing.

    Returns None if the first one is "".

    >>> _find_separator_hint("DEFINE", "5", "volume")
    'write AND or another operator between 5 and volume'
    >>> _find_separator_hint("MEASURES", "best", "price")
    'write a comma or an operator between best and price, or backticks around a name with a blank'
    """
    if not first:
        return None
    if first.upper() in _CALLED_WITH_PARENTHESES:
        return f"write parentheses around the argument of {first}"
    if first.upper() in ("ORDER", "PARTITION"):
        return f"write {first} BY {shorten(second)}"
    separator = "AND or another operator" if where == "DEFINE" else "a comma or an operator"
    location = f"before {shorten(second)}"
    if first not in CLOSING_BRACKETS.values():
        location = f"between {shorten(first)} and {shorten(second)}"
    hint = f"write {separator} {location}"
    if first.isidentifier() and second.isidentifier():
        hint += ", or backticks around a name with a blank"
    return hint


# The explanations in the order in which they are tried: the most specific ones come first.
_EXPLAINERS: tuple[Callable[[TokenInText], TokenAdvice | None], ...] = (
    _explain_bracket,
    _explain_foreign_call,
    _explain_case,
    _explain_length_without_within,
    _explain_not_null,
    _explain_option_before_pattern,
    _explain_swapped_measure,
    _explain_where_for_define,  # before `_explain_query_keyword`, which explains other WHEREs
    _explain_where_before_condition,
    _explain_query_keyword,
    _explain_hyphen_in_name,
    _explain_foreign_sign,
    _explain_cut_off_option,
    _explain_missing_condition,
    _explain_misspelt_operator,
    _explain_word_of_case,
    _explain_word_after_key,
    _explain_limit,
    _explain_missing_key,
    _explain_column_named_like_unit,  # before `_explain_unit`: `day` after a key is a column
    _explain_known_word,
    _explain_unit,
    _explain_name_or_value,
)
