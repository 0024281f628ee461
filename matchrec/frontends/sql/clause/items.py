"""What the parts of a clause have in common: items between commas, and expressions."""

from __future__ import annotations

from matchrec.errors.sql import clause as errors
from matchrec.frontends.sql.clause.nodes import ExpressionText
from matchrec.frontends.sql.clause.sections import ClauseTokens, Section


def items_of(clause: ClauseTokens, section: Section) -> tuple[tuple[int, int], ...]:
    """The index ranges between the commas of a section, none of them empty."""
    if section.start == section.end:
        raise errors.nothing_in(section.part.value, section.keyword)
    parts = clause.separated(section.start, section.end)
    for start, end in parts:
        if start == end:
            comma = end if end < section.end else end - 1
            raise errors.nothing_beside_comma(section.part.value, clause[comma].span)
    return parts


def expression_at(clause: ClauseTokens, start: int, end: int) -> ExpressionText:
    span = clause.span(start, end)
    return ExpressionText(clause.text_at(span), span)
