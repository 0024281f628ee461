"""Advise on a column that the outer query uses and no MATCH_RECOGNIZE clause returns.

The engine's error lists internal names, or nothing useful. This module finds what the user can
write instead in the columns, the aliases and the pattern variables of the clauses.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from matchrec.api.clause import EvaluatedClause
from matchrec.errors.sql import select_columns as errors
from matchrec.plan.parameters import NAME_PREFIX
from matchrec.plan.text import split_qualified_name, unquote_name
from matchrec.source import Source
from matchrec.spark.errors.error_classes import RewrittenEngineError
from matchrec.syntax.tokenize import read_tokens


@dataclass(frozen=True, slots=True)
class UnknownColumn:
    """A column that the outer query names: `t.price` has the qualifier `t` and the name `price`."""

    # The text before the last point, without backticks; "" if there is none.
    qualifier: str
    # The name, without backticks; "*" for all columns.
    name: str


def advise_on_unknown_column(
    error: Exception, clauses: Sequence[EvaluatedClause], source: Source
) -> None:
    """Add a help line to the engine's error about an unknown column in the outer query.

    Args:
        error: an error of the outer query. If it is not about an unknown column, it is not
            changed.
        clauses: the evaluated clauses of the query, innermost first.
        source: the text of the query.
    """
    if not isinstance(error, RewrittenEngineError):
        return
    column = find_unknown_column(error)
    if column is None:
        return
    for evaluated_clause in reversed(clauses):
        advice = find_advice(evaluated_clause, column, source)
        if advice is not None:
            error.add_help(advice.hint, advice.note)
            return
    add_similar_columns(error)


def add_similar_columns(error: RewrittenEngineError) -> None:
    """Add a note with the columns that Spark suggests instead of an unknown column, if it does."""
    suggestions = error.getMessageParameters().get("proposal", "")
    columns = [
        ".".join(split_qualified_name(suggestion))
        for suggestion in suggestions.split(", ")
        if suggestion and f"`{NAME_PREFIX}" not in suggestion
    ]
    if columns:
        error.notes = (*error.notes, f"similar columns: {', '.join(columns)}")


def find_unknown_column(error: RewrittenEngineError) -> UnknownColumn | None:
    """Return the column that an error of the engine is about; None for other errors."""
    parameters = error.getMessageParameters()
    if "targetString" in parameters:  # `t.*`
        return UnknownColumn(".".join(split_qualified_name(parameters["targetString"])), "*")
    parts = split_qualified_name(parameters.get("objectName", ""))
    if not parts:
        return None
    *qualifiers, name = parts
    return UnknownColumn(".".join(qualifiers), name)


def find_advice(
    evaluated: EvaluatedClause, column: UnknownColumn, source: Source
) -> errors.Advice | None:
    """Return the advice on an unknown column, or None if the column does not concern this clause.

    Args:
        evaluated: the clause whose column the user may mean.
        column: the unknown column.
        source: the text of the query.
    """
    site = evaluated.clause.site
    result = evaluated.result
    assert site is not None, "the clause is part of a SQL query"
    qualifier = column.qualifier.lower()
    # Also true without a qualifier if the clause has no alias.
    is_qualified_by_clause = qualifier == (site.result_alias or "").lower()

    # The qualifier is a pattern variable, which only the clause knows: `A.price`.
    plan = result.split_query.plan
    if qualifier in lower_names((*plan.variables, *plan.unions)) and not is_qualified_by_clause:
        return errors.advise_on_variable(column.qualifier, column.name)

    # The column exists, but not under this qualifier, or not after GROUP BY.
    renames = tuple(unquote_name(source.text_at(span)) for span in site.renames)
    returned_columns = renames or result.columns
    if column.name == "*" or column.name.lower() in lower_names(returned_columns):
        if (not qualifier or is_qualified_by_clause) and is_grouped(source):
            return errors.advise_on_ungrouped(column.name)
        if is_qualified_by_clause:
            return None
        return errors.advise_on_qualifier(column.name, site.result_alias)

    # The qualifier is a column, so the name would be one of its fields.
    if qualifier in lower_names(returned_columns):
        return errors.advise_on_field(column.qualifier)

    # The clause does not return the column.
    aliases = lower_names(alias for alias in (site.result_alias, site.relation_alias) if alias)
    if qualifier and qualifier not in aliases:
        return None
    if result.request.columns.find((column.name,)) is not None:  # a column of the input
        return errors.advise_on_input_column(column.name, returned_columns)
    # With several SELECTs, each may rename what the clause returns, so the name may be one of
    # theirs.
    has_one_select = list_keywords(source).count("SELECT") == 1
    if qualifier or has_one_select:
        return errors.advise_on_unknown_column(column.name, returned_columns)
    return None


def lower_names(names: Iterable[str]) -> frozenset[str]:
    """Return names in lower case, in which they are compared."""
    return frozenset(name.lower() for name in names)


def is_grouped(source: Source) -> bool:
    """Return whether the query has GROUP BY, so that HAVING and ORDER BY read groups, not rows.

    Queries with several SELECTs are not considered.
    """
    keys = list_keywords(source)
    return "GROUP" in keys and keys.count("SELECT") == 1


def list_keywords(source: Source) -> list[str]:
    """Return the keys of all tokens of a text, which do not depend on case."""
    return [token.key for token in read_tokens(source.text).tokens]
