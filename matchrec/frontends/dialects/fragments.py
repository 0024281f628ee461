"""Fragments of a query, each translated by itself, around the holes that are not its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from sqlglot.errors import ParseError, TokenError, UnsupportedError

from matchrec.errors.sql import dialects as errors
from matchrec.frontends.dialects.alignment import edits_between
from matchrec.frontends.dialects.edits import Edit, edited
from matchrec.frontends.dialects.notes import Note
from matchrec.frontends.dialects.product import Product
from matchrec.frontends.dialects.sqlglot_translation import tokens_in, translated
from matchrec.frontends.lexing.sqlglot_parser import reason_of
from matchrec.source import Span

_HOLE = "hole_of_match_recognize_"
_SELECT = "SELECT * FROM "


@dataclass(frozen=True, slots=True)
class Fragments:
    """Translates fragments of one text. holes: characters that no fragment reads, in order.

    notes: what was found to differ, in the order in which fragments are translated.
    """

    text: str
    read: Product
    write: Product
    holes: tuple[Span, ...] = ()
    notes: list[Note] = field(default_factory=list)

    def expression(self, span: Span) -> Iterator[Edit]:
        """The edits of an expression, or of a whole query."""
        return self._fragment(span, "", self._holes_in(span))

    def relation(self, span: Span, holes: Sequence[Span]) -> Iterator[Edit]:
        """The edits of what stands after FROM."""
        return self._fragment(span, _SELECT, (*holes, *self._holes_in(span)))

    def query(self, span: Span, holes: Sequence[Span]) -> Iterator[Edit]:
        """The edits of a query. holes: relations with their clauses, beside those of the text."""
        return self._fragment(span, "", (*holes, *self._holes_in(span)))

    def _holes_in(self, span: Span) -> tuple[Span, ...]:
        return tuple(hole for hole in self.holes if span.holds(hole))

    def _fragment(self, span: Span, prefix: str, holes: Sequence[Span]) -> Iterator[Edit]:
        outermost = [
            one for one in holes if not any(two.holds(one) and two != one for two in holes)
        ]
        start = Span(span.start, span.start)
        names = tuple(f"{_HOLE}{number}" for number in range(len(outermost)))
        fills = [
            Edit(hole, name) for hole, name in zip(sorted_spans(outermost), names, strict=True)
        ]
        masks = [Edit(start, prefix)] * bool(prefix) + [Edit(one.span, one.text) for one in fills]
        masked = edited(self.text[: span.end], masks)
        shift = span.start
        old = masked.text[shift:]
        for edit in self._edits(old, frozenset(names), span):
            place = Span(edit.span.start + shift, edit.span.end + shift)
            yield from masked.composed([Edit(place, edit.text)])

    def _edits(self, old: str, anchors: frozenset[str], span: Span) -> Iterator[Edit]:
        try:
            new, remarks = translated(old, self.read, self.write)
            self.notes.extend(Note(remark, span) for remark in remarks)
            if new is None:
                return
            tokenizers = (
                partial(tokens_in, product=self.read),
                partial(tokens_in, product=self.write),
            )
            found = list(edits_between(old, new, tokenizers, anchors))
        except ParseError as error:
            raise errors.unreadable(self.read.title, reason_of(error), span) from error
        except TokenError as error:
            raise errors.unreadable(self.read.title, str(error), span) from error
        except UnsupportedError as error:
            raise errors.cannot_say(self.write.title, str(error), span) from error
        except ValueError:
            raise errors.moved(self.write.title, span) from None
        yield from found


def sorted_spans(spans: Sequence[Span]) -> list[Span]:
    """The spans in the order of the text."""
    return sorted(spans, key=lambda one: (one.start, one.end))
