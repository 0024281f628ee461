"""Rules for regular expressions: their flags, whether they are of the whole text, what replaces.

REGEXP_LIKE(x, 'a|b', 'i')                x RLIKE '(?i)a|b'        of Oracle
x RLIKE 'a|b'                             x RLIKE '\\A(?:a|b)\\z'  of Snowflake: of the whole text
REGEXP_REPLACE(x, '(a)', '\\1', 1, 0, 'i')  REGEXP_REPLACE(x, '(?i)(a)', '$1')

Oracle and Snowflake have flags as an argument, all others in the expression.
"""

from __future__ import annotations

import re

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from matchrec.frontends.dialects.marks import plain_call
from matchrec.frontends.dialects.rules.place import Place

_FLAGS = {  # of the argument of a product → of the expression
    "oracle": {"c": "", "i": "i", "n": "s", "m": "m", "x": "x"},
    "snowflake": {"c": "", "e": "", "i": "i", "s": "s", "m": "m"},
}
_INLINE = re.compile(r"\(\?([a-z]+)\)")
_GROUP = re.compile(r"\\(\d)")
_GROUP_OF_JAVA = re.compile(r"\$(\d)")
_WITH_BACKSLASH = frozenset({"oracle", "snowflake", "bigquery"})
_PARAMETERS = ("flag", "parameters", "modifiers")


def whole_or_part(node: exp.Expr, place: Place) -> exp.Expr:
    """`REGEXP_LIKE(x, p, 'i')`; in Snowflake RLIKE and the like ask for a match of all of x."""
    if not isinstance(node, exp.RegexpLike):
        return node
    asks_for_part = place.write.name == "snowflake" and not node.args.get("full_match")
    with_flags(node, place)
    if node.args.get("full_match") and place.write.name != "snowflake":
        node.set("full_match", None)
        node.set("expression", _of_whole_text(node.expression, place))
    if not asks_for_part:
        return node
    flag = node.args.get("flag")
    numbers = [exp.Literal.number(one) for one in (1, 1, 0)] if flag else []
    found = plain_call("REGEXP_INSTR", node.this, node.expression, *numbers, *filter(None, [flag]))
    return exp.GT(this=found, expression=exp.Literal.number(0))


def with_flags(node: exp.Expr, place: Place) -> None:
    """Moves the flags of a function to where the other product has them."""
    name = next((one for one in _PARAMETERS if one in node.arg_types), "parameters")
    given = node.args.get(name)
    given = None if isinstance(given, exp.Null) else given
    if given is not None and not isinstance(given, exp.Literal):
        raise UnsupportedError("flags of a regular expression that are not a literal")
    names = _FLAGS.get(place.read.name, {})
    letters = given.name if given is not None else ""
    if not set(letters) <= set(names):
        raise UnsupportedError(f"the flags '{letters}' of a regular expression")
    flags = "".join(names[one] for one in letters)
    pattern = node.expression
    inline = _INLINE.match(_text(pattern))
    others = _FLAGS.get(place.write.name)
    node.set(name, None)
    if others is None:
        node.set("expression", _with_prefix(f"(?{flags})" if flags else "", pattern))
        return
    if inline:
        flags += inline.group(1)
        pattern = exp.Literal.string(_text(pattern)[inline.end() :])
        node.set("expression", pattern)
    back = {flag: letter for letter, flag in others.items() if flag}
    if not set(flags) <= set(back):
        raise UnsupportedError(f"the flags '{flags}' of a regular expression")
    if flags:
        node.set(name, exp.Literal.string("".join(back[one] for one in flags)))


def _text(node: exp.Expr) -> str:
    """The text of a literal, nothing of anything else."""
    return node.name if isinstance(node, exp.Literal | exp.RawString) else ""


def _with_prefix(prefix: str, pattern: exp.Expr) -> exp.Expr:
    if not prefix:
        return pattern
    if text := _text(pattern):
        return exp.Literal.string(prefix + text)
    return plain_call("CONCAT", exp.Literal.string(prefix), pattern)


def _of_whole_text(pattern: exp.Expr, place: Place) -> exp.Expr:
    """The expression of a match from the first character to the last, whatever lines they are in.

    `$` would match before a newline at the end as well, but in Oracle, which has no other sign.
    """
    start, end = ("^", "$") if place.write.name == "oracle" else (r"\A", r"\z")
    text = _text(pattern)
    if text and "|" not in text:
        inline = _INLINE.match(text)
        at = inline.end() if inline else 0
        return exp.Literal.string(f"{text[:at]}{start}{text[at:]}{end}")
    opening = f"{start}(" if place.write.name == "oracle" else f"{start}(?:"
    if text:
        return exp.Literal.string(f"{opening}{text}){end}")
    parts = exp.Literal.string(opening), pattern, exp.Literal.string(f"){end}")
    return plain_call("CONCAT", *parts)


def replaced_matches(node: exp.Expr, place: Place) -> exp.Expr:
    """`REGEXP_REPLACE(x, p, r, 1, 0, 'i')`, whose groups are `\\1` or `$1`."""
    if not isinstance(node, exp.RegexpReplace):
        return node
    occurrence, position = node.args.get("occurrence"), node.args.get("position")
    if place.write.name not in _FLAGS:
        if occurrence is not None and occurrence.name != "0":
            raise UnsupportedError("no REGEXP_REPLACE of one match: it replaces all")
        node.set("occurrence", None)
        if position is not None and position.name == "1":
            node.set("position", None)
        elif position is not None and not place.write.is_spark:
            raise UnsupportedError("no REGEXP_REPLACE from a position: write SUBSTR")
    with_flags(node, place)
    if node.args.get("modifiers"):
        node.set("position", position or exp.Literal.number(1))
        node.set("occurrence", occurrence or exp.Literal.number(0))
    replacement = node.args.get("replacement") or exp.Literal.string("")
    node.set("replacement", _with_groups(replacement, place))
    return node


def _with_groups(replacement: exp.Expr, place: Place) -> exp.Expr:
    """What is put in, with groups as the other product writes them."""
    reads, writes = (one.name in _WITH_BACKSLASH for one in (place.read, place.write))
    text = _text(replacement)
    if "${" in text and place.write.is_spark:
        raise UnsupportedError("no ${name} in REGEXP_REPLACE: write $1")
    if reads == writes or not text:
        return replacement
    if reads:
        return exp.Literal.string(_GROUP.sub(r"$\1", text.replace("$", r"\$")))
    parts = text.split(r"\$")
    return exp.Literal.string("$".join(_GROUP_OF_JAVA.sub(r"\\\1", one) for one in parts))


def counted_matches(node: exp.Expr, place: Place) -> exp.Expr:
    """`REGEXP_COUNT(x, p, 1, 'i')` and `REGEXP_INSTR(x, p, 1, 1, 0, 'i')`, of all of x."""
    if not isinstance(node, exp.RegexpCount | exp.RegexpInstr) or place.write.name in _FLAGS:
        return node
    name = node.sql_name()
    for part, usual in (("position", "1"), ("occurrence", "1"), ("option", "0")):
        given = node.args.get(part)
        if given is not None and given.name != usual:
            raise UnsupportedError(f"no {name} with a {part}: write SUBSTR")
    if node.args.get("group"):
        raise UnsupportedError(f"no {name} with a group")
    with_flags(node, place)
    return plain_call(name, node.this, node.expression)


def first_match(node: exp.Expr, place: Place) -> exp.Expr:
    """`REGEXP_EXTRACT(x, pattern)`, NULL where nothing matches, or the empty text as in Spark."""
    if not isinstance(node, exp.RegexpExtract):
        return node
    reads_empty, writes_empty = (one.has_functions_of_spark for one in (place.read, place.write))
    if writes_empty and not reads_empty:
        node.set("occurrence", node.args.get("occurrence") or exp.Literal.number(1))
    elif reads_empty and not writes_empty:
        place.remark(f"REGEXP_EXTRACT without a match is NULL in {place.write.title}")
    if place.write.lacks_dialect:  # which takes the whole match where no group is written
        group = node.args.get("group") or exp.Literal.number(0)
        return plain_call("REGEXP_EXTRACT", node.this, node.expression, group)
    return node


def nth_match(node: exp.Expr, place: Place) -> exp.Expr:
    """`REGEXP_SUBSTR(x, pattern, 1, n, 'i')`, NULL where there are fewer matches."""
    parts = _parts_of_match(node) if place.write.is_spark else {}
    if not parts:
        return node
    number, position = parts.get("occurrence"), parts.get("position")
    parameters = parts["parameters"].name if parts.get("parameters") else ""  # nothing of NULL
    if position is not None and position.name != "1":
        raise UnsupportedError("no match from a position on: write SUBSTR")
    if number is None:
        return node
    group = parts.get("group") or exp.Literal.number(0)
    if "e" in parameters and group.name == "0":  # which asks for a group
        group = exp.Literal.number(1)
    searched = exp.RegexpCount(this=parts["this"].copy(), expression=parts["expression"].copy())
    searched.set("parameters", parts.get("parameters"))
    with_flags(searched, place)
    texts = [searched.this, searched.expression, group.copy()]
    found = exp.Anonymous(this="REGEXP_EXTRACT_ALL", expressions=texts)
    return exp.Anonymous(this="TRY_ELEMENT_AT", expressions=[found, number.copy()])


def _parts_of_match(node: exp.Expr) -> dict[str, exp.Expr]:
    """The arguments of REGEXP_SUBSTR by name; an older sqlglot knows no names of Oracle's."""
    if node.key in ("regexpsubstr", "regexpextract"):
        return node.args
    if isinstance(node, exp.Anonymous) and node.name.upper() == "REGEXP_SUBSTR":
        names = ("this", "expression", "position", "occurrence", "parameters")
        return dict(zip(names, node.expressions, strict=False))
    return {}
