"""Help for a column that the query around the clauses names and no clause has.

The engine's error lists internal names or nothing useful. What to write instead follows from the
clauses: their columns, their aliases and their pattern variables.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from matchrec.api.clause import EvaluatedClause
from matchrec.errors.sql import query as errors
from matchrec.plan.text import split_qualified_name, unquote_name
from matchrec.source import Source
from matchrec.spark.errors.users_terms import RewrittenEngineError
from matchrec.syntax.tokenize import read_tokens


def advise_on_unknown_column(
    error: Exception, clauses: Sequence[EvaluatedClause], source: Source
) -> None:
    """Add what to write to the engine's error about an unknown column around the clauses.

    Args:
        error: an error of the query around the clauses. If it is not about an unknown column, it
            stays as it is.
        clauses: the evaluated clauses of the query, innermost first.
        source: the text of the query.
    """
    if not isinstance(error, RewrittenEngineError):
        return
    qualifier, name = find_unknown_column(error)
    if not name:
        return
    for clause in reversed(clauses):
        advice = find_advice(clause, qualifier, name, source)
        if advice is not None:
            error.add_help(advice.hint, advice.note)
            return


def find_unknown_column(error: RewrittenEngineError) -> tuple[str, str]:
    """Return the qualifier and the name of the unknown column in an error of the engine.

    `t.price` is ("t", "price"), and `t.*` is ("t", "*"). A part that is missing is "".
    """
    parameters = error.getMessageParameters()
    if "targetString" in parameters:
        return ".".join(split_qualified_name(parameters["targetString"])), "*"
    *qualifiers, name = split_qualified_name(parameters.get("objectName", "")) or [""]
    return ".".join(qualifiers), name


def find_advice(
    evaluated: EvaluatedClause, qualifier: str, name: str, source: Source
) -> errors.Advice | None:
    """Return the advice on `qualifier.name`, or None if it does not concern this clause.

    Args:
        evaluated: the clause whose column the user may mean.
        qualifier: the text before the point, or "".
        name: the unknown column, or "*".
        source: the text of the query.
    """
    site = evaluated.clause.site
    result = evaluated.result
    assert site is not None, "the clause is part of a SQL query"
    result_alias = (site.result_alias or "").lower()
    lower_qualifier = qualifier.lower()
    plan = result.query.plan

    # The qualifier is a pattern variable, which only the clause knows: `A.price`.
    variables = lower_names((*plan.variables, *plan.unions))
    if lower_qualifier in variables and lower_qualifier != result_alias:
        return errors.advise_on_variable(qualifier, name)

    # The column exists, but not under this qualifier, or not after GROUP BY.
    renames = tuple(unquote_name(source.text_at(span)) for span in site.renames)
    columns = renames or result.columns
    if name == "*" or name.lower() in lower_names(columns):
        is_column_of_clause = lower_qualifier == result_alias or not qualifier
        if is_column_of_clause and is_grouped(source):
            return errors.advise_on_ungrouped(name)
        if lower_qualifier == result_alias:
            return None
        return errors.advise_on_qualifier(name, site.result_alias)

    # The qualifier is a column, so the name would be one of its fields.
    if lower_qualifier in lower_names(columns):
        return errors.advise_on_field(qualifier)

    # The clause does not return the column.
    aliases = lower_names(alias for alias in (site.result_alias, site.relation_alias) if alias)
    if qualifier and lower_qualifier not in aliases:
        return None
    is_input_column = result.request.columns.find((name,)) is not None
    if is_input_column:
        return errors.advise_on_column_inside(name, columns)
    # With several SELECTs, each may rename what the clause returns, so `name` may be one of theirs.
    has_one_select = list_keys(source).count("SELECT") == 1
    if qualifier or has_one_select:
        return errors.advise_on_column_around(name, columns)
    return None


def lower_names(names: Iterable[str]) -> Collection[str]:
    """Return names in lower case, in which they are compared."""
    return {name.lower() for name in names}


def is_grouped(source: Source) -> bool:
    """Return whether the query has GROUP BY, so that HAVING and ORDER BY read groups, not rows.

    Queries with several SELECTs are not considered.
    """
    keys = list_keys(source)
    return "GROUP" in keys and keys.count("SELECT") == 1


def list_keys(source: Source) -> list[str]:
    """Return the keys of all tokens of a text, which do not depend on case."""
    return [token.key for token in read_tokens(source.text).tokens]
