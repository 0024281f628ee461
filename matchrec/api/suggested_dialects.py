"""Suggest another dialect if a query cannot be planned in the one that the user named."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyspark.errors import AnalysisException, PySparkException

from matchrec.dialects.products import find_likely_products
from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql.foreign_names import add_dialect_hint
from matchrec.spark.errors.error_classes import RewrittenEngineError

# Plans a query in the dialect with this name, or raises an error.
PlanInDialect = Callable[[str], object]


@contextmanager
def suggest_dialect(text: str, dialect: str, plan: PlanInDialect) -> Iterator[None]:
    """Make an error of the `with` block suggest another dialect, if the text can be planned in it.

    Args:
        text: the query.
        dialect: the dialect that the user named.
        plan: plans the query in another dialect.
    """
    try:
        yield
    except (MatchRecognizeError, AnalysisException) as error:
        message = str(error)
        names_dialect = re.search(r"dialect ?=|--dialect ", message) is not None
        if not names_dialect:
            other_dialect = find_other_dialect(f"{text}\n{message}", dialect, plan)
            if other_dialect is not None:
                add_dialect_to_error(error, other_dialect)
        raise


def add_dialect_to_error(
    error: MatchRecognizeError | AnalysisException, other_dialect: str
) -> None:
    """Add a hint to an error: the query can be planned in another dialect.

    An error of Spark that matchrec has not rewritten stays as it is.
    """
    if isinstance(error, RewrittenEngineError):
        error.add_help(add_dialect_hint(None, other_dialect))
    elif isinstance(error, MatchRecognizeError):
        error.hint = add_dialect_hint(error.hint, other_dialect)


def find_other_dialect(text: str, dialect: str, plan: PlanInDialect) -> str | None:
    """Return the first other dialect in which a query can be planned, or None.

    Args:
        text: the query and the error. Only products whose spellings it has are tried.
        dialect: the dialect in which the query cannot be planned.
        plan: plans the query in a dialect.
    """
    for product in find_likely_products(text):
        if product != dialect and can_plan(plan, product):
            return product
    return None


def can_plan(plan: PlanInDialect, dialect: str) -> bool:
    """Return whether a query can be planned in a dialect. Warnings of the attempt are dropped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            plan(dialect)
        except (PySparkException, LookupError, ValueError):
            # An error of matchrec, of Spark, or of sqlglot, which fails on text that is not SQL.
            return False
    return True
