"""SASE+, a language of event patterns: from the text of a query to a `MatchPlan`.

    parser       parses a text to a `SaseQuery`, with the help of `query_tokens`, `expressions` and
                 `windows`; `query_mistakes` and `component_repairs` find what its errors suggest
    nodes        the parts of a `SaseQuery`
    lower        lowers a `SaseQuery` to a `MatchPlan`, with the help of `conjuncts` and
                 `test_points`: components become variables, and predicates their conditions

An example, and the parts of its plan:

    PATTERN SEQ(Stock+ a[], Stock b)                          the row pattern `a[1] a[i]* b`
    WHERE skip_till_next_match(a[], b) {                      SKIP TILL NEXT MATCH
        [symbol] AND a[i].price > avg(a[..i-1].price) }       a key of the partitions, and a
                                                              condition of `a[i]`
    WITHIN 1 hour                                             WITHIN INTERVAL 1 HOUR

A plan has no event types: they become conditions.
Source: Agrawal, Diao, Gyllstrom, Immerman, "Efficient Pattern Matching over Event Streams", 2008.
"""

from __future__ import annotations

from matchrec.errors.kinds import locate_errors
from matchrec.errors.language import SASE
from matchrec.errors.sase_hints import use_type_column
from matchrec.patterns.sase.lower import lower_sase
from matchrec.patterns.sase.nodes import StreamOptions
from matchrec.patterns.sase.parser import parse_once
from matchrec.plan.match_plan import MatchPlan
from matchrec.source import Source

__all__ = ["StreamOptions", "compile_sase"]


def compile_sase(query: str | Source, options: StreamOptions) -> MatchPlan:
    """Return the plan of a query.

    Args:
        query: the text of the query. If it was translated from another text, the source that knows
            this text: errors show what the user wrote.
        options: how events are ordered and divided.

    Raises:
        MatchRecognizeError: the text is not a SASE+ query, or has no meaning as a plan.
    """
    source = Source(query) if isinstance(query, str) else query
    with locate_errors(source, SASE), use_type_column(options.type_column):
        return lower_sase(parse_once(source.text, source.origin), options)
