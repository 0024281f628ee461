"""SASE+, a language of event patterns: from the text of a query to a `MatchPlan`.

    parser       reads a text to a `SaseQuery`, with the help of `query_tokens`, `expressions`,
                 `windows` and, for its errors, `component_repairs`
    nodes        the parts of a `SaseQuery`
    lower        makes a `MatchPlan` of it, with the help of `conjuncts` and `test_points`:
                 components become variables, predicates their conditions

An example, and what becomes of it:

    PATTERN SEQ(Stock+ a[], Stock b)                          a[1] a[i]* b
    WHERE skip_till_next_match(a[], b) {                      skip till next match
        [symbol] AND a[i].price > avg(a[..i-1].price) }       partitions; a condition of a[i]
    WITHIN 1 hour

A plan has no event types: they become conditions.
Source: Agrawal, Diao, Gyllstrom, Immerman, "Efficient Pattern Matching over Event Streams", 2008.
"""

from __future__ import annotations

from matchrec.errors.kinds import locate_errors
from matchrec.errors.language import SASE
from matchrec.patterns.sase.lower import lower_sase
from matchrec.patterns.sase.nodes import Streams
from matchrec.patterns.sase.parser import parse_once
from matchrec.plan.match_plan import MatchPlan
from matchrec.source import Source

__all__ = ["Streams", "compile_sase"]


def compile_sase(query: str | Source, streams: Streams) -> MatchPlan:
    """Return the plan of a query.

    Args:
        query: the text of the query, or a source whose text it is. Errors show the author's text.
        streams: how events are ordered and divided.

    Raises:
        MatchRecognizeError: the query is wrong.
    """
    source = Source(query) if isinstance(query, str) else query
    with locate_errors(source, SASE):
        return lower_sase(parse_once(source.text, source.origin), streams)
