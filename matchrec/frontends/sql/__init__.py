"""SQL: query text in, clauses and the text around them out.

    parse         query → Query: each clause as a node, in the order of evaluation
    lower         clause → MatchPlan
    windows       row pattern windows → clauses of their own, and columns in the place of calls
    splice        the query's text with holes where relations and clauses stood

Dropped: comments and layout inside clauses. Nothing else of the query is read, let alone changed.
"""

from matchrec.errors.kinds import shown_in
from matchrec.frontends.lexing.dialect import SPARK, Dialect
from matchrec.frontends.lexing.token_sequence import read_tokens
from matchrec.frontends.sql.clause.grammar import read_clause
from matchrec.frontends.sql.clause.nodes import MatchRecognize
from matchrec.frontends.sql.clause.sections import all_tokens
from matchrec.frontends.sql.query.locate import may_have_clause, parse
from matchrec.frontends.sql.query.nodes import Query, Site
from matchrec.frontends.sql.script import gives_rows, split_script
from matchrec.source import Origin, Source

__all__ = [
    "MatchRecognize",
    "Query",
    "Site",
    "gives_rows",
    "may_have_clause",
    "parse",
    "parse_clause",
    "split_script",
]


def parse_clause(
    text: str, dialect: Dialect = SPARK, origin: Origin | None = None
) -> MatchRecognize:
    """The clause of which `text` is what stands between the parentheses."""
    with shown_in(Source(text, origin)):
        return read_clause(all_tokens(read_tokens(text, dialect)))
