"""Words and signs of other products that Spark SQL cannot read, with what to write instead.

    SAFE_CAST(x AS INT64)    !>    {{ ref('ticks') }}    x AT TIME ZONE 'UTC'

Functions of other products are in `foreign_names`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from matchrec.errors.sql.foreign_names import add_dialect_hint
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import join_lines
from matchrec.source import read_package_table

# Words.


class ForeignWord(NamedTuple):
    """An entry of the table `foreign_words.txt`: a word or sign of other products."""

    # What to write instead.
    hint: str
    # A value of `dialect=` that understands the word; "" if none does.
    dialect: str


def find_foreign_word_hint(text: str) -> str | None:
    """Return what to write instead of a word of other products; None for other words."""
    word = _read_foreign_words().get(text.upper())
    if word is None:
        return None
    if not word.dialect:
        return word.hint
    return f"{word.hint}, or pass {current_surface().write_option('dialect', word.dialect)}"


@cache
def _read_foreign_words() -> dict[str, ForeignWord]:
    """Return the table of words of other products, by the words in upper case."""
    foreign_words = {}
    for hint, entries in read_package_table("matchrec.errors.sql", "foreign_words.txt"):
        for entry in entries.split():
            word, _, dialect = entry.partition("@")
            # `@` itself is a word, without a dialect
            foreign_words[word or entry] = ForeignWord(hint, dialect)
    return foreign_words


# Signs.

# The comparisons of T-SQL that mean "not greater" and "not less", with those of Spark SQL.
_NEGATED_COMPARISONS = {"!>": "<=", "!<": ">="}
# The marks of templates of Jinja, as dbt uses them.
_TEMPLATE_MARKS = ("{{", "{%", "{#")


def find_foreign_sign_hint(sign: str) -> str | None:
    """Return what to write instead of two characters that other products read as one sign.

    Returns None for other characters.

    >>> find_foreign_sign_hint("!>"), find_foreign_sign_hint("<>")
    ('write <=', None)
    """
    if sign in _TEMPLATE_MARKS:
        return "render the template first, and pass the SQL that it makes"
    if sign in _NEGATED_COMPARISONS:
        return f"write {_NEGATED_COMPARISONS[sign]}"
    return None


# Calls with words between their arguments.


def find_foreign_call_hint(before: str, after: str) -> str | None:
    """Return what to write for a call that Spark cannot read because of a word in it; else None.

    The words are SEPARATOR, USING and AS, and AT TIME ZONE after a call or a column. The comma of
    `CAST(x, INT)` counts as such a word.

    Args:
        before: the text before the word.
        after: the text from the word on.

    >>> find_foreign_call_hint("GROUP_CONCAT(sym ", "SEPARATOR '-')")
    "write listagg(sym, '-')"
    >>> find_foreign_call_hint("MEASURES LAST(ts) ", "AT TIME ZONE 'UTC' AS utc")
    "write convert_timezone('UTC', LAST(ts))"
    """
    return (
        _find_concatenation_hint(before, after)
        or _find_time_zone_hint(before, after)
        or _find_charset_hint(before, after)
        or _find_cast_hint(before, after)
    )


def _find_concatenation_hint(before: str, after: str) -> str | None:
    """Return what to write for `GROUP_CONCAT(x SEPARATOR ',')` of MySQL; None for other texts."""
    call = re.search(r"(?i).*\bGROUP_CONCAT\s*\((?P<value>.+)$", before, re.DOTALL)
    separator = re.match(r"(?i)SEPARATOR\s+(?P<text>'[^']*')", after)
    if call is None or separator is None:
        return None
    return f"write listagg({join_lines(call['value'])}, {separator['text']})"


def _find_time_zone_hint(before: str, after: str) -> str | None:
    """Return what to write for `ts AT TIME ZONE 'UTC'`; None for other texts."""
    value = re.search(r"(?P<text>[\w.]+(?:\([^()]*\))?)\s*$", before)
    zone = re.match(r"(?i)AT\s+TIME\s+ZONE\s+(?P<name>'[^']*')", after)
    if value is None or zone is None:
        return None
    return f"write convert_timezone({zone['name']}, {value['text']})"


def _find_charset_hint(before: str, after: str) -> str | None:
    """Return what to write for `CONVERT(x USING latin1)` of MySQL; None for other texts.

    >>> _find_charset_hint("CONVERT(LAST(sym) ", "USING latin1) = 'a'")
    "write encode(LAST(sym), 'latin1')"
    """
    call = re.search(r"(?i).*\bCONVERT\s*\((?P<value>.+)$", before, re.DOTALL)
    charset = re.match(r"(?i)USING\s+(?P<name>\w+)\s*\)", after)
    if call is None or charset is None:
        return None
    value = join_lines(call["value"])
    if charset["name"].upper().startswith("UTF8"):
        return f"write {value} alone: strings are always UTF-8"
    return f"write encode({value}, '{charset['name']}')"


def _find_cast_hint(before: str, after: str) -> str | None:
    """Return what to write for a cast of another product; None for other texts.

    >>> _find_cast_hint("DEFINE A AS TRY_PARSE(x ", "AS INT) > 1")
    'write TRY_CAST(x AS INT)'
    >>> _find_cast_hint("A AS CAST(x", ", INT) > 1")
    'write CAST(x AS INT)'
    """
    call = re.search(
        r"(?i)\b(?P<name>(?:SAFE_|TRY_)?CAST|(?:TRY_)?PARSE)\s*\((?P<value>[^()]+)$", before
    )
    target = re.match(r"(?i)(?:AS\s+|,\s*)(?P<type>\w+(?:\s*\([\d, ]*\))?)\s*[,)]", after)
    if call is None or target is None:
        return None
    name = call["name"].upper()
    cast = "CAST" if name in ("CAST", "PARSE") else "TRY_CAST"
    hint = f"write {cast}({call['value'].strip()} AS {target['type']})"
    return add_dialect_hint(hint, "bigquery") if name == "SAFE_CAST" else hint
