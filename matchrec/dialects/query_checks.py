"""Check a query before it is translated: is the text a query, and can its clauses be planned?

If a query is read and written for the same product, it stays as it is. The check is then all that
happens to it, so that a mistake in it is not silently returned. A query of Spark SQL is also
checked before a translation to another product.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

from matchrec.dialects.product_tokens import read_product_tokens
from matchrec.dialects.products import SPARK, Product
from matchrec.errors.kinds import locate_errors
from matchrec.errors.sql.query import blank_query
from matchrec.errors.sql.token_advice import TokenInText
from matchrec.errors.sql.tokens import unexpected_token
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.words import read_words
from matchrec.source import Source
from matchrec.syntax.clause_locations import find_clauses
from matchrec.syntax.locate import parse_sql
from matchrec.syntax.lower import lower_clause
from matchrec.syntax.nodes import Site
from matchrec.syntax.parameter_values import read_parameter
from matchrec.syntax.tokens import TokenSequence, find_data_frames

# The words that a query can start with.
_FIRST_WORDS = read_words("STATEMENT")


def check_query(text: str, product: Product) -> None:
    """Check a query in the SQL of a product.

    The clauses of a query of Spark SQL are also planned, which finds more mistakes.

    Args:
        text: the text of the query.
        product: the product whose SQL it is.

    Raises:
        MatchRecognizeError: the text is not a query, its brackets do not pair up, or a clause of
            Spark SQL is wrong.
    """
    if product is SPARK:
        read_checked_plans(text)
    else:
        _read_checked_tokens(text, product)


def read_checked_plans(text: str) -> list[MatchPlan]:
    """Check a query of Spark SQL, and return the plans of its clauses and windows.

    Raises:
        MatchRecognizeError: the text is not a query, its brackets do not pair up, or a clause is
            wrong.
    """
    tokens = _read_checked_tokens(text, SPARK)
    query = parse_sql(text, [frame.name for frame in find_data_frames(tokens.tokens)])
    with locate_errors(query.source):
        parameter_values = _invent_parameter_values(tokens)
        return [_plan_site(site, parameter_values) for site in query.sites]


def _read_checked_tokens(text: str, product: Product) -> TokenSequence:
    """Return the tokens of a text, after a check that they can be a query.

    Raises:
        MatchRecognizeError: the text does not begin like a query, the brackets of a query with
            clauses do not pair up, or a clause is in the wrong place.
    """
    with locate_errors(Source(text)):
        tokens = read_product_tokens(text, product)
        first = next((token for token in tokens.tokens if token.key != ";"), None)
        if first is None:
            raise blank_query(text)
        if first.key not in _FIRST_WORDS:
            raise unexpected_token(TokenInText(first.text, "the query"), first.span)
        find_clauses(tokens)  # called for its errors: it checks brackets and the places of clauses
    return tokens


def _invent_parameter_values(tokens: TokenSequence) -> dict[str, object]:
    """Return the value 1 for each parameter of a query, by the parameter's name.

    A clause can only be planned if its parameters have values. The check needs no real values.
    """
    values: dict[str, object] = {}
    for index in range(len(tokens)):
        for token_count in (1, 2):  # `?` is one token, `:name` two
            parameter = read_parameter(tokens.tokens[index : index + token_count])
            if parameter:
                values[parameter.name] = 1
    return values


def _plan_site(site: Site, parameter_values: Mapping[str, object]) -> MatchPlan:
    """Return the plan of a clause or of a row pattern window.

    Args:
        site: the clause or window.
        parameter_values: a number for each parameter of the query. A parameter that is the
            duration of a WITHIN gets an invented duration instead.

    Raises:
        MatchRecognizeError: the clause is wrong.
    """
    clause = site.clause
    if site.calls is not None:
        # INITIAL and SEEK are allowed in the windows of OVER, but `lower_clause` reads clauses.
        clause = replace(clause, search=None, search_span=None)
    durations = {
        window.parameter.name: timedelta(1)
        for window in clause.windows
        if window.rows is None and window.parameter
    }
    return lower_clause(clause, {**parameter_values, **durations})
