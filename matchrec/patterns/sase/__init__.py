"""SASE+: the language of event patterns; query text in, `MatchPlan` out.

    parser   text → SaseQuery: its clauses, with expressions as the reader of SQL reads them
    lower    SaseQuery → MatchPlan: components become variables, predicates their conditions

    PATTERN SEQ(Stock+ a[], Stock b)                          a[1] a[i]* b
    WHERE skip_till_next_match(a[], b) {                      skip till next match
        [symbol] AND a[i].price > avg(a[..i-1].price) }       partitions; a condition of a[i]
    WITHIN 1 hour

Dropped: layout and comments, and the names of events' types, which become conditions.
Source: Agrawal, Diao, Gyllstrom, Immerman, "Efficient Pattern Matching over Event Streams", 2008.
"""

from __future__ import annotations

from matchrec.errors.kinds import shown_in
from matchrec.errors.language import SASE
from matchrec.patterns.sase.lower import lower
from matchrec.patterns.sase.nodes import Streams
from matchrec.patterns.sase.parser import parse_once
from matchrec.plan.match_plan import MatchPlan
from matchrec.source import Source

__all__ = ["Streams", "compile_sase"]


def compile_sase(query: str | Source, streams: Streams) -> MatchPlan:
    """The plan of a query's text; errors show their lines of it, or of what it was made of."""
    source = Source(query) if isinstance(query, str) else query
    with shown_in(source, SASE):
        return lower(parse_once(source.text, source.origin), streams)
