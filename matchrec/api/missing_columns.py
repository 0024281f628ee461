"""Help for a column that the query around the clauses names and no clause has.

The engine's error lists internal names or nothing useful. What to write instead follows from the
clauses: their columns, their aliases and their pattern variables.
"""

from __future__ import annotations

from collections.abc import Sequence

from matchrec.api.clause import EvaluatedClause
from matchrec.errors.sql import query as errors
from matchrec.source import Source
from matchrec.spark.errors.users_terms import InUsersTerms
from matchrec.syntax.tokens import read_tokens


def add_help(error: Exception, clauses: Sequence[EvaluatedClause], source: Source) -> None:
    """Add what to write to the engine's error about an unknown column around the clauses.

    Args:
        error: any error of the query around the clauses; other errors are left as they are.
        clauses: the evaluated clauses of the query, innermost first.
        source: the text of the query.
    """
    if not isinstance(error, InUsersTerms):
        return
    parameters = error.getMessageParameters()
    if "targetString" in parameters:  # `t.*`
        qualifier, name = parameters["targetString"].replace("`", ""), "*"
    else:
        qualifier, _, name = parameters.get("objectName", "").rpartition(".")
        qualifier, name = qualifier.replace("`", ""), name.replace("`", "")
    if not name:
        return
    for clause in reversed(clauses):
        if (advice := find_advice(clause, qualifier, name, source)) is not None:
            error.add_cure(advice.cure, advice.note)
            return


def find_advice(
    evaluated: EvaluatedClause, qualifier: str, name: str, source: Source
) -> errors.Advice | None:
    """Return the advice on `qualifier.name`, or None if it does not concern this clause.

    Args:
        evaluated: the clause whose column may be meant.
        qualifier: what precedes the point, or "".
        name: the unknown column, or "*".
        source: the text of the query.
    """
    site = evaluated.clause.site
    result = evaluated.result
    assert site is not None, "a clause of a query has a place in it"
    result_alias = (site.result_alias or "").lower()
    plan = result.draft.plan
    variables = {variable.lower() for variable in (*plan.variables, *plan.unions)}
    if qualifier.lower() in variables - {result_alias}:
        return errors.advise_on_variable(qualifier, name)
    columns = tuple(source.text_at(span) for span in site.renames) or result.columns
    if name == "*" or name.lower() in (column.lower() for column in columns):
        if qualifier.lower() == result_alias or (not qualifier and is_grouped(source)):
            return errors.advise_on_ungrouped(name) if is_grouped(source) else None
        return errors.advise_on_qualifier(name, site.result_alias)
    if qualifier.lower() in (column.lower() for column in columns):
        return errors.advise_on_field(qualifier)
    qualifiers = {"", *(alias.lower() for alias in (site.result_alias, site.alias) if alias)}
    if qualifier.lower() not in qualifiers:
        return None
    if result.prepared.question.columns.find((name,)) is not None:
        return errors.advise_on_column_inside(name, columns)
    keywords = list_keywords(source)
    # with several SELECTs, each may rename what the clause has, and the name may be one of theirs
    if qualifier or keywords.count("SELECT") == 1:
        return errors.advise_on_column_around(name, columns)
    return None


def is_grouped(source: Source) -> bool:
    """Return whether HAVING or ORDER BY of the query sees groups instead of rows."""
    keywords = list_keywords(source)
    return "GROUP" in keywords and keywords.count("SELECT") == 1


def list_keywords(source: Source) -> list[str]:
    """Return the tokens of a text as keys, which do not depend on case."""
    return [token.key for token in read_tokens(source.text).tokens]
