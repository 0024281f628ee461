"""Names the `dialect=` that reads a query, where the one that was passed does not."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyspark.errors import AnalysisException, PySparkException

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql.foreign_names import or_dialect
from matchrec.spark.errors.users_terms import InUsersTerms

Plan = Callable[[str], object]
"""What plans a query in a dialect."""

NAMED = "dialect="


@contextmanager
def naming_dialect(text: str, dialect: str, plan: Plan) -> Iterator[None]:
    """Errors raised inside say which dialect reads the text, if another one does.

    It is one in which the query is planned without an error, so what the message says is so.
    """
    try:
        yield
    except (MatchRecognizeError, AnalysisException) as error:
        shown = str(error)
        if NAMED not in shown:
            from matchrec.frontends.dialects.products import products_shown

            others = (one for one in products_shown(f"{text}\n{shown}") if one != dialect)
            found = next((one for one in others if is_planned(plan, one)), None)
            if found is not None:
                add_dialect(error, found)
        raise


def is_planned(plan: Plan, dialect: str) -> bool:
    """Whether the query is one in this dialect."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            plan(dialect)
        except (PySparkException, LookupError, ValueError):  # ours, or sqlglot's on what is no SQL
            return False
    return True


def add_dialect(error: MatchRecognizeError | AnalysisException, dialect: str) -> None:
    """Adds the dialect to the hint."""
    if isinstance(error, MatchRecognizeError):
        error.hint = or_dialect(error.hint, dialect)
    elif isinstance(error, InUsersTerms):
        error.add_cure(or_dialect(None, dialect))
