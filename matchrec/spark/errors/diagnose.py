"""Turn an engine's refusal of generated SQL into an error about the user's own text.

    [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column … with name `prise` cannot be resolved …
        →   unknown column `prise` in DEFINE, line 3, column 21

The engine analyses every expression of the user by itself, as SQL over one row of the input,
smallest parts first (`row_expressions`). The error is about the first expression that the engine
refuses. `refusals` reads the engine's message about this expression. If every expression is
accepted, `Diagnosis.find_error` looks for other mistakes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.errors import PySparkException
from pyspark.sql.types import NumericType, StructType

from matchrec.conditions.window_columns import build_window_columns
from matchrec.errors import MatchRecognizeError, MatchRecognizeUnsupportedError, conditions
from matchrec.errors import parameters as parameter_errors
from matchrec.errors.kinds import about_argument, point_at
from matchrec.errors.language import find_argument
from matchrec.errors.run.origins import read_text
from matchrec.errors.sql import engine_errors, engine_explanations, refused_parts
from matchrec.errors.sql import unknown_columns as errors
from matchrec.errors.sql.column_advice import KnownNames
from matchrec.errors.sql.engine_hints import find_engine_error_hint
from matchrec.errors.sql.expression import correlated_subquery
from matchrec.errors.sql.foreign_names import find_arguments_hint
from matchrec.errors.sql.query import missing_value_in_braces
from matchrec.errors.sql.unknown_functions import unknown_function
from matchrec.errors.within import within_not_a_length
from matchrec.plan.change_expressions import map_references, set_semantics
from matchrec.plan.clauses import Measure
from matchrec.plan.expression import (
    MATCHED_ROWS,
    RUN_ENDING_FUNCTIONS,
    Aggregate,
    MatchValue,
    Semantics,
    walk_scalar,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.operations import SUBQUERY
from matchrec.plan.parameters import find_positional_parameter
from matchrec.plan.resolve import InputColumns
from matchrec.plan.show import show_scalar
from matchrec.source import Span
from matchrec.spark.errors.name_conditions import AMBIGUOUS_COLUMN, UNKNOWN_COLUMN, UNKNOWN_FUNCTION
from matchrec.spark.errors.operand_checks import find_unreadable_literals
from matchrec.spark.errors.refusals import (
    find_refused_function,
    find_refused_name,
    find_unbound_name,
    list_braces_without_value,
    list_parameters_without_value,
    read_sentence,
)
from matchrec.spark.errors.refused_operations import explain_operation, find_refusal
from matchrec.spark.errors.row_expressions import (
    ExpressionSql,
    list_aggregating_expressions,
    list_expressions,
)
from matchrec.spark.errors.second_look import find_first_failing
from matchrec.spark.errors.type_checks import (
    find_type_mistakes,
    is_wrong_window,
    make_window_type_error,
)
from matchrec.spark.relation import Relation
from matchrec.spark.runner import SUBQUERY_START
from matchrec.spark.sail.refusals import simplify_refusal
from matchrec.spark.sent_rows import list_index_names
from matchrec.spark.session_errors import QUERY_ERRORS


@contextmanager
def explain_refusals(plan: MatchPlan, relation: Relation, columns: InputColumns) -> Iterator[None]:
    """Explain the engine's refusals in the `with` block.

    Args:
        plan: the plan whose expressions the engine analyses in the block.
        relation: the input.
        columns: the columns of the relation, as the plan names them.

    Raises:
        MatchRecognizeError: the engine refuses an expression. The error has the location of the
            mistake, if it is known.
    """
    try:
        yield
    except QUERY_ERRORS as error:
        raise Diagnosis(plan, relation, columns).find_error(error) from None
    except RecursionError as error:
        raise conditions.query_nested_too_deep() from error
    except MatchRecognizeUnsupportedError as error:
        # The compiler's error about a window does not name the types.
        for interval in plan.window_lengths:
            expected = within_not_a_length(interval.span)
            if (error.code, error.span) == (expected.code, expected.span):
                raise make_window_type_error(plan, relation, interval) from None
        raise error from None


# Sail's message about `point['w']` if the struct `point` has no field `w`.
_MISSING_FIELD_OF_SAIL = re.compile(r"missing or ambiguous field: (?P<name>.+)")


@dataclass(frozen=True)
class Diagnosis:
    """Finds out why the engine has refused a plan over a relation."""

    plan: MatchPlan
    relation: Relation
    # The columns of the relation, as the plan names them.
    columns: InputColumns

    def find_error(self, error: PySparkException) -> MatchRecognizeError:
        """Return the error that explains a refusal. It is about the first of these that exists:

        1. an expression that the engine refuses by itself;
        2. a window that the engine cannot add to the key along which it is measured;
        3. a condition that is not boolean, or a key without an order;
        4. a subquery of a measure that reads a column of the input;
        5. an expression with aggregates that the engine refuses over all rows;
        6. the whole clause, with the engine's own sentence.
        """
        refused = find_first_refused(list_expressions(self.plan), self.relation)
        if refused is not None:
            expression, refusal = refused
            explanation = self.explain_refusal(expression, refusal)
            return about_argument(explanation, find_argument(expression.clause))
        for interval in self.plan.window_lengths:
            texts = [column.text for column in build_window_columns(self.plan, interval)]
            is_refused = find_refusal(texts, self.relation) is not None
            if is_refused or is_wrong_window(self.plan, self.relation, interval):
                return make_window_type_error(self.plan, self.relation, interval)
        mistake = next(find_type_mistakes(self.plan, self.relation), None)
        if mistake is not None:
            return mistake
        correlation = self.find_refused_correlation(str(error))
        if correlation is not None:
            return correlation
        refused = find_first_refused(list_aggregating_expressions(self.plan), self.relation)
        if refused is not None:
            return self.explain_refusal(*refused)
        engine = self.relation.runner.backend.engine
        return engine_errors.rejected_by_engine(
            engine, "MATCH_RECOGNIZE", read_sentence(error), None
        )

    def find_refused_correlation(self, error_text: str) -> MatchRecognizeError | None:
        """Return the error of a measure's subquery that reads a column of the input.

        Such a column no longer exists after the match. Returns None if the engine has refused
        something else.

        Args:
            error_text: the engine's message.
        """
        refused_name = find_refused_name(error_text)
        if refused_name is None or refused_name.condition != UNKNOWN_COLUMN.condition:
            return None
        column_name = refused_name.name.rpartition(".")[2]
        if self.columns.find((column_name,)) is None:
            return None
        subquery_spans = [
            part.span
            for measure in self.plan.measures
            for part in walk_scalar(measure.value)
            if SUBQUERY in part.operations
        ]
        if not subquery_spans:
            return None
        smallest_span = min(subquery_spans, key=lambda span: span.end - span.start)
        what = f"column `{refused_name.name}` of the input"
        error = correlated_subquery(smallest_span, clause="MEASURES", what=what)
        return point_at(error, refused_name.name)

    def explain_refusal(
        self, expression: ExpressionSql, error: PySparkException
    ) -> MatchRecognizeError:
        """Return the error of one expression that the engine refuses.

        The error has the engine's sentence only if matchrec cannot name the mistake.

        Args:
            expression: the expression.
            error: the engine's refusal.
        """
        parameters = tuple(str(parameter) for parameter in self.relation.runner.args or ())
        unbound_name = find_unbound_name(error)
        if unbound_name is None:  # not every engine names a parameter without a value
            unbound_names = list_parameters_without_value(expression.text, parameters)
            unbound_name = next(iter(unbound_names), None)
        if unbound_name is not None:
            return make_unbound_error(expression, unbound_name, parameters)
        frames = self.relation.runner.frames
        names_in_braces = list_braces_without_value(expression.text, frames)
        if names_in_braces:
            return missing_value_in_braces(
                expression.span,
                name=names_in_braces[0],
                clause=expression.clause,
                values=tuple(frames),
                parameters=parameters,
            )
        return (
            self.explain_name(expression, error)
            or find_refused_part(expression, error)
            or next(find_unreadable_literals(self.plan, self.relation), None)
            or explain_operation(expression, error, self.relation)
            or self.repeat_refusal(expression, error)
        )

    def explain_name(
        self, expression: ExpressionSql, error: PySparkException
    ) -> MatchRecognizeError | None:
        """Return the error of a name that the engine refuses; None if it refuses something else."""
        refused_name = find_refused_name(str(error), expression.text)
        if refused_name is None:
            return None
        name = refused_name.name
        clause = expression.clause
        span = expression.span
        match refused_name.condition:
            case UNKNOWN_COLUMN.condition if not SUBQUERY_START.search(expression.text):
                return errors.unknown_column(name, clause, self.find_names(expression), span)
            case "FIELD_NOT_FOUND":
                full_name = find_full_name(name, expression)
                if full_name is not None:
                    names = self.find_names(expression)
                    return errors.unknown_column(full_name, clause, names, span)
            case UNKNOWN_FUNCTION.condition:
                functions = self.relation.runner.list_functions()
                return unknown_function(name, clause, functions, span)
            case AMBIGUOUS_COLUMN.condition:
                return errors.ambiguous_column(span, name=name, clause=clause)
        return None

    def repeat_refusal(
        self, expression: ExpressionSql, error: PySparkException
    ) -> MatchRecognizeError:
        """Return an error with the engine's sentence about an expression, and with advice.

        Args:
            expression: the expression.
            error: the engine's refusal.
        """
        sentence = read_sentence(error)
        advice = (
            engine_errors.find_quoted_column_hint(sentence, self.columns.names)
            or find_arguments_hint(find_refused_function(error))
            or simplify_refusal(str(error)).advice
        )
        missing_field = _MISSING_FIELD_OF_SAIL.fullmatch(sentence)
        fields = self.list_struct_fields(expression)
        if missing_field is not None and fields:  # with the sentence of Spark
            names = ", ".join(f"`{field}`" for field in fields)
            sentence = f"No such struct field `{missing_field['name']}` in {names}"
        explanation = engine_explanations.explain_written_part(
            sentence, read_text(expression.span) or expression.text
        )
        if explanation is not None:
            sentence, advice = explanation.sentence, explanation.hint
        engine = self.relation.runner.backend.engine
        refusal = engine_errors.rejected_by_engine(
            engine, expression.clause, sentence, expression.span, advice
        )
        if refusal.hint is None:
            refusal.hint = find_engine_error_hint(str(error), sentence)
        return refusal

    def list_struct_fields(self, expression: ExpressionSql) -> list[str]:
        """Return the fields of the only struct that an expression reads; otherwise an empty list.

        `ExpressionSql.columns` does not have the column of `point['w']`. So all words of the text
        are compared with the names of columns.
        """
        text = read_text(expression.span) or expression.text
        words = {word.lower() for word in re.findall(r"\w+", text)}
        structs = [
            column.dataType
            for column in self.relation.rows.schema.fields
            if column.name.lower() in words and isinstance(column.dataType, StructType)
        ]
        return structs[0].names if len(structs) == 1 else []

    def find_names(self, expression: ExpressionSql) -> KnownNames:
        """Return the names that the user can have meant in an expression."""
        plan = self.plan
        span = expression.span
        other_measures = [
            measure
            for measure in plan.measures
            if span is None or not measure.value.span.contains(span)
        ]
        is_argument = expression.clause == "MEASURES" and expression.call != ""
        return KnownNames(
            columns=self.columns.names,
            variables=list_users_variables(plan),
            measures={measure.name: show_value_so_far(measure, plan) for measure in other_measures},
            keys=tuple(key.output_name for key in plan.partition_by if key.output_name),
            call=expression.call,
            example=self.choose_example_column(expression),
            is_over_window=is_argument and plan.rows_per_match.is_window_output,
            index_names=list_index_names(self.relation.runner.frames.values()),
            types=name_types(self.relation.rows.schema),
        )

    def choose_example_column(self, expression: ExpressionSql) -> str:
        """Return a column that the user can have meant.

        The result is the first of these that exists: a column in the same expression; a column of
        numbers, if an aggregate is called; any column; `x`. Columns of PARTITION BY and ORDER BY
        come last: a column of PARTITION BY has the same value on all rows of a match.
        """
        columns_of_expression = [
            self.columns.find(column.column_path) for column in expression.columns
        ]
        likely_names = [name for name in columns_of_expression if name is not None]
        if expression.call and not likely_names:
            fields = self.relation.rows.schema.fields
            likely_names = [
                field.name for field in fields if isinstance(field.dataType, NumericType)
            ]
            likely_names = self.sort_keys_last(likely_names)
        candidates = (*likely_names, *self.sort_keys_last(self.columns.names), "x")
        return candidates[0]

    def sort_keys_last(self, names: Sequence[str]) -> list[str]:
        """Return names of columns, with those that PARTITION BY or ORDER BY reads at the end."""
        keys = [*self.plan.partition_by, *(item.expression for item in self.plan.order_by)]
        keys_text = " ".join(key.text for key in keys)
        names_in_keys = {name.lower() for name in re.findall(r"\w+", keys_text)}
        return sorted(names, key=lambda name: name.lower() in names_in_keys)


def find_full_name(field: str, expression: ExpressionSql) -> str | None:
    """Return the full name of a field in an expression, such as `point.x`.

    Returns None if the expression has no such name.

    Args:
        field: the name of the field alone.
        expression: the expression.
    """
    for reference in expression.columns:
        if len(reference.column_path) > 1 and reference.column_path[-1] == field:
            return ".".join(reference.column_path)
    return None


def name_types(struct: StructType, prefix: str = "") -> dict[str, str]:
    """Return the types of the fields of a struct, and of their fields, by their full names.

    Args:
        struct: the struct, such as the schema of the input.
        prefix: what precedes each name, such as `point.`.

    >>> from pyspark.sql.types import StructType
    >>> name_types(StructType().add("sym", "string").add("point", StructType().add("x", "integer")))
    {'sym': 'string', 'point': 'struct<x:int>', 'point.x': 'int'}
    """
    types = {}
    for field in struct.fields:
        name = f"{prefix}{field.name}"
        types[name] = field.dataType.simpleString()
        if isinstance(field.dataType, StructType):
            types.update(name_types(field.dataType, f"{name}."))
    return types


def find_refused_part(
    expression: ExpressionSql, error: PySparkException
) -> MatchRecognizeError | None:
    """Return the error for the part of an expression that only its text shows to be wrong.

    Returns None if the engine refuses something else: see `errors.sql.refused_parts`.
    """
    text = read_text(expression.span)
    if text is None or expression.span is None:
        return None
    mistake = refused_parts.find_refused_part(str(error), text, expression.clause)
    if mistake is not None:
        start = expression.span.start
        mistake.spans = tuple(span.shift_by(start) for span in mistake.spans)
    return mistake


def list_users_variables(plan: MatchPlan) -> tuple[str, ...]:
    """Return the names of variables and unions of a plan that the user has written.

    A Pattern has further variables for the conditions of its stages, such as `:a where`. The names
    of stages have no colon.
    """
    names = (*plan.variables, *(subset.name for subset in plan.subsets))
    if plan.staging is None:
        return names
    return tuple(name for name in names if ":" not in name)


def find_first_refused(
    expressions: Sequence[ExpressionSql], relation: Relation
) -> tuple[ExpressionSql, PySparkException] | None:
    """Return the first of several expressions that the engine refuses by itself, and its refusal.

    Returns None if the engine accepts all of them together.
    """

    def find_refusal_of_any(part: Sequence[ExpressionSql]) -> PySparkException | None:
        """Return the engine's refusal of some of the expressions together."""
        return find_refusal([expression.text for expression in part], relation)

    return find_first_failing(expressions, find_refusal_of_any)


def show_value_so_far(measure: Measure, plan: MatchPlan) -> str:
    """Return the text with which a condition can compute a measure on the rows so far.

    The text is empty if the measure is about a match as a whole.

    Args:
        measure: the measure.
        plan: its plan.
    """
    value = measure.value
    running = map_references(value, lambda reference: set_semantics(reference, Semantics.RUNNING))
    is_final = running != value and not plan.rows_per_match.has_one_row_per_match
    is_about_match = any(
        isinstance(reference, MatchValue | Aggregate)
        and reference.function in (*RUN_ENDING_FUNCTIONS, MATCHED_ROWS)
        for reference in value.references
    )
    if is_final or is_about_match:
        return ""
    text = show_scalar(running)
    return f"({text})" if running.operations else text


def make_unbound_error(
    expression: ExpressionSql, name: str, parameters: tuple[str, ...]
) -> MatchRecognizeError:
    """Return the error of a parameter without a value in an expression of the user.

    Args:
        expression: the expression.
        name: the name of the parameter, or the name that a `?` has in generated SQL.
        parameters: the names of the parameters with a value. If `name` is among them, the session
            has lost its value.
    """
    if name in parameters:
        return make_lost_value_error(name, expression.span)
    question_mark = find_positional_parameter(name)
    if question_mark is not None:
        return parameter_errors.positional_parameter_without_value(question_mark)
    error = parameter_errors.unbound_parameter(expression.span, name=name, parameters=parameters)
    return point_at(error, f":{name}")


def make_lost_value_error(name: str, span: Span | None) -> MatchRecognizeError:
    """Return the error of a parameter whose value the session has lost.

    Args:
        name: the name of the parameter, or the name that a `?` has in generated SQL.
        span: the location of the parameter. It is not used for a `?`, whose name has the location.
    """
    question_mark = find_positional_parameter(name)
    if question_mark is not None:
        return parameter_errors.parameter_value_lost(
            question_mark, parameter="positional parameter `?`"
        )
    error = parameter_errors.parameter_value_lost(span, parameter=f"parameter `:{name}`")
    return point_at(error, f":{name}")
