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
from matchrec.frontends.dialects.product import Product, Rules
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

    def relation(self, span: Span, holes: Sequence[Span]) -> Iterator[Edit]:
        """The edits of what stands after FROM. holes: as of `query`."""
        return self._edits(span, holes, _SELECT, None)

    def query(self, span: Span, holes: Sequence[Span] = ()) -> Iterator[Edit]:
        """The edits of a query. holes: relations with their clauses, beside those of the text."""
        return self._edits(span, holes, "", None)

    def expression(self, span: Span, rules: Rules = ()) -> Iterator[Edit]:
        """The edits of an expression in a clause. rules: of the part in which it stands."""
        return self._edits(span, (), "", rules)

    def expression_text(self, span: Span) -> str:
        """An expression in the other product's SQL."""
        edits = [Edit(e.span.shifted(-span.start), e.text) for e in self.expression(span)]
        return edited(self.text[span.start : span.end], edits).text

    def _edits(
        self, span: Span, holes: Sequence[Span], before: str, rules: Rules | None
    ) -> Iterator[Edit]:
        """The edits of a fragment. before: what makes a query of the characters at `span`."""
        places = _outermost([*holes, *(hole for hole in self.holes if span.holds(hole))])
        names = {f"{_HOLE}{number}": place for number, place in enumerate(places)}
        masks = [Edit(place.shifted(-span.start), name) for name, place in names.items()]
        text = self.text[span.start : span.end]
        masked = edited(text, [Edit(Span(0, 0), before), *masks])
        between = self._between(masked.text, frozenset(names), span, rules)
        for edit in masked.composed(between):
            yield Edit(edit.span.shifted(span.start), edit.text)

    def _between(
        self, old: str, anchors: frozenset[str], span: Span, rules: Rules | None
    ) -> Iterator[Edit]:
        try:
            new, remarks = translated(old, self.read, self.write, rules)
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


def _outermost(spans: Sequence[Span]) -> list[Span]:
    """The spans that lie in no other one, in the order of the text."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda one: (one.start, -one.end)):
        if not found or span.start >= found[-1].end:
            found.append(span)
    return found
