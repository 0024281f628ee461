"""SQL: query text in, clauses and the text around them out.

    relation         where the clauses of a query and their relations stand
    grammar          the tokens between a clause's parentheses → MatchRecognize
    pattern_windows  row pattern windows → clauses of their own, columns in the place of calls
    locate           query → Query: each clause as a node, in the order of evaluation
    lower            clause → MatchPlan; lower_windows: that of a row pattern window
    splice           the query's text with holes where relations and clauses stood

Dropped: comments and layout inside clauses. Nothing else of the query is read, let alone changed.
"""

from matchrec.errors.kinds import shown_in
from matchrec.frontends.lexing.tokens import SPARK, Dialect, read_tokens
from matchrec.frontends.sql.grammar import all_tokens, read_clause
from matchrec.frontends.sql.locate import may_have_clause, parse
from matchrec.frontends.sql.nodes import MatchRecognize, Query, Site
from matchrec.source import Origin, Source

__all__ = [
    "MatchRecognize",
    "Query",
    "Site",
    "may_have_clause",
    "parse",
    "parse_clause",
]


def parse_clause(
    text: str, dialect: Dialect = SPARK, origin: Origin | None = None
) -> MatchRecognize:
    """The clause of which `text` is what stands between the parentheses."""
    with shown_in(Source(text, origin)):
        return read_clause(all_tokens(read_tokens(text, dialect)))
