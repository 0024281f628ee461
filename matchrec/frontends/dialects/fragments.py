"""Fragments of a query, each translated by itself, around the holes that are not its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from sqlglot.errors import ParseError, TokenError, UnsupportedError

from matchrec.errors.sql import dialects as errors
from matchrec.frontends.dialects.alignment import edits_between
from matchrec.frontends.dialects.edits import Edit, edited
from matchrec.frontends.dialects.notes import Note
from matchrec.frontends.dialects.product import Product, Rule, Rules
from matchrec.frontends.dialects.sqlglot_translation import tokens_in, translated
from matchrec.frontends.dialects.typed.context import Context, Kinds, TypedRule
from matchrec.frontends.dialects.typed.quotient import quotient
from matchrec.frontends.lexing.sqlglot_parser import reason_of
from matchrec.frontends.sql.clause.nodes import ExpressionText
from matchrec.source import Span

_HOLE = "hole_of_match_recognize_"
_SELECT = "SELECT * FROM "


@dataclass(frozen=True, slots=True)
class Fragments:
    """Translates fragments of one text. holes: characters that no fragment reads, in order.

    columns, order: of the clause whose expressions these are; None outside clauses. of_rows:
    whether they are measures that are seen from every row of a match. in_define: whether they are
    conditions of variables. rows: the columns of clauses'
    rows by the places of relation and clause. notes: what was found to differ, in the order in
    which fragments are translated. missed: columns whose types rules ask for.
    """

    text: str
    read: Product
    write: Product
    holes: tuple[Span, ...] = ()
    columns: Kinds | None = None
    order: str | None = None
    of_rows: bool = False
    in_define: bool = False
    rows: Mapping[Span, Kinds] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def of_clause(self, columns: Kinds) -> Fragments:
        """The same for the expressions of a clause. columns: of its input, as far as is known."""
        return replace(self, columns=columns)

    def ordered(self, order: str | None) -> Fragments:
        """The same where the first key of ORDER BY is known."""
        return replace(self, order=order)

    def relation(self, span: Span, holes: Sequence[Span]) -> Iterator[Edit]:
        """The edits of what stands after FROM. holes: as of `edits`."""
        return self._edits(span, holes, _SELECT)

    def query(self, span: Span, holes: Sequence[Span] = ()) -> Iterator[Edit]:
        """The edits of a query. holes: relations with their clauses, beside those of the text."""
        return self._edits(span, holes)

    def expression(self, span: Span, rules: Rules = ()) -> Iterator[Edit]:
        """The edits of an expression. rules: of the part of a clause in which it stands."""
        return self._edits(span, rules=rules)

    def expression_text(self, span: Span) -> str:
        """An expression in the other product's SQL."""
        edits = [Edit(one.span.shifted(-span.start), one.text) for one in self.expression(span)]
        return edited(self.text[span.start : span.end], edits).text

    def _edits(
        self, span: Span, holes: Sequence[Span] = (), before: str = "", rules: Rules = ()
    ) -> Iterator[Edit]:
        """The edits of a fragment. before: what makes a query of the characters at `span`."""
        places = _outermost([*holes, *(hole for hole in self.holes if span.holds(hole))])
        names = {f"{_HOLE}{number}": place for number, place in enumerate(places)}
        masks = [Edit(place.shifted(-span.start), name) for name, place in names.items()]
        text = self.text[span.start : span.end]
        masked = edited(text, [Edit(Span(0, 0), before), *masks])
        for edit in masked.composed(self._between(masked.text, names, span, rules)):
            yield Edit(edit.span.shifted(span.start), edit.text)

    def written(self, expression: ExpressionText) -> str:
        """An expression of the clause in the language to write."""
        return replace(self, notes=[], missed=[]).expression_text(expression.span)

    def _between(
        self, old: str, places: Mapping[str, Span], span: Span, rules: Rules
    ) -> Iterator[Edit]:
        """The edits of a fragment. places: by the names that stand for them in it."""
        if self.read == self.write:
            return
        sources = {name: self.rows[at] for name, at in places.items() if at in self.rows}
        context = Context(self.columns, sources, self.order, self.of_rows, self.in_define)
        try:
            functions = {} if self.columns is None else self.read.functions
            rules = (*rules, *self._rules(context))
            new = translated(old, self.read, self.write, functions, rules)
            self.notes.extend(Note(remark, span) for remark in dict.fromkeys(context.remarks))
            self.missed.extend(context.missed)
            if new is None:
                return
            tokenizers = (
                partial(tokens_in, product=self.read),
                partial(tokens_in, product=self.write),
            )
            found = list(edits_between(old, new, tokenizers, frozenset(places)))
        except ParseError as error:
            raise errors.unreadable(self.read.title, reason_of(error), span) from error
        except TokenError as error:
            raise errors.unreadable(self.read.title, str(error), span) from error
        except UnsupportedError as error:
            raise errors.cannot_say(self.write.title, str(error), span) from error
        except ValueError:
            raise errors.moved(self.write.title, span) from None
        yield from found

    def _rules(self, context: Context) -> Rules:
        def asking(rule: TypedRule) -> Rule:
            return lambda node: rule(node, context)

        division: TypedRule = partial(quotient, read=self.read, write=self.write)
        typed = map(asking, (*self.read.typed, division))
        return (*self.read.reads, *typed, *self.write.writes)


def _outermost(spans: Sequence[Span]) -> list[Span]:
    """The spans that lie in no other one, in the order of the text."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda one: (one.start, -one.end)):
        if not found or span.start >= found[-1].end:
            found.append(span)
    return found
