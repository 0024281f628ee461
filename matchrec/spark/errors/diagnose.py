"""Spark's complaint about generated SQL → an error about the user's own text.

Every expression of the user is tried by itself, as SQL over one row, smallest parts first; the
first that Spark refuses is the culprit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.types import DateType, DoubleType, FloatType, NumericType, StringType

from matchrec.conditions.row_column import end_columns
from matchrec.conditions.split import is_truth
from matchrec.errors import MatchRecognizeError, MatchRecognizeUnsupportedError, calls, conditions
from matchrec.errors.sql import expression as errors
from matchrec.errors.sql import refusals
from matchrec.errors.sql.around import cure_of_refusal
from matchrec.errors.sql.foreign_names import cure_of_arguments
from matchrec.plan.clauses import Measure, RowExpression, RowsPerMatch
from matchrec.plan.expression import (
    MATCHED_ROWS,
    OF_ENDINGS,
    Aggregate,
    Classifier,
    ColumnReference,
    MatchValue,
    Operation,
    Reference,
    Scalar,
    Semantics,
    Term,
    conjuncts,
    inner_references,
    operand_of,
    render,
    subexpressions,
    terms,
    with_references,
    with_semantics,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.resolve import InputColumns
from matchrec.plan.show import call_of_aggregate, show_scalar
from matchrec.plan.text import marker_of, template
from matchrec.source import Span
from matchrec.spark.errors.second_look import first_failing
from matchrec.spark.relation import Relation
from matchrec.spark.sail import probes
from matchrec.spark.sail.sent import index_names
from matchrec.spark.sail.words import condition_of, sentence_of, split_help
from matchrec.spark.session import REFUSALS, SUBQUERY, quiet_analysis
from matchrec.spark.types import is_nested, parts_of

# A text, which has none, or `:name` that is no field of a value.
PARAMETER = re.compile(r"'[^']*'|(?<![\w`:\])]):([A-Za-z_]\w*)")


@dataclass(frozen=True, slots=True)
class WrittenSql:
    """SQL over one row that stands for something the user wrote, and where. call: of the function
    around it, up to there, or with which it is compared. beside: the columns with it.
    """

    clause: str
    text: str
    span: Span | None
    call: str = ""
    beside: tuple[ColumnReference, ...] = ()


def everything_written(plan: MatchPlan) -> Iterator[WrittenSql]:
    """The parts of every expression, smallest first, so that the caret is under the culprit."""
    yield from keys(plan)
    yield from (WrittenSql("WITHIN", interval.text, interval.span) for interval in plan.intervals)
    for clause, scalar in scalars_by_clause(plan):
        yield from written_in(clause, scalar)


def scalars_by_clause(plan: MatchPlan) -> Iterator[tuple[str, Scalar]]:
    yield from (("DEFINE", one.condition) for one in plan.definitions)
    yield from (("MEASURES", one.value) for one in plan.measures)


def keys(plan: MatchPlan) -> Iterator[WrittenSql]:
    order = tuple(item.expression for item in plan.order_by)
    by_clause = {"PARTITION BY": plan.partition_by, "[...]": plan.equal, "ORDER BY": order}
    for clause, parts in by_clause.items():
        yield from (WrittenSql(clause, part.text, part.span) for part in parts)


def conditions_over_one_row(plan: MatchPlan) -> Iterator[WrittenSql]:
    """The conditions that can be written over one row, each part of AND by itself; none whose form
    says that it is a truth value.
    """
    for definition in plan.definitions:
        for part in conjuncts(definition.condition):
            if not is_truth(part):
                yield from over_one_row("DEFINE", part)


def written_in(clause: str, scalar: Scalar) -> Iterator[WrittenSql]:
    """The arguments of the references, then the whole expression, or the parts of its AND."""
    beside = tuple(read for one in scalar.references for read in columns_read(one))
    for reference in scalar.references:
        call = call_around(reference, scalar)
        for read in columns_read(reference):
            yield WrittenSql(clause, read.argument, reference.span or scalar.span, call, beside)
        if isinstance(reference, Aggregate):
            yield WrittenSql(clause, over_all_rows(reference), reference.span or scalar.span)
    for part in conjuncts(scalar):
        yield from over_one_row(clause, part)


def call_around(reference: Reference, scalar: Scalar) -> str:
    """The aggregate that a reference is, or CLASSIFIER where that is compared with columns."""
    terms_of = terms(reference) if isinstance(reference, Aggregate) else (scalar,)
    if any(isinstance(one, Classifier) for term in terms_of for one in term.references):
        return "CLASSIFIER("
    if not isinstance(reference, Aggregate):
        return ""
    return f"{reference.function.upper()}({'DISTINCT ' * reference.distinct}"


def over_one_row(clause: str, scalar: Scalar) -> Iterator[WrittenSql]:
    """The expression as if every reference read the row itself; nothing where it aggregates."""
    if not any(isinstance(reference, Aggregate) for reference in scalar.references):
        yield WrittenSql(clause, render(scalar, stand_in), scalar.span)


def around_aggregates(plan: MatchPlan) -> Iterator[WrittenSql]:
    """The expressions that aggregate, as if all rows of the input were one match."""
    for clause, scalar in scalars_by_clause(plan):
        for part in conjuncts(scalar):
            if any(isinstance(reference, Aggregate) for reference in part.references):
                yield WrittenSql(clause, render(part, of_all_rows), part.span)


def of_all_rows(reference: Reference) -> str:
    """Something of the reference's type over all rows."""
    if isinstance(reference, Aggregate):
        return over_all_rows(reference)
    read = stand_in(reference)
    return f"any_value({read})" if isinstance(reference, ColumnReference) else read


def columns_read(reference: Reference) -> tuple[ColumnReference, ...]:
    read = inner_references(reference) if isinstance(reference, Aggregate) else (reference,)
    return tuple(one for one in read if isinstance(one, ColumnReference))


def over_all_rows(aggregate: Aggregate) -> str:
    """The aggregate as a query of its own over the input."""
    texts = (render(argument, stand_in) for argument in aggregate.arguments)
    ordering = (f"{render(term, stand_in)} {words}" for term, words in aggregate.ordering)
    condition = aggregate.condition
    where = render(condition, stand_in) if condition else None
    return call_of_aggregate(aggregate, texts, ordering, where)


def stand_in(reference: Reference) -> str:
    """Something of the reference's type over one row."""
    match reference:
        case ColumnReference():
            return operand_of(reference)
        case Aggregate():
            raise AssertionError(reference)
        case _:
            return "''" if isinstance(reference, Classifier) else "1L"


@dataclass(frozen=True)
class Diagnosis:
    """Why Spark refuses a plan over a relation. columns: of that, as the plan knows them."""

    plan: MatchPlan
    relation: Relation
    columns: InputColumns

    @contextmanager
    def explain(self) -> Iterator[None]:
        """Raises MatchRecognizeError with a place in the query for what Spark refuses inside."""
        try:
            yield
        except REFUSALS as error:
            raise self.find(error) from error
        except RecursionError as error:
            raise conditions.nested_too_deep_to_plan() from error
        except MatchRecognizeUnsupportedError as error:
            for interval in self.plan.intervals:
                expected = conditions.not_measured_by(interval.span)
                if (error.message, error.span) == (expected.message, expected.span):
                    raise self.other_window(interval) from None
            raise error from None

    def find(self, error: PySparkException) -> MatchRecognizeError:
        plan, relation = self.plan, self.relation
        if refused := first_refused(tuple(dict.fromkeys(everything_written(plan))), relation):
            return self.explain_refusal(*refused)
        for interval in plan.intervals:  # which Spark may not add to the key that it is along
            texts = [column.text for column in end_columns(plan, interval)]
            if refusal_of(texts, relation) is not None:
                return self.other_window(interval)
        if mistake := next(mistakes(plan, relation), None) or self.refused_correlation(str(error)):
            return mistake
        if refused := first_refused(tuple(around_aggregates(plan)), relation):
            return self.explain_refusal(*refused)
        engine = relation.runner.backend.engine
        return refusals.refused_by_engine(engine, "MATCH_RECOGNIZE", first_line(error), None)

    def refused_correlation(self, said: str) -> MatchRecognizeError | None:
        """A subquery of a measure over a column of the input, which is gone after the match."""
        condition, name = named_in(said) or ("", "")
        is_of_input = self.columns.find((name.rpartition(".")[2],)) is not None
        parts = (part for one in self.plan.measures for part in subexpressions(one.value))
        queries = [part.span for part in parts if "SELECT" in part.operations]
        if condition != "UNRESOLVED_COLUMN" or not (is_of_input and queries):
            return None
        smallest = min(queries, key=lambda span: span.end - span.start)
        what = f"column `{name}` of the input"
        return errors.correlated_subquery(smallest, clause="MEASURES", what=what).under(name)

    def other_window(self, interval: RowExpression) -> MatchRecognizeError:
        """The error of a window that is not a distance along its key."""
        order = self.plan.order_by[0].expression
        names = [self.relation.type_of(one.text).simpleString() for one in (order, interval)]
        return conditions.within_of_other_type(names[0], names[1], order.span, interval.span)

    def explain_refusal(self, written: WrittenSql, error: PySparkException) -> MatchRecognizeError:
        """One refusal in our words: unknown names by name, anything else in Spark's words."""
        runner = self.relation.runner
        given = tuple(map(str, runner.args or ()))
        asked = filter(None, (found[1] for found in PARAMETER.finditer(written.text)))
        # of what has no value, not each session speaks
        unbound = unbound_name(error) or next((one for one in asked if one not in given), None)
        if unbound is not None:
            return unbound_in(written, unbound, given)
        condition, name = named_in(str(error), written.text) or (None, written.text)
        clause, span = written.clause, written.span
        match condition:
            case "UNRESOLVED_COLUMN" if not SUBQUERY.search(written.text):
                return errors.unknown_column(name, clause, self.names(written), span)
            case "UNRESOLVED_ROUTINE":
                return errors.unknown_function(name, clause, runner.functions(), span)
            case "AMBIGUOUS_REFERENCE":
                return errors.ambiguous_column(span, name=name, clause=clause)
        engine, said, columns = runner.backend.engine, first_line(error), self.columns
        cure = refusals.cure_of_quoted_column(said, columns.names)
        cure = cure or cure_of_arguments(function_of(error))
        cure = cure or split_help(sentence_of(str(error)))[1]
        refusal = refusals.refused_by_engine(engine, clause, said, span, cure)
        if refusal.hint is None:
            refusal.hint = cure_of_refusal(str(error), said)
        return refusal

    def names(self, written: WrittenSql) -> errors.Names:
        plan, here = self.plan, written.span
        others = (m for m in plan.measures if here is None or not m.value.span.holds(here))
        in_function = written.clause == "MEASURES" and written.call != ""
        variables = (*plan.variables, *(subset.name for subset in plan.subsets))
        measures = {measure.name: value_so_far(measure, plan) for measure in others}
        keys = tuple(key.name for key in plan.partition_by if key.name)
        near = [*filter(None, (self.columns.find(read.names) for read in written.beside))]
        if written.call and not near:  # a column that its function can take
            fields = self.relation.rows.schema.fields
            near = [one.name for one in fields if isinstance(one.dataType, NumericType)]
        example = next(iter((*near, *self.columns.names)), "x")
        is_in_window = in_function and plan.rows_per_match is RowsPerMatch.EACH_ROW
        indexes = index_names(self.relation.runner.frames.values())
        known = self.columns.names, variables, measures, keys
        return errors.Names(*known, written.call, example, is_in_window, indexes)


def refusal_of(texts: Sequence[str], relation: Relation) -> PySparkException | None:
    try:
        relation.runner.analyse(relation.select(texts))
    except PySparkException as refusal:
        return refusal
    return None


def first_refused(
    written: Sequence[WrittenSql], relation: Relation
) -> tuple[WrittenSql, PySparkException] | None:
    """The first of several expressions that Spark refuses by itself, with what it says."""
    return first_failing(written, lambda some: refusal_of([sql.text for sql in some], relation))


def named_in(said: str, asked: str = "") -> tuple[str, str] | None:
    """The condition and the name that a refusal is about, if it is about one. asked: what was
    refused, if that is known: of `x.f()`, Sail does not say which function it is.
    """
    called = re.search(r"[\w`]+\.\w+(?=\s*\()", asked) if "qualified function" in said else None
    if called is not None:  # as of a method of Python's, `price.shift(1)`
        return "UNRESOLVED_ROUTINE", called[0].replace("`", "")
    found = re.match(r"\[([A-Z_]+).*?((?:`[^`]*`\.?)+)", said, re.DOTALL)
    return (found[1], found[2].replace("`", "").rstrip(".")) if found else condition_of(said)


def value_so_far(measure: Measure, plan: MatchPlan) -> str:
    """A measure as a condition can compute it, or nothing where it is of a match as a whole."""
    value = measure.value
    so_far = with_references(value, lambda one: with_semantics(one, Semantics.RUNNING))
    is_final = so_far != value and not plan.rows_per_match.is_one_row
    of_the_match = (
        isinstance(one, MatchValue | Aggregate) and one.function in (*OF_ENDINGS, MATCHED_ROWS)
        for one in value.references
    )
    if is_final or any(of_the_match):
        return ""
    return f"({show_scalar(so_far)})" if so_far.operations else show_scalar(so_far)


def unbound_name(refusal: PySparkException) -> str | None:
    """The parameter without a value, where Spark speaks of one."""
    found = re.search(r"\[UNBOUND_SQL_PARAMETER\].*?: `?(\w+)", str(refusal))
    condition, name = condition_of(str(refusal)) or (None, None)
    return found[1] if found else name if condition == "UNBOUND_SQL_PARAMETER" else None


def unbound_in(written: WrittenSql, name: str, known: tuple[str, ...]) -> MatchRecognizeError:
    if name in known:
        return lost_value_of(name, written.span)
    if (marker := marker_of(name)) is not None:
        return calls.marker_without_value(marker)
    return calls.unbound_parameter(written.span, name=name, known=known).under(f":{name}")


def lost_value_of(name: str, place: Span | None) -> MatchRecognizeError:
    """The error of a value that the session has lost. place: of its text; a `?` knows its own."""
    if (marker := marker_of(name)) is not None:
        return calls.lost_value(marker, parameter="a parameter marker (?)")
    return calls.lost_value(place, parameter=f"parameter `:{name}`").under(f":{name}")


def function_of(refusal: PySparkException) -> str:
    """The function of whose call Spark says something, or nothing."""
    about = refusal.getMessageParameters() or {}
    called = re.match(r"\W*(\w+)\(", about.get("sqlExpr") or "")
    return about.get("functionName", "").strip("`") or (called[1] if called else "")


def first_line(error: Exception) -> str:
    """Spark's sentence, without its condition name, SQLSTATE and query context."""
    text = sentence_of(str(error)).strip().split("\n")[0]
    text = re.sub(r"^\[[A-Z0-9_.]+\]\s*", "", text)
    text = re.sub(r"\s*Please, refer to '[^']*' for a fix\.", "", text)
    return re.sub(r"\s*SQLSTATE: \w+.*$", "", text).rstrip(". ")


def check_type_column(df: DataFrame, name: str, plan: MatchPlan) -> None:
    """Raises where a SASE+ plan tests types of events by no column of texts of the DataFrame."""
    asked = (conjunct for each in plan.definitions for conjunct in conjuncts(each.condition))
    if not any(_tests_type(condition, name) for condition in asked):
        return
    with quiet_analysis():
        try:
            plain = name in df.columns
            if plain and not name.replace(".", "_").isidentifier():
                raise errors.unknown_type_column(name=name, known=df.columns)
            read = df.schema[name] if plain else df.selectExpr(name).schema.fields[0]
        except REFUSALS as error:
            raise errors.unknown_type_column(name=name, known=df.columns) from error
    if not isinstance(read.dataType, StringType):
        raise errors.type_column_without_texts(type_name=read.dataType.simpleString(), name=name)


def _tests_type(condition: Scalar, column: str) -> bool:
    """Whether it is `column = 'Stock'` of a component `Stock a`: both stand at its type."""
    match condition:
        case Operation("=", (Term((ColumnReference(argument=argument),), left), Term(_, right))):
            return argument == column and left == right
        case _:
            return False


# What Spark would refuse or compute otherwise, and the session does not: refused before it runs.
#
# Spark's analysis finds a condition that is not boolean and a key that has no order. Another engine
# that takes the same calls may not, and may round where Spark does not; then nobody would see that
# a result is wrong. Each session is asked once: see `matchrec.spark.sail.probes`.


def check_types(plan: MatchPlan, relation: Relation) -> None:
    """Raise MatchRecognizeError for what Sail has not found, or would compute otherwise."""
    if found := next(mistakes(plan, relation), None) or next(differences(plan, relation), None):
        raise found


def mistakes(plan: MatchPlan, relation: Relation) -> Iterator[MatchRecognizeError]:
    """Conditions that are not boolean, and keys without an order."""
    asked, sorted_by = tuple(conditions_over_one_row(plan)), tuple(keys(plan))
    relation.fields(sql.text for sql in (*asked, *sorted_by))  # asks for all at once
    for condition in asked:
        type_name = relation.type_of(condition.text).simpleString()
        if type_name != "boolean":
            yield conditions.not_boolean(condition.span, type_name=type_name)
    for key in sorted_by:
        type_ = relation.type_of(key.text)
        if any(type(one).__name__ in WITHOUT_ORDER for one in parts_of(type_)):
            yield errors.not_sortable(key.clause, type_.simpleString(), key.span)


# Some of which an older PySpark has not.
WITHOUT_ORDER = {"MapType", "VariantType", "CalendarIntervalType", "GeometryType", "GeographyType"}


def differences(plan: MatchPlan, relation: Relation) -> Iterator[MatchRecognizeError]:
    """Keys and windows that the session takes for others than Spark does."""
    spark = relation.runner.spark
    for key in keys(plan):
        type_ = relation.type_of(key.text)
        floating = any(isinstance(one, FloatType | DoubleType) for one in parts_of(type_))
        if floating and is_nested(type_) and probes.tells_zeros_apart(spark):
            yield calls.nested_zeros(key.span, clause=key.clause, type_name=type_.simpleString())
    order = plan.order_by[0].expression if plan.order_by else None
    if order is None or not isinstance(relation.type_of(order.text), DateType):
        return
    for interval in plan.lengths:
        if interval.text and probes.drops_hours(spark) and has_hours(interval.text, relation):
            yield calls.hours_along_dates(interval.span, interval=interval.text)


def has_hours(interval: str, relation: Relation) -> bool:
    """Whether an interval is no whole number of days. Runs a query of one row."""
    runner = relation.runner
    day, at = "DATE'2000-01-01'", "TIMESTAMP'2000-01-01 00:00:00'"
    text = runner.written(f"{at} + ({interval}) = CAST({day} + ({interval}) AS TIMESTAMP)")
    return not runner.sql(template("SELECT ", text)).collect()[0][0]
