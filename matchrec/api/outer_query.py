"""Run the query around the clauses, once the clauses have results."""

from __future__ import annotations

from collections.abc import Collection

from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import DataFrame

from matchrec.errors import MatchRecognizeError
from matchrec.errors.kinds import with_source
from matchrec.errors.parameters import unbound_parameter
from matchrec.plan.templates import Template
from matchrec.spark.backends import find_backend
from matchrec.spark.errors.diagnose import make_lost_value_error
from matchrec.spark.errors.refusals import find_unbound_name
from matchrec.spark.runner import Runner
from matchrec.syntax.locate import QueryNode
from matchrec.syntax.named_parameters import find_first_parameters
from matchrec.syntax.plain_select import PlainSelect


def select_columns(runner: Runner, select: PlainSelect) -> DataFrame | None:
    """Return the result of a query that only selects columns of a view.

    The session does not analyse the query, which saves time.

    Args:
        runner: a runner whose frames contain the view.
        select: the query.

    Returns:
        The result of the query; None if a name is not exactly the name of one column.
    """
    rows: DataFrame = runner.frames[select.view.name]
    named_rows = rows if select.alias is None else rows.alias(select.alias)
    if select.names is None:
        return named_rows
    fields = {field.name: field for field in rows.schema.fields}
    lower_names = [name.lower() for name in rows.columns]
    if not all(name in fields and lower_names.count(name.lower()) == 1 for name in select.names):
        return None  # the session resolves the name, or raises an error
    if list(select.names) == rows.columns:
        return named_rows
    selected_rows = named_rows.select(*select.names)
    runner.backend.set_schema(selected_rows, [fields[name] for name in select.names])
    return selected_rows


def run_outer_query(query: QueryNode, runner: Runner, text: Template) -> DataFrame:
    """Return the result of the query around the clauses. Runs no job.

    Args:
        query: the query with the clauses.
        runner: runs texts with the values and frames of the query, and the results of its clauses.
        text: the text of the query, with views instead of the clauses.

    Raises:
        MatchRecognizePlanError: a parameter has no value; the error shows its location.
        AnalysisException: Spark finds another mistake.
    """
    parameter_names = find_first_parameters(query.source.text).keys()
    value_names = tuple(runner.args) if isinstance(runner.args, dict) else ()
    try:
        rows = runner.run_stored(text) if query.keeps_text else runner.sql(text)
        if not parameter_names <= set(value_names):
            runner.analyse(rows)  # so that a missing value is found here and not in a job
        return rows if query.keeps_text else find_backend(runner.spark).detach_from_views(rows)
    except AnalysisException as error:
        clearer_error = find_unbound_parameter(error, query, value_names)
        if clearer_error is None:
            raise
        raise clearer_error from None


def find_unbound_parameter(
    error: PySparkException, query: QueryNode, value_names: Collection[str]
) -> MatchRecognizeError | None:
    """Return the error for a `:name` without a value; None if Spark reports another mistake.

    If the parameter has a value, the error says that the session has lost it.

    Args:
        error: Spark's error.
        query: the query that Spark analysed.
        value_names: the names of the parameters that have a value.
    """
    name = find_unbound_name(error)
    if name is None:
        return None
    span = find_first_parameters(query.source.text).get(name)
    has_value = name in value_names
    if has_value:
        return with_source(make_lost_value_error(name, span), query.source)
    missing_value = unbound_parameter(span, name=name, parameters=value_names)
    return with_source(missing_value, query.source)
