"""Aggregates in conditions on the run, as a few basic forms and as lists of rows.

The search updates the basic forms with each row. Several of Spark's aggregates can be rewritten as
one of them: `count_if(c)` counts `IF(c, 1, NULL)`, `bool_and(c)` is the least of the truth values,
and FILTER makes the argument NULL. Python computes all other aggregates from a list of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from matchrec.conditions.aggregate_table import find_entry
from matchrec.conditions.residual import NO_SPAN, RunningAggregate, Step, read_current_row
from matchrec.conditions.row_column import FramedAggregate, ShiftedValue, build_row_column
from matchrec.errors.conditions import AS_MEASURE, aggregate_not_supported_in_define, not_a_constant
from matchrec.plan import expression
from matchrec.plan.text import quote_string
from matchrec.source import Span


def find_basic_form(aggregate: expression.Aggregate) -> RunningAggregate | None:
    """Return the basic form of an aggregate, or None if it has none.

    The basic form of `count_if(x > 0)` is COUNT of the column `IF(x > 0, 1, NULL)`. An aggregate
    with several arguments or an order has no basic form, nor has one whose argument reads more than
    columns. With DISTINCT only an extreme has one, because DISTINCT does not change it.
    """
    reduction = find_entry(aggregate.function).reduction
    if reduction is None or len(aggregate.arguments) > 1 or aggregate.ordering:
        return None
    if aggregate.is_distinct and not reduction.is_extreme:
        return None
    if not all(expression.reads_columns_only(term) for term in expression.list_inputs(aggregate)):
        return None
    text = write_basic_argument(aggregate)
    column = None if text is None else build_row_column(text)
    return RunningAggregate(reduction, aggregate, column, aggregate.span or NO_SPAN)


def write_basic_argument(aggregate: expression.Aggregate) -> str | None:
    """Return the argument of a basic form as SQL, whose value is NULL on rows that do not count.

    None for `count(*)` without FILTER, which counts every row. For `count(*) FILTER (WHERE x > 0)`,
    the result is `IF(x > 0, 1, NULL)`.
    """
    text = expression.write_row_sql(aggregate.arguments[0]) if aggregate.arguments else None
    if aggregate.function == "count_if":
        text = f"IF({text}, 1, NULL)"
    if find_entry(aggregate.function).is_truth:
        text = f"NOT (NOT ({text}))"  # so that Spark rejects values that are not BOOLEAN
    if aggregate.condition is not None:
        value = "1" if text is None else text  # `count(*)` counts rows, so any value will do
        text = f"IF({expression.write_row_sql(aggregate.condition)}, {value}, NULL)"
    return text


# Takes the name of a variable and a term of an aggregate. Returns the step by which the search
# computes the term on a row that is mapped to the variable.
SplitTerm = Callable[[str, expression.Scalar], Step]


def split_aggregate(
    aggregate: expression.Aggregate, variables: Sequence[str], split_term: SplitTerm, span: Span
) -> RunningAggregate:
    """Return an aggregate in its basic form, with the steps for a list of its rows, or with both.

    Sums and averages get both, because the search cannot add values of all types. Other aggregates
    get the basic form if they have one, and otherwise the list.

    Args:
        aggregate: an aggregate without a frame.
        variables: for each primary variable, by id, the variable for which its listed rows are
            split: see `split.find_listing_variables`.
        split_term: splits a term that reads MATCH_NUMBER().
        span: the location of the aggregate in the query.

    Raises:
        MatchRecognizeUnsupportedError: conditions cannot have this aggregate, or one of its
            arguments must be a constant.
    """
    basic_form = find_basic_form(aggregate)
    if basic_form is not None:
        assert basic_form.function is not None
        if not basic_form.function.is_additive:
            return replace(basic_form, span=span)
    check_python_computes(aggregate, span)
    listed_steps = tuple(
        build_listed_steps(aggregate, variable, split_term, span) for variable in variables
    )
    if basic_form is None:
        return RunningAggregate(None, aggregate, None, span, listed_steps=listed_steps)
    return replace(basic_form, span=span, listed_steps=listed_steps)


def check_python_computes(aggregate: expression.Aggregate, span: Span) -> None:
    """Check that Python can compute an aggregate from a list.

    Raises:
        MatchRecognizeUnsupportedError: Python cannot compute the aggregate, or one of its arguments
            must be a constant.
    """
    from matchrec.conditions.accumulators.table import AGGREGATES, ALTERNATIVES

    name = f"{aggregate.function} WITHIN GROUP" if aggregate.ordering else aggregate.function
    function = AGGREGATES.get(name)
    if function is None:
        hint = f"write {ALTERNATIVES[name]}" if name in ALTERNATIVES else AS_MEASURE
        raise aggregate_not_supported_in_define(span, function=name, hint=hint)
    for index, argument in enumerate(aggregate.arguments):
        if index == function.constant_argument and argument.references:
            raise not_a_constant(argument.span, position=index + 1, function=aggregate.function)


def build_listed_steps(
    aggregate: expression.Aggregate, variable: str, split_term: SplitTerm, span: Span
) -> tuple[Step, ...]:
    """Return the steps that compute the values that a list has for a row mapped to a variable.

    The first step computes whether the row counts, the others compute the arguments. CLASSIFIER()
    in them is the name of the variable.

    Args:
        aggregate: the aggregate over the list.
        variable: the primary variable to which the row is mapped.
        split_term: splits a term that reads MATCH_NUMBER(). Spark computes all other terms.
        span: the location of the aggregate in the query.

    Raises:
        MatchRecognizeUnsupportedError: a term reads something else than columns, CLASSIFIER() and
            MATCH_NUMBER().
    """

    def write_reference(reference: expression.Reference) -> str:
        """Return SQL of the value that a reference has on the listed row."""
        match reference:
            case expression.ColumnReference():
                return expression.write_operand(reference)
            case expression.Classifier():
                return quote_string(variable)
            case _:
                raise aggregate_not_supported_in_define(
                    span, function=aggregate.function, hint=AS_MEASURE
                )

    def build_step(term: expression.Scalar) -> Step:
        """Return the step that computes a term on the current row."""
        if expression.MATCH_NUMBER in term.references:
            return split_term(variable, term)
        text = expression.render(term, write_reference)
        return read_current_row(build_row_column(text, expression.find_amount(term)), span)

    if aggregate.condition is None:
        condition: Step = read_current_row(build_row_column("TRUE"), span)
    else:
        condition = build_step(aggregate.condition)
    return (condition, *[build_step(argument) for argument in aggregate.arguments])


def build_framed_aggregate(aggregate: expression.Aggregate) -> FramedAggregate:
    """Return an aggregate over a frame, which Spark computes for every row.

    The call of `max_by(price, ts)` is `max_by(`, `price` shifted by 0, `, `, `ts` shifted by 0 and
    `)`. An aggregate without arguments is `count(*)`.
    """
    assert aggregate.frame is not None
    call: list[str | ShiftedValue] = [f"{aggregate.function}("]
    if not aggregate.arguments:
        call.append("*")
    for index, argument in enumerate(aggregate.arguments):
        if index > 0:
            call.append(", ")
        text = expression.write_row_sql(argument)
        # Spark may require a constant, which must remain text.
        call.append(ShiftedValue(text, 0) if argument.references else text)
    call.append(")")
    if aggregate.ignore_nulls:
        call.append(" IGNORE NULLS")
    return FramedAggregate(tuple(call), aggregate.frame)
