"""SQL of ours says what of the user's it computes, so that a failure of Spark's says it too.

    SELECT `day` AS __c0,                       [DIVIDE_BY_ZERO] Division by zero. ...
    /* DEFINE A, line 5 */ 10 / `b` > 2    →    == SQL (line 2, position 24) ==
     AS __x1 FROM t                             /* DEFINE A, line 5 */ 10 / `b` > 2
                                                                       ^^^^^^^^
Whoever calls an action on a DataFrame reads that. `MatchRecognizeRunError.from_exception` finds the
characters in the user's text again, by the line of SQL that Spark shows: it is the one thing that
PySpark 3.5 tells as well, and a client of Connect, and Spark cuts it 32 characters beside the
carets. So what SQL was made lately is kept here.
"""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice

from matchrec.errors.language import as_note, holding
from matchrec.source import Source, Span

KEPT = 4096  # texts of SQL, of a line or a few each

_READ: ContextVar[Source | None] = ContextVar("text of the query", default=None)
_FAILURE = re.compile(
    r"\[[A-Z][A-Z0-9_.]+\] (?P<said>(?:(?!\[[A-Z][A-Z0-9_]+\] ).)*?)(?:\s*SQLSTATE: \w+)?"
    r"\n== SQL[^\n]*==\n(?P<shown>(?:[^\n]*\n *\^+ *(?:\n|$))+)",
    re.DOTALL,
)
_COLUMN = re.compile(r"`(?:[^`]|``)*`|\w+")
_GENERATED = re.compile(r"(?<![\w`])__(e\.)?[a-z]+\d*( /\*.*?\*/)?")
_TOKEN = re.compile(r"`(?:[^`]|``)*`|'(?:[^'\\]|\\.)*'|\w+|\S")
_NESTED = r"\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)"
_NAVIGATION = rf"[\w`]+(?:\s*\.\s*[\w`*]+)*(?:\s*{_NESTED})?"


@dataclass(frozen=True, slots=True)
class SqlOrigin:
    """What of the user's some SQL computes. Picklable.

    what: in a sentence. label: the clause and the name. span: in `text`, which the user wrote; both
    are None where there is no text.
    """

    what: str
    label: str
    span: Span | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """What could not be computed, as an error says it. span: in the text, if there is one."""

    message: str
    span: Span | None
    text: str | None
    hint: str | None


_KEPT: dict[str, SqlOrigin] = {}


def reading(source: Source) -> AbstractContextManager[None]:
    return holding(_READ, source)


def origin(what: str, label: str, span: Span | None) -> SqlOrigin:
    """The origin of SQL whose `span` is in the text that is being read."""
    known = _READ.get()
    if known is None or span is None:
        return SqlOrigin(what, label)
    source, place = known.written(span)
    return SqlOrigin(what, label, place, source.text)


def with_origin(sql: str, known: SqlOrigin | None) -> str:
    """The SQL in a line of its own that says where it is from; a plain column as it is.

    >>> with_origin("10 / `b` > 2", SqlOrigin("the condition of `A`", "DEFINE A"))
    '\\n/* DEFINE A */ 10 / `b` > 2\\n'
    """
    if known is None or _COLUMN.fullmatch(sql):
        return sql
    label = re.sub(r"[^\w ,.]", "_", known.label)
    if known.text is not None and known.span is not None:
        label += f", line {Source(known.text).position(known.span.start)[0]}"
    written = f"\n/* {label} */ {sql}\n"
    _KEPT.pop(written, None)
    _KEPT[written] = known
    for oldest in tuple(islice(_KEPT, max(0, len(_KEPT) - KEPT))):
        _KEPT.pop(oldest, None)
    return written


def commented(name: str, meaning: str) -> str:
    """A name of ours with what the user wrote for it.

    >>> commented("__r1", "LAST(A.b)")
    '__r1 /* LAST(A.b) */'
    """
    line = re.sub(r"\s+|[*]/|/[*]", " ", meaning)
    return f"{name} /* {line} */"


def read(text: str) -> Failure | None:
    """The failure in SQL of ours of which a text of Spark's speaks; None of any other text."""
    if (failure := _FAILURE.search(text)) is None:
        return None
    shown = failure["shown"].rstrip("\n").split("\n")
    part, fragment = parts_of(shown[::2], shown[1::2])
    kept = reversed(tuple(_KEPT.items()))
    found = next((known for sql, known in kept if part in sql), None)
    return None if found is None else failure_of(found, fragment, failure["said"])


def parts_of(lines: list[str], carets: list[str]) -> tuple[str, str]:
    """The SQL that Spark shows, whole lines where it cuts none, and what of it is over the carets.

    >>> parts_of(["...b > 0 AND 10 / `b` > 2"], ["             ^^^^^^^^"])
    ('b > 0 AND 10 / `b` > 2\\n', '10 / `b`')
    """
    whole = "\n".join(lines)
    end = len(whole) - len(lines[-1]) + len(carets[-1].rstrip())
    fragment = whole[carets[0].index("^") : end]
    part = whole[3:] if whole.startswith("...") else f"\n{whole}"
    return part[:-3] if part.endswith("...") else f"{part}\n", fragment


def failure_of(known: SqlOrigin, fragment: str, said: str) -> Failure:
    """What Spark says of a fragment of our SQL, in the user's terms; of all of it without one."""
    sentence, *cures = re.split(r"\.\s+(?=[A-Z][a-z ])", said.rstrip(". "))
    span = known.span
    if fragment and known.text is not None and span is not None:
        span = place_of(fragment, known.text, span)
    message = f"{known.what} cannot be computed: {as_note(sentence)}"
    return Failure(message, span, known.text, "; ".join(map(as_note, cures)) or None)


def place_of(fragment: str, text: str, span: Span) -> Span:
    """Where in `span` of the user's text a fragment of our SQL is written; else all of it.

    >>> place_of("10 / `b`", "A AS b > 1 AND 10/A.b > 2", Span(5, 25))
    Span(start=15, end=21)
    >>> place_of("10 / __s0 /* PREV(b) */", "A AS 10 / PREV(b) > 2", Span(5, 21))
    Span(start=5, end=17)
    """
    tokens = _TOKEN.findall(_GENERATED.sub("\0", fragment))
    pattern = r"\s*".join(map(as_written, tokens))
    found = re.compile(rf"(?<!\w){pattern}(?!\w)", re.IGNORECASE).search(text, span.start, span.end)
    return Span(*found.span()) if found else span


def as_written(token: str) -> str:
    """The ways to write a token of our SQL, as a regular expression: PREV(LAST(A.b), 2) for `b`."""
    if token == "\0":
        return _NAVIGATION
    if token[0] == "`":
        name = rf"(?:[\w`]+\s*\.\s*)*`?{re.escape(token[1:-1])}`?"
        once = rf"(?:{name}|\w+\s*\(\s*{name}\s*(?:,\s*\d+\s*)?\))"
        return rf"(?:{once}|\w+\s*\(\s*{once}\s*(?:,\s*\d+\s*)?\))"
    return re.escape(token)
