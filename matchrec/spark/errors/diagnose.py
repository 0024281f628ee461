"""Turn an engine's refusal of generated SQL into an error about the user's own text.

    [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column … with name `prise` cannot be resolved …
        →   unknown column `prise` in DEFINE, line 3, column 21

The engine analyses every expression of the user by itself, as SQL over one row of the input,
smallest parts first. The error is about the first expression that it refuses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.types import DateType, DoubleType, FloatType, NumericType, StringType

from matchrec.conditions.guards import is_truth_value
from matchrec.conditions.window_columns import build_window_columns
from matchrec.errors import MatchRecognizeError, MatchRecognizeUnsupportedError, calls, conditions
from matchrec.errors.kinds import point_at
from matchrec.errors.machine import hours_added_to_date, signed_zeros_in_key
from matchrec.errors.sql import engine_errors
from matchrec.errors.sql import unknown_names as errors
from matchrec.errors.sql.engine_errors import find_engine_error_hint
from matchrec.errors.sql.expression import correlated_subquery, not_sortable
from matchrec.errors.sql.foreign_names import find_arguments_hint
from matchrec.plan.clauses import Measure, RowExpression
from matchrec.plan.expression import (
    FUNCTIONS_OF_ENDED_RUNS,
    MATCHED_ROWS,
    Aggregate,
    Classifier,
    ColumnReference,
    MatchValue,
    Operation,
    Reference,
    Scalar,
    Semantics,
    Term,
    list_inner_references,
    list_inputs,
    map_references,
    render,
    set_semantics,
    split_conjuncts,
    walk_scalar,
    write_operand,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.parameters import find_positional_parameter
from matchrec.plan.resolve import InputColumns
from matchrec.plan.show import show_scalar, write_aggregate_call
from matchrec.plan.templates import join_template
from matchrec.source import Span
from matchrec.spark.errors.second_look import find_first_failing
from matchrec.spark.relation import Relation
from matchrec.spark.sail import probes
from matchrec.spark.sail.sent import list_index_names
from matchrec.spark.sail.words import find_error_condition, simplify_refusal, split_help
from matchrec.spark.session import QUERY_ERRORS, SUBQUERY_START, silence_analysis
from matchrec.spark.types import is_nested, iterate_types

# A text literal, which contains no parameter, or a parameter `:name`. A `:` after a word, a quote,
# a bracket or another `:` reads a field of a value instead.
PARAMETER = re.compile(r"'[^']*'|(?<![\w`:\])]):([A-Za-z_]\w*)")


@dataclass(frozen=True, slots=True)
class ExpressionSql:
    """SQL over one row that stands for something the user wrote."""

    # The clause, for messages.
    clause: str
    text: str
    # Where the user wrote it.
    span: Span | None
    # The call around it, up to its argument, or the call that it is compared with: `SUM(DISTINCT `.
    # Empty if there is neither.
    call: str = ""
    # The columns in the same expression.
    columns: tuple[ColumnReference, ...] = ()


def list_expressions(plan: MatchPlan) -> Iterator[ExpressionSql]:
    """Return the parts of every expression, smallest first, so that the caret is exact."""
    yield from list_keys(plan)
    for interval in plan.intervals:
        yield ExpressionSql("WITHIN", interval.text, interval.span)
    for clause, scalar in list_scalars(plan):
        yield from list_parts(clause, scalar)


def list_scalars(plan: MatchPlan) -> Iterator[tuple[str, Scalar]]:
    """Return the conditions and the measures, each with the name of its clause."""
    for definition in plan.definitions:
        yield "DEFINE", definition.condition
    for measure in plan.measures:
        yield "MEASURES", measure.value


def list_keys(plan: MatchPlan) -> Iterator[ExpressionSql]:
    """Return the expressions that divide and sort the rows."""
    order = tuple(item.expression for item in plan.order_by)
    by_clause = {
        "PARTITION BY": plan.partition_by,
        "[...]": plan.equivalence_keys,
        "ORDER BY": order,
    }
    for clause, expressions in by_clause.items():
        for expression in expressions:
            yield ExpressionSql(clause, expression.text, expression.span)


def list_row_conditions(plan: MatchPlan) -> Iterator[ExpressionSql]:
    """Return the conditions that can be written over one row, each part of AND by itself.

    Parts whose form shows that they are truth values, such as comparisons, are left out.
    """
    for definition in plan.definitions:
        for part in split_conjuncts(definition.condition):
            if not is_truth_value(part):
                yield from write_over_one_row("DEFINE", part)


def list_parts(clause: str, scalar: Scalar) -> Iterator[ExpressionSql]:
    """Return the arguments of the references, then the whole expression or the parts of its AND."""
    all_columns = tuple(
        column for reference in scalar.references for column in find_columns_read(reference)
    )
    for reference in scalar.references:
        span = reference.span or scalar.span
        call = find_call_around(reference, scalar)
        for column in find_columns_read(reference):
            yield ExpressionSql(clause, column.argument, span, call, all_columns)
        if isinstance(reference, Aggregate):
            yield ExpressionSql(clause, write_over_all_rows(reference), span)
    for part in split_conjuncts(scalar):
        yield from write_over_one_row(clause, part)


def find_call_around(reference: Reference, scalar: Scalar) -> str:
    """Return the call of an aggregate up to its argument; empty for other references.

    If CLASSIFIER() is compared with the reference's columns, it is "CLASSIFIER(".
    """
    reference_terms = list_inputs(reference) if isinstance(reference, Aggregate) else (scalar,)
    for term in reference_terms:
        if any(isinstance(part, Classifier) for part in term.references):
            return "CLASSIFIER("
    if not isinstance(reference, Aggregate):
        return ""
    return f"{reference.function.upper()}({'DISTINCT ' * reference.distinct}"


def write_over_one_row(clause: str, scalar: Scalar) -> Iterator[ExpressionSql]:
    """Return the expression as if every reference read the same row; nothing if it aggregates."""
    if not any(isinstance(reference, Aggregate) for reference in scalar.references):
        yield ExpressionSql(clause, render(scalar, render_stand_in), scalar.span)


def list_aggregating(plan: MatchPlan) -> Iterator[ExpressionSql]:
    """Return the expressions that aggregate, as if all rows of the input were one match."""
    for clause, scalar in list_scalars(plan):
        for part in split_conjuncts(scalar):
            if any(isinstance(reference, Aggregate) for reference in part.references):
                yield ExpressionSql(clause, render(part, render_over_all_rows), part.span)


def render_over_all_rows(reference: Reference) -> str:
    """Return SQL over all rows that has the type of a reference."""
    if isinstance(reference, Aggregate):
        return write_over_all_rows(reference)
    text = render_stand_in(reference)
    return f"any_value({text})" if isinstance(reference, ColumnReference) else text


def find_columns_read(reference: Reference) -> tuple[ColumnReference, ...]:
    """Return the columns that a reference reads; for an aggregate, those it reads on each row."""
    references = (
        list_inner_references(reference) if isinstance(reference, Aggregate) else (reference,)
    )
    return tuple(column for column in references if isinstance(column, ColumnReference))


def write_over_all_rows(aggregate: Aggregate) -> str:
    """Return an aggregate as SQL over all rows of the input."""
    arguments = (render(argument, render_stand_in) for argument in aggregate.arguments)
    ordering = (f"{render(term, render_stand_in)} {words}" for term, words in aggregate.ordering)
    condition = None
    if aggregate.condition:
        condition = render(aggregate.condition, render_stand_in)
    return write_aggregate_call(aggregate, arguments, ordering, condition)


def render_stand_in(reference: Reference) -> str:
    """Return SQL over one row that has the type of a reference."""
    match reference:
        case ColumnReference():
            return write_operand(reference)
        case Aggregate():
            raise AssertionError(reference)
        case Classifier():
            return "''"
        case _:
            return "1L"


@contextmanager
def explain_refusals(plan: MatchPlan, relation: Relation, columns: InputColumns) -> Iterator[None]:
    """Explain what the engine refuses inside of the `with` statement.

    Args:
        plan: the plan that the engine gets there.
        relation: the input.
        columns: the columns of the relation, as the plan names them.

    Raises:
        MatchRecognizeError: the engine refuses something. The error says where it is written.
    """
    try:
        yield
    except QUERY_ERRORS as error:
        raise Diagnosis(plan, relation, columns).find_error(error) from error
    except RecursionError as error:
        raise conditions.query_nested_too_deep() from error
    except MatchRecognizeUnsupportedError as error:
        # The compiler's error about a window does not name the types.
        for interval in plan.intervals:
            expected = conditions.within_not_a_length(interval.span)
            if (error.code, error.span) == (expected.code, expected.span):
                raise make_window_error(plan, relation, interval) from None
        raise error from None


def make_window_error(
    plan: MatchPlan, relation: Relation, interval: RowExpression
) -> MatchRecognizeError:
    """Return the error of a window that is not a distance along its key."""
    order = plan.order_by[0].expression
    order_type = relation.find_type(order.text).simpleString()
    interval_type = relation.find_type(interval.text).simpleString()
    return conditions.wrong_within_type(order_type, interval_type, order.span, interval.span)


@dataclass(frozen=True)
class Diagnosis:
    """Finds out why an engine has refused a plan over a relation."""

    plan: MatchPlan
    relation: Relation
    # The columns of the relation, as the plan names them.
    columns: InputColumns

    def find_error(self, error: PySparkException) -> MatchRecognizeError:
        """Return the error that explains a refusal.

        1. An expression that the engine refuses by itself.
        2. A window that the engine cannot add to the key along which it is measured.
        3. A condition that is not boolean, or a key without an order.
        4. A subquery of a measure that reads a column of the input.
        5. An expression around aggregates, over all rows.
        6. Otherwise the engine's own sentence, about the whole clause.
        """
        expressions = tuple(dict.fromkeys(list_expressions(self.plan)))
        refused = find_first_refused(expressions, self.relation)
        if refused is not None:
            return self.explain_refusal(*refused)
        for interval in self.plan.intervals:
            texts = [column.text for column in build_window_columns(self.plan, interval)]
            if find_refusal(texts, self.relation) is not None:
                return make_window_error(self.plan, self.relation, interval)
        mistake = next(find_mistakes(self.plan, self.relation), None)
        if mistake is not None:
            return mistake
        correlation = self.find_refused_correlation(str(error))
        if correlation is not None:
            return correlation
        refused = find_first_refused(tuple(list_aggregating(self.plan)), self.relation)
        if refused is not None:
            return self.explain_refusal(*refused)
        engine = self.relation.runner.backend.engine
        return engine_errors.rejected_by_engine(
            engine, "MATCH_RECOGNIZE", read_sentence(error), None
        )

    def find_refused_correlation(self, error_text: str) -> MatchRecognizeError | None:
        """Return the error of a measure's subquery that reads a column of the input.

        Such a column no longer exists after the match. None if this is not what was refused.

        Args:
            error_text: what the engine says.
        """
        condition, name = find_named(error_text) or ("", "")
        is_of_input = self.columns.find((name.rpartition(".")[2],)) is not None
        subquery_spans = [
            part.span
            for measure in self.plan.measures
            for part in walk_scalar(measure.value)
            if "SELECT" in part.operations
        ]
        if condition != "UNRESOLVED_COLUMN" or not is_of_input or not subquery_spans:
            return None
        smallest = min(subquery_spans, key=lambda span: span.end - span.start)
        what = f"column `{name}` of the input"
        return point_at(correlated_subquery(smallest, clause="MEASURES", what=what), name)

    def explain_refusal(
        self, expression_sql: ExpressionSql, error: PySparkException
    ) -> MatchRecognizeError:
        """Return the error of one expression that the engine refuses.

        Unknown names have messages of ours. Anything else has the engine's sentence, with advice.
        """
        runner = self.relation.runner
        parameters = tuple(map(str, runner.args or ()))
        unbound = find_unbound_name(error)
        if unbound is None:  # not every engine names a parameter without a value
            unbound = next(find_parameters_without_value(expression_sql.text, parameters), None)
        if unbound is not None:
            return make_unbound_error(expression_sql, unbound, parameters)
        condition, name = find_named(str(error), expression_sql.text) or (None, expression_sql.text)
        clause, span = expression_sql.clause, expression_sql.span
        match condition:
            case "UNRESOLVED_COLUMN" if not SUBQUERY_START.search(expression_sql.text):
                return errors.unknown_column(name, clause, self.find_names(expression_sql), span)
            case "UNRESOLVED_ROUTINE":
                return errors.unknown_function(name, clause, runner.list_functions(), span)
            case "AMBIGUOUS_REFERENCE":
                return errors.ambiguous_column(span, name=name, clause=clause)
        sentence = read_sentence(error)
        advice = (
            engine_errors.find_quoted_column_hint(sentence, self.columns.names)
            or find_arguments_hint(find_function(error))
            or split_help(simplify_refusal(str(error)))[1]
        )
        refusal = engine_errors.rejected_by_engine(
            runner.backend.engine, clause, sentence, span, advice
        )
        if refusal.hint is None:
            refusal.hint = find_engine_error_hint(str(error), sentence)
        return refusal

    def find_names(self, expression_sql: ExpressionSql) -> errors.KnownNames:
        """Return the names that the user may have meant in an expression."""
        plan, span = self.plan, expression_sql.span
        other_measures = [
            measure
            for measure in plan.measures
            if span is None or not measure.value.span.contains(span)
        ]
        in_function = expression_sql.clause == "MEASURES" and expression_sql.call != ""
        return errors.KnownNames(
            columns=self.columns.names,
            variables=(*plan.variables, *(subset.name for subset in plan.subsets)),
            measures={measure.name: show_value_so_far(measure, plan) for measure in other_measures},
            keys=tuple(key.name for key in plan.partition_by if key.name),
            call=expression_sql.call,
            example=self.choose_example_column(expression_sql),
            over_window=in_function and plan.rows_per_match.is_window_output,
            index=list_index_names(self.relation.runner.frames.values()),
        )

    def choose_example_column(self, expression_sql: ExpressionSql) -> str:
        """Return a column that may have been meant.

        It is one in the same expression, or else one that the function around can take.
        """
        candidates = [self.columns.find(column.names) for column in expression_sql.columns]
        likely = [name for name in candidates if name]
        if expression_sql.call and not likely:
            fields = self.relation.rows.schema.fields
            likely = [field.name for field in fields if isinstance(field.dataType, NumericType)]
        return next(iter((*likely, *self.columns.names)), "x")


def find_refusal(texts: Sequence[str], relation: Relation) -> PySparkException | None:
    """Return the engine's refusal of expressions over one row; None if it accepts them."""
    try:
        relation.runner.analyse(relation.select(texts))
    except PySparkException as refusal:
        return refusal
    return None


def find_first_refused(
    expression_sql: Sequence[ExpressionSql], relation: Relation
) -> tuple[ExpressionSql, PySparkException] | None:
    """Return the first of several expressions that the engine refuses by itself, and its refusal.

    None if the engine accepts all of them together.
    """
    return find_first_failing(
        expression_sql, lambda some: find_refusal([sql.text for sql in some], relation)
    )


def find_named(error_text: str, refused_text: str = "") -> tuple[str, str] | None:
    """Return the error condition and the name that a refusal is about; None if there is no name.

    >>> find_named("[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column ... with name `t`.`prise` ...")
    ('UNRESOLVED_COLUMN', 't.prise')

    Args:
        error_text: what the engine says.
        refused_text: the expression that it refuses, if that is known. For `x.f()` Sail does not
            say which function is unknown.
    """
    if "qualified function" in error_text:
        call = re.search(r"[\w`]+\.\w+(?=\s*\()", refused_text)
        if call is not None:  # such as a Python method, `price.shift(1)`
            return "UNRESOLVED_ROUTINE", call[0].replace("`", "")
    condition = re.match(r"\[([A-Z_]+).*?((?:`[^`]*`\.?)+)", error_text, re.DOTALL)
    if condition is None:
        return find_error_condition(error_text)
    return condition[1], condition[2].replace("`", "").rstrip(".")


def show_value_so_far(measure: Measure, plan: MatchPlan) -> str:
    """Return a measure as a condition can compute it; empty if it is about a match as a whole."""
    value = measure.value
    running = map_references(value, lambda reference: set_semantics(reference, Semantics.RUNNING))
    is_final = running != value and not plan.rows_per_match.has_one_row_per_match
    is_of_match = any(
        isinstance(reference, MatchValue | Aggregate)
        and reference.function in (*FUNCTIONS_OF_ENDED_RUNS, MATCHED_ROWS)
        for reference in value.references
    )
    if is_final or is_of_match:
        return ""
    text = show_scalar(running)
    return f"({text})" if running.operations else text


def find_parameters_without_value(text: str, parameters: Sequence[str]) -> Iterator[str]:
    """Return the parameters in a text that are not among those with a value."""
    for parameter in PARAMETER.finditer(text):
        name = parameter[1]
        if name and name not in parameters:
            yield name


def find_unbound_name(refusal: PySparkException) -> str | None:
    """Return the parameter without a value that a refusal is about; None if it is about another."""
    unbound = re.search(r"\[UNBOUND_SQL_PARAMETER\].*?: `?(\w+)", str(refusal))
    if unbound is not None:
        return unbound[1]
    condition, name = find_error_condition(str(refusal)) or (None, None)
    return name if condition == "UNBOUND_SQL_PARAMETER" else None


def make_unbound_error(
    expression_sql: ExpressionSql, name: str, parameters: tuple[str, ...]
) -> MatchRecognizeError:
    """Return the error of a parameter without a value in an expression of the user.

    Args:
        expression_sql: the expression.
        name: the parameter, or the name that a `?` has in generated SQL.
        parameters: the parameters with a value. If `name` is one of them, the session has lost it.
    """
    if name in parameters:
        return make_lost_value_error(name, expression_sql.span)
    question_mark = find_positional_parameter(name)
    if question_mark is not None:
        return calls.positional_parameter_without_value(question_mark)
    error = calls.unbound_parameter(expression_sql.span, name=name, parameters=parameters)
    return point_at(error, f":{name}")


def make_lost_value_error(name: str, span: Span | None) -> MatchRecognizeError:
    """Return the error of a parameter whose value the session has lost.

    Args:
        name: the parameter, or the name that a `?` has in generated SQL.
        span: where the parameter is written. A `?` knows this itself.
    """
    question_mark = find_positional_parameter(name)
    if question_mark is not None:
        return calls.parameter_value_lost(question_mark, parameter="positional parameter `?`")
    error = calls.parameter_value_lost(span, parameter=f"parameter `:{name}`")
    return point_at(error, f":{name}")


def find_function(refusal: PySparkException) -> str:
    """Return the function whose call a refusal is about; empty if it is not about a call."""
    parameters = refusal.getMessageParameters() or {}
    call = re.match(r"\W*(\w+)\(", parameters.get("sqlExpr") or "")
    return parameters.get("functionName", "").strip("`") or (call[1] if call else "")


def read_sentence(error: Exception) -> str:
    """Return the engine's sentence, without its error condition, SQLSTATE and query context."""
    text = simplify_refusal(str(error)).strip().split("\n")[0]
    text = re.sub(r"^\[[A-Z0-9_.]+\]\s*", "", text)
    text = re.sub(r"\s*Please, refer to '[^']*' for a fix\.", "", text)
    return re.sub(r"\s*SQLSTATE: \w+.*$", "", text).rstrip(". ")


def check_type_column(df: DataFrame, name: str, plan: MatchPlan) -> None:
    """Check that the types of events, which a SASE+ pattern tests, are texts of a column.

    Args:
        df: the events.
        name: the column, or an expression over one row.
        plan: the pattern's plan. It may test no type at all.

    Raises:
        MatchRecognizePlanError: there is no such column, or its values are not texts.
    """
    all_conjuncts = (
        conjunct
        for definition in plan.definitions
        for conjunct in split_conjuncts(definition.condition)
    )
    if not any(_tests_type(conjunct, name) for conjunct in all_conjuncts):
        return
    with silence_analysis():
        try:
            is_column = name in df.columns
            if is_column and not name.replace(".", "_").isidentifier():
                raise errors.unknown_type_column(name=name, columns=df.columns)
            field = df.schema[name] if is_column else df.selectExpr(name).schema.fields[0]
        except QUERY_ERRORS as error:
            raise errors.unknown_type_column(name=name, columns=df.columns) from error
    if not isinstance(field.dataType, StringType):
        raise errors.type_column_without_texts(type_name=field.dataType.simpleString(), name=name)


def _tests_type(condition: Scalar, column: str) -> bool:
    """Return whether a condition is `column = 'Stock'`, made from a component `Stock a`.

    Both sides of such a comparison have the span of the component's type.
    """
    match condition:
        case Operation("=", (Term((ColumnReference(argument=argument),), left), Term(_, right))):
            return argument == column and left == right
        case _:
            return False


# What Spark would refuse or compute differently, although the session accepts it.
#
# Spark's analysis rejects a condition that is not boolean and a key that has no order. Another
# engine that accepts the same calls may not, and may round where Spark does not. Then nobody would
# notice that a result is wrong, so the query is rejected before it runs. What an engine does is
# found out once per session: see `matchrec.spark.sail.probes`.


def check_types(plan: MatchPlan, relation: Relation) -> None:
    """Check the types of conditions, keys and windows, as Spark does itself.

    Raises:
        MatchRecognizeError: Spark would reject a type, or the engine computes differently with it.
    """
    for find_errors in (find_mistakes, find_differences):
        error = next(find_errors(plan, relation), None)
        if error is not None:
            raise error


def find_mistakes(plan: MatchPlan, relation: Relation) -> Iterator[MatchRecognizeError]:
    """Return the errors of conditions that are not boolean and of keys without an order."""
    row_conditions = tuple(list_row_conditions(plan))
    plan_keys = tuple(list_keys(plan))
    relation.find_fields(sql.text for sql in (*row_conditions, *plan_keys))  # asks for all at once
    for condition in row_conditions:
        type_name = relation.find_type(condition.text).simpleString()
        if type_name != "boolean":
            yield conditions.not_boolean(condition.span, type_name=type_name)
    for key in plan_keys:
        key_type = relation.find_type(key.text)
        if any(type(part).__name__ in WITHOUT_ORDER for part in iterate_types(key_type)):
            yield not_sortable(key.clause, key_type.simpleString(), key.span)


# Types whose values have no order. By name, because an older PySpark lacks some of them.
WITHOUT_ORDER = {"MapType", "VariantType", "CalendarIntervalType", "GeometryType", "GeographyType"}


def find_differences(plan: MatchPlan, relation: Relation) -> Iterator[MatchRecognizeError]:
    """Return the errors of keys and windows that mean something else to the engine than to Spark.

    These are nested floating-point keys, if 0.0 and -0.0 differ, and windows with hours along
    dates, if the hours are dropped.
    """
    spark = relation.runner.spark
    for key in list_keys(plan):
        key_type = relation.find_type(key.text)
        is_floating = any(
            isinstance(part, FloatType | DoubleType) for part in iterate_types(key_type)
        )
        if is_floating and is_nested(key_type) and probes.tells_zeros_apart(spark):
            yield signed_zeros_in_key(
                key.span, clause=key.clause, type_name=key_type.simpleString()
            )
    order = plan.order_by[0].expression if plan.order_by else None
    if order is None or not isinstance(relation.find_type(order.text), DateType):
        return
    for interval in plan.lengths:
        if interval.text and probes.drops_hours(spark) and has_hours(interval.text, relation):
            yield hours_added_to_date(interval.span, interval=interval.text)


def has_hours(interval: str, relation: Relation) -> bool:
    """Return whether an interval is not a whole number of days. Runs a query of one row."""
    runner = relation.runner
    date, timestamp = "DATE'2000-01-01'", "TIMESTAMP'2000-01-01 00:00:00'"
    text = runner.find_holes(
        f"{timestamp} + ({interval}) = CAST({date} + ({interval}) AS TIMESTAMP)"
    )
    return not runner.sql(join_template("SELECT ", text)).collect()[0][0]
