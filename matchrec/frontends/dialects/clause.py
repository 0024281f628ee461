"""The clause of one product → the same clause as another one reads it, as edits of the text."""

from __future__ import annotations

from collections.abc import Iterator

from matchrec.frontends.dialects.additions import without_additions
from matchrec.frontends.dialects.edits import Edit
from matchrec.frontends.dialects.fragments import Fragments
from matchrec.frontends.dialects.limits import check_limits
from matchrec.frontends.dialects.product import Nulls, Product
from matchrec.frontends.lexing.tokens import TokenKind
from matchrec.frontends.sql.clause.grammar import read_clause
from matchrec.frontends.sql.clause.sections import ClauseTokens, Part, Section, find_sections
from matchrec.source import Span


def clause_edits(clause: ClauseTokens, fragments: Fragments) -> Iterator[Edit]:
    """The edits of a clause."""
    clause, additions = without_additions(clause)
    found = find_sections(clause)
    pattern = found[Part.PATTERN]
    place = clause.span(pattern.start, clause.pairs[pattern.start] + 1)
    for one in additions:
        yield from one.edits(place)
    if fragments.write is not fragments.read:
        check_limits(read_clause(clause), place, fragments.write)
    translator = _ClauseTranslator(clause, fragments)
    for part, section in found.items():
        yield from translator.section(part, section)
    yield from translator.names()
    if Part.AFTER_MATCH not in found and fragments.read.skip is not fragments.write.skip:
        start = found[Part.PATTERN].keyword.start
        yield Edit(Span(start, start), f"AFTER MATCH SKIP {fragments.read.skip.value}\n")


class _ClauseTranslator:
    def __init__(self, clause: ClauseTokens, fragments: Fragments) -> None:
        self.clause = clause
        self.fragments = fragments
        self.expressions: list[Span] = []

    def section(self, part: Part, section: Section) -> Iterator[Edit]:
        """The edits of one part."""
        if section.start == section.end:
            return
        items = self.clause.separated(section.start, section.end)
        match part:
            case Part.PARTITION_BY:
                for start, end in items:
                    yield from self.expression(start, end)
            case Part.ORDER_BY:
                for start, end in items:
                    yield from self.sort_key(start, end)
            case Part.MEASURES:
                for start, end in items:
                    yield from self.measure(start, end)
            case Part.DEFINE:
                for start, end in items:
                    yield from self.expression(start + 2, end)
            case Part.WITHIN:
                yield from self.expression(section.start, section.end)

    def expression(self, start: int, end: int) -> Iterator[Edit]:
        if start < end:
            self.expressions.append(self.clause.span(start, end))
            yield from self.fragments.expression(self.expressions[-1])

    def sort_key(self, start: int, end: int) -> Iterator[Edit]:
        clause, stop = self.clause, end
        says_nulls = end - start > 2 and clause.key(end - 2) == "NULLS"
        stop -= 2 * says_nulls
        descends = clause.key(stop - 1) == "DESC"
        stop -= clause.key(stop - 1) in ("ASC", "DESC")
        yield from self.expression(start, stop)
        here, there = (
            nulls_first(product, descends=descends)
            for product in (self.fragments.read, self.fragments.write)
        )
        if not says_nulls and here is not there:
            after = clause[end - 1].span.end
            yield Edit(Span(after, after), f" NULLS {'FIRST' if here else 'LAST'}")

    def measure(self, start: int, end: int) -> Iterator[Edit]:
        """A measure's expression; its name is the last token, after AS or not."""
        stop = end - 1 - (self.clause.key(end - 2) == "AS")
        yield from self.expression(start, stop)

    def names(self) -> Iterator[Edit]:
        """Other quotes around the names of variables and measures, which no expression holds."""
        quote = self.fragments.write.quote
        for token in self.clause.tokens:
            is_quoted = token.kind is TokenKind.QUOTED or token.in_double_quotes
            if not is_quoted or any(one.holds(token.span) for one in self.expressions):
                continue
            if self.clause.text_at(token.span)[0] != quote:
                yield Edit(token.span, f"{quote}{token.name.replace(quote, quote * 2)}{quote}")


def nulls_first(product: Product, *, descends: bool) -> bool:
    """Whether NULL comes before all values where nothing is said."""
    return {Nulls.SMALL: not descends, Nulls.LARGE: descends, Nulls.LAST: False}[product.nulls]
