"""Templates: SQL text with holes for DataFrames.

A hole is a `View`, which a DataFrame fills when the query runs. A template is cut up at its holes:

    SELECT x FROM {trades}      ("SELECT x FROM ", View("trades"))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from matchrec.source import Span

# The type of the pieces between the texts of a cut-up text, such as references or views.
Inner = TypeVar("Inner")

# Spans of a text, each with the pieces that replace it.
SpanReplacements = Iterable[tuple[Span, Iterable[Inner]]]


@dataclass(frozen=True, slots=True)
class View:
    """A hole for a DataFrame that the user passed, or for the rows of an evaluated clause."""

    # The name of the hole, by which its DataFrame is passed to the session.
    name: str
    # How many characters of the user's text the hole replaces. A shorter text in the hole is padded
    # to this width, so that the text after the hole stays in its column.
    width: int = field(default=0, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Replacement:
    """Text that replaces a part of the user's text."""

    # The new text.
    text: str
    # How many characters of the user's text are replaced.
    width: int


# A text that is cut up at its views and replacements, which are separate pieces.
Template = tuple[str | View | Replacement, ...]


def join_template(*pieces: str | View | Replacement | Template) -> Template:
    """Join pieces and templates to one template.

    >>> join_template("SELECT 1 FROM ", View("t"), join_template(" WHERE ", "x"))
    ('SELECT 1 FROM ', View(name='t'), ' WHERE ', 'x')
    """
    template: list[str | View | Replacement] = []
    for piece in pieces:
        template += piece if isinstance(piece, tuple) else (piece,)
    return tuple(template)


def write_select(
    select_list: Template, relation: Template, with_clauses: Sequence[Template] = ()
) -> Template:
    """Return the query of a select list over a relation.

    Args:
        select_list: the text between SELECT and FROM.
        relation: the text after FROM.
        with_clauses: the WITH clauses before the query, outermost first.

    >>> write_select(("x",), (View("t"), " AS u"))
    ('SELECT x FROM ', View(name='t'), ' AS u')
    """
    query = join_template("SELECT ", select_list, " FROM ", relation)
    return nest_in_with_clauses(query, with_clauses)


def nest_in_with_clauses(query: Template, with_clauses: Sequence[Template]) -> Template:
    """Return a query after WITH clauses whose tables it may name.

    The WITH clauses keep their nesting, so that a name that is defined twice has the same meaning
    as in the user's query.

    Args:
        query: the text of a SELECT.
        with_clauses: the WITH clauses, outermost first.

    >>> nest_in_with_clauses(("SELECT 1",), [("WITH a AS (...)",), ("WITH b AS (...)",)])
    ('WITH a AS (...) (WITH b AS (...) SELECT 1)',)
    """
    for depth, with_clause in reversed(tuple(enumerate(with_clauses))):
        query = join_template(with_clause, " ", query)
        if depth > 0:
            query = join_template("(", query, ")")
    return join_texts(query)


def replace_spans(
    write: Callable[[Span], str], span: Span, replacements: SpanReplacements[Inner]
) -> Iterator[str | Inner]:
    """Yield the text at a span in pieces, with other pieces instead of some spans inside it.

    Args:
        write: returns the text at a span.
        span: the span of the whole text.
        replacements: the spans to replace, in any order, each with the pieces that replace it. A
            span that begins inside another one is ignored.

    >>> text = "max(x) + 1"
    >>> replacements = [(Span(0, 6), ("y",))]
    >>> list(replace_spans(lambda span: text[span.start : span.end], Span(0, 10), replacements))
    ['', 'y', ' + 1']
    """
    position = span.start
    # Of spans that begin at one character, the longest comes first.
    ordered_replacements = sorted(replacements, key=lambda pair: (pair[0].start, -pair[0].end))
    for replaced_span, pieces in ordered_replacements:
        if replaced_span.start >= position:
            yield write(Span(position, replaced_span.start))
            yield from pieces
            position = replaced_span.end
    yield write(Span(position, span.end))


def separate_words(pieces: Iterable[Inner]) -> Iterator[str | Inner]:
    """Yield the pieces, with a blank between two pieces whose words would become one word.

    A hole counts as a word: `FROM(SELECT 1)AS m` needs no blanks, but `FROM`, a hole and `AS m` do.

    >>> list(separate_words(["FROM", View("t"), "AS m"]))
    ['FROM', ' ', View(name='t'), ' ', 'AS m']
    """
    text_before = ""
    for piece in pieces:
        content = piece.text if isinstance(piece, Replacement) else piece
        text = content if isinstance(content, str) else "_"
        if would_touch(text_before, text):
            yield " "
        yield piece
        text_before = text or text_before


def would_touch(left: str, right: str) -> bool:
    """Return whether the last word of a text and the first word of the next text would join.

    >>> would_touch("FROM", "v"), would_touch("FROM ", "v"), would_touch("x)", "AND")
    (True, False, False)
    """
    return all(edge.isalnum() or edge == "_" for edge in (left[-1:], right[:1]))


def join_texts(pieces: Iterable[str | Inner]) -> tuple[str | Inner, ...]:
    """Return the pieces with adjacent texts joined, and without empty texts.

    >>> join_texts(["a", "", "b", View("t"), "c"])
    ('ab', View(name='t'), 'c')
    """
    joined_pieces: list[Any] = []
    for piece in pieces:
        if isinstance(piece, str) and joined_pieces and isinstance(joined_pieces[-1], str):
            joined_pieces[-1] += piece
        elif piece != "":
            joined_pieces.append(piece)
    return tuple(joined_pieces)
