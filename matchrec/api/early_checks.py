"""Find mistakes in a text before there is a session, which takes seconds to start.

A text that is parsed here is not parsed again later, unless settings of the session or types of
columns change its meaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from matchrec.api.dialects import parse_clause_once, parse_once
from matchrec.api.evaluate import lower_site
from matchrec.api.parameters import reject_unused_values
from matchrec.api.text_kinds import reject_file_name
from matchrec.dialects.products import PRODUCTS, SPARK, find_likely_products
from matchrec.errors import MatchRecognizeError
from matchrec.errors.kinds import locate_errors
from matchrec.syntax.tokens import SPARK as SPARK_QUOTES


def check_query(text: str, language: str, values: Mapping[str, object]) -> None:
    """Check a query for mistakes that can be found without a session.

    Args:
        text: the query.
        language: a dialect, or "sase".
        values: the values of its `:name` parameters.

    Raises:
        MatchRecognizeError: the query has a mistake.
    """
    reject_file_name(text)
    with leave_rest_to_session(text):
        if language == "sase":
            from matchrec.patterns.sase.parser import parse_once as parse_sase_once

            parse_sase_once(text, None)
        elif PRODUCTS[language] is SPARK:
            query = parse_once(text, (), SPARK_QUOTES)
            with locate_errors(query.source):
                for site in query.sites:
                    lower_site(site, values)
        else:
            from matchrec.dialects.translate import QueryKnowledge, translate_query

            translate_query(
                text, PRODUCTS[language], SPARK, QueryKnowledge(parameter_values=values)
            )
        reject_unused_values(text, values)


def check_clause(text: str) -> None:
    """Check the syntax of a clause of Spark SQL.

    Raises:
        MatchRecognizeError: the clause has a mistake.
    """
    with leave_rest_to_session(text):
        parse_clause_once(text, SPARK_QUOTES)


def list_partition_keys(text: str, language: str, values: Mapping[str, object]) -> list[str]:
    """Return the keys that name a partition: PARTITION BY columns and equivalence tests.

    The list is empty if the text has no clause or several, or if it is in a dialect.

    Args:
        text: a query without mistakes.
        language: a dialect, or "sase".
        values: the values of its `:name` parameters.
    """
    if language == "sase":
        from matchrec.patterns.sase.lower import build_equivalence_keys
        from matchrec.patterns.sase.parser import parse_once as parse_sase_once

        keys = build_equivalence_keys(parse_sase_once(text))
    elif PRODUCTS.get(language) is SPARK:
        sites = parse_once(text, (), SPARK_QUOTES).sites
        keys = lower_site(sites[0], values).partition_keys if len(sites) == 1 else ()
    else:
        keys = ()
    return [
        key.output_name or (key.column_path[-1] if key.column_path else key.text) for key in keys
    ]


@contextmanager
def leave_rest_to_session(text: str) -> Iterator[None]:
    """Drop an error of the `with` block if a later check with a session decides or says more.

    The text may have no mistake if it has double quotes, because a setting of the session decides
    what they mean. The error can say more if the text may be of another product: with a session,
    the dialect of this product is tried, so that the error can suggest the dialect.
    """
    try:
        yield
    except MatchRecognizeError as error:
        depends_on_settings = '"' in text
        other_products = find_likely_products(f"{text}\n{error}")
        if not depends_on_settings and not other_products:
            raise
