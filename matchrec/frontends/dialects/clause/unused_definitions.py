"""Definitions of variables that PATTERN has not, which some products take and others refuse."""

from __future__ import annotations

from dataclasses import replace

from matchrec.frontends.sql.clause.nodes import MatchRecognize
from matchrec.frontends.sql.clause.sections import ClauseTokens, Part, find_sections
from matchrec.plan.pattern import variable_names
from matchrec.source import Span


def without_unused(
    tokens: ClauseTokens, clause: MatchRecognize
) -> tuple[MatchRecognize, list[Span]]:
    """The clause without definitions of variables that PATTERN has not, and what to take out."""
    used = set(variable_names(clause.pattern))
    kept = tuple(one for one in clause.definitions if one.variable in used)
    if len(kept) == len(clause.definitions):
        return clause, []
    if not kept:
        keyword = find_sections(tokens)[Part.DEFINE].keyword
        end = clause.definitions[-1].condition.span.end
        return replace(clause, definitions=()), [Span(keyword.start, end)]
    spans, before = [], None
    following = (*(one.span.start for one in clause.definitions[1:]), None)
    for one, after in zip(clause.definitions, following, strict=True):
        if one in kept:
            before = one.condition.span.end
        elif after is not None and before is None:
            spans.append(Span(one.span.start, after))
        else:
            spans.append(Span(before or one.span.start, one.condition.span.end))
            before = one.condition.span.end
    return replace(clause, definitions=kept), spans
