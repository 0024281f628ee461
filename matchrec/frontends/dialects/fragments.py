"""Fragments of a query, each translated by itself, around the holes that are not its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from functools import partial

from sqlglot.errors import ParseError, TokenError, UnsupportedError

from matchrec.dataclass import dataclass
from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.errors.sql import dialects as errors
from matchrec.frontends.dialects.alignment import edits_between
from matchrec.frontends.dialects.edits import Edit, Edited, edited
from matchrec.frontends.dialects.notes import Note
from matchrec.frontends.dialects.product import Product
from matchrec.frontends.dialects.rules.columns import Kinds, KnownColumns, Tables, no_tables
from matchrec.frontends.dialects.rules.of_products import rules_between
from matchrec.frontends.dialects.rules.place import Place
from matchrec.frontends.dialects.sqlglot_translation import tokens_in, translated
from matchrec.frontends.lexing.sqlglot_parser import reason_of, stopped_at
from matchrec.frontends.lexing.token_sequence import TokenSequence, sequence_of
from matchrec.source import Span

_HOLE = "hole_of_match_recognize_"
_SELECT = "SELECT * FROM "
_ABSENT = re.compile(r"no ([A-Za-z_. ]+?)[(:]")  # what a rule refuses by name


@dataclass(frozen=True, slots=True)
class Fragments:
    """Translates fragments of one text. holes: characters that no fragment reads, in order.

    windows: holes between the parentheses of windows, where sqlglot reads a key; a name alone there
    would be another window's, which its versions print with parentheses or without.
    rows: the columns of clauses' rows by the places of relation and clause. tables: the columns of
    tables. values: of the query's parameters, as far as they are known. notes: what was found to
    differ, in the order in which fragments are translated. missed: columns whose kinds rules ask
    for.
    """

    text: str
    read: Product
    write: Product
    holes: tuple[Span, ...] = ()
    windows: frozenset[Span] = frozenset()
    rows: Mapping[Span, Kinds] = field(default_factory=dict)
    tables: Tables = no_tables
    values: Mapping[str, object] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def relation(self, span: Span, holes: Sequence[Span]) -> Iterator[Edit]:
        """The edits of what stands after FROM. holes: as of `query`."""
        return self._edits(span, holes, _SELECT)

    def query(self, span: Span, holes: Sequence[Span] = ()) -> Iterator[Edit]:
        """The edits of a query. holes: relations with their clauses, beside those of the text."""
        return self._edits(span, holes)

    def expression(self, span: Span, place: Place) -> Iterator[Edit]:
        """The edits of an expression of a clause."""
        return self._edits(span, place=place)

    def expression_text(self, span: Span, place: Place) -> str:
        """An expression of a clause in the other product's SQL."""
        edits = self.expression(span, place)
        shifted = [Edit(one.span.shifted(-span.start), one.text) for one in edits]
        return edited(self.text[span.start : span.end], shifted).text

    def _edits(
        self,
        span: Span,
        holes: Sequence[Span] = (),
        before: str = "",
        place: Place | None = None,
    ) -> Iterator[Edit]:
        """The edits of a fragment. before: what makes a query of the characters at `span`."""
        own = _outermost([*holes, *(hole for hole in self.holes if span.holds(hole))])
        names = {f"{_HOLE}{number}": hole for number, hole in enumerate(own)}
        masks = [
            Edit(
                hole.shifted(-span.start), f"PARTITION BY {name}" if hole in self.windows else name
            )
            for name, hole in names.items()
        ]
        masked = edited(self.text[span.start : span.end], [Edit(Span(0, 0), before), *masks])
        found = self._between(masked, names, span, place or self._outside(names))
        for edit in masked.composed(found):
            yield Edit(edit.span.shifted(span.start), edit.text)

    def _outside(self, names: Mapping[str, Span]) -> Place:
        """The place of what stands in no clause. names: of the holes in it."""
        sources = {name: self.rows[hole] for name, hole in names.items() if hole in self.rows}
        known = KnownColumns(sources=sources, tables=self.tables)
        return Place(self.read, self.write, columns=known)

    def _between(
        self, masked: Edited, names: Mapping[str, Span], span: Span, place: Place
    ) -> Iterator[Edit]:
        """The edits of a fragment. names: of the holes in it."""
        old = masked.text
        if self.read == self.write:
            return
        tokenizers = partial(tokens_in, product=self.read), partial(tokens_in, product=self.write)
        try:
            new = translated(old, place, rules_between(self.read, self.write))
            self.notes.extend(Note(one.message, span, one.is_met) for one in place.remarks)
            self.missed.extend(place.columns.missed)
            if new is None:
                return
            found = list(edits_between(old, new, tokenizers, frozenset(names)))
        except ParseError as error:
            stop = stopped_at(error, tokens_in(old, self.read))
            if stop is not None:
                span = masked.before(Span(stop.start, stop.end + 1)).shifted(span.start)
            raise errors.unreadable(self.read.title, reason_of(error), span) from error
        except TokenError as error:
            raise errors.unreadable(self.read.title, str(error), span) from error
        except UnsupportedError as error:
            raise self._cannot_say(error, span, place) from error
        except ValueError:
            raise errors.moved(self.write.title, span) from None
        yield from found

    def _cannot_say(
        self, error: UnsupportedError, span: Span, place: Place
    ) -> MatchRecognizeUnsupportedError:
        """The error of a fragment, or of the shortest call in it that is refused as well."""
        rules = rules_between(self.read, self.write)
        text = self.text[span.start : span.end]
        tokens = sequence_of(tokens_in(text, self.read), text)
        named = _named_in(str(error), tokens)
        if named is not None:
            return errors.cannot_say(self.write.title, str(error), named.shifted(span.start))
        calls = [index for index in range(len(tokens)) if tokens.is_call(index)]
        for start in sorted(calls, key=lambda index: tokens.pairs[index + 1] - index):
            call = tokens.span(start, tokens.pairs[start + 1] + 1)
            try:
                translated(text[call.start : call.end], place, rules)
            except UnsupportedError as found:
                name, where = tokens.key(start), call.shifted(span.start)
                titles = self.read.title, self.write.title
                return errors.cannot_call(titles, name, str(found), where)
            except (ParseError, TokenError):
                continue
        return errors.cannot_say(self.write.title, str(error), span)


def _named_in(reason: str, tokens: TokenSequence) -> Span | None:
    """Where the words stand that a reason says there are none of: `no ROWNUM: ...`."""
    found = _ABSENT.match(reason)
    words = found.group(1).upper() if found else None
    for start in range(len(tokens)):
        for end in range(start + 1, min(start + 4, len(tokens)) + 1):
            span = tokens.span(start, end)
            if tokens.text_at(span).upper() == words:
                return span
    return None


def _outermost(spans: Sequence[Span]) -> list[Span]:
    """The spans that lie in no other one, in the order of the text."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda one: (one.start, -one.end)):
        if not found or span.start >= found[-1].end:
            found.append(span)
    return found
