"""Write negated decimals as differences, because Sail 0.7.2 negates them wrongly without ANSI mode.

The result has another type than Sail declares. Its digits are right, and its scale is always 10:
`- 1.50` is 0.0000000150. If nothing computes with it, the query fails. If a CAST or a sum does, the
value is wrong. Constants are right: they are computed when the query is planned.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace

from pyspark.errors import PySparkException
from pyspark.sql.types import DataType, DecimalType

from matchrec.errors import conditions as errors
from matchrec.plan.expression import Operation, Scalar, map_operations, render
from matchrec.plan.match_plan import MatchPlan, map_expressions
from matchrec.spark.analysis_log import silence_analysis
from matchrec.spark.errors.row_expressions import (
    has_aggregate,
    render_over_all_rows,
    render_stand_in,
)
from matchrec.spark.relation import Relation
from matchrec.spark.sail.hidden_operations import find_hidden_operations
from matchrec.spark.sail.probes import negates_to_scale_ten
from matchrec.spark.types import iterate_types, write_type

# The operators, and their names in the set of an expression's operations.
NEGATIONS = frozenset({"NEG", "NEGATIVE"})
NEGATION_NAMES = frozenset({"NEG", "NEGATIVE()"})

# The type that Sail gives to every negated decimal. So decimals of this type are negated correctly.
TYPE_OF_NEGATED = DecimalType(38, 10)

# A `-` with no operand before it, in front of something that is not a number.
NEGATION_IN_TEXT = re.compile(
    r"(?:^|[^\w\s)\]`]|\b(?:AND|BETWEEN|ELSE|IN|NOT|OR|THEN|WHEN))\s*-\s*(?:[^\W\d]|[(`])"
    r"|\bNEGATIVE\s*\(",
    re.IGNORECASE,
)


def correct_negations(plan: MatchPlan, relation: Relation) -> MatchPlan:
    """Return the plan with negated decimals written as differences, if the session needs that.

    The operation stays a negation for whatever computes it itself; only its SQL is another one:

        - n   →   CAST(0BD - (n) AS DECIMAL(10,2))

    Raises:
        MatchRecognizeUnsupportedError: a negation is in text that has no structure, such as
            `FIRST(- n)`.
    """
    reject_hidden_negations(plan, relation)

    def correct_operation(operation: Operation) -> Operation:
        """Return an operation, with another SQL if it negates a decimal."""
        if operation.operator not in NEGATIONS or not operation.references:
            return operation
        (operand,) = operation.operands
        type_ = find_operand_type(operand, relation)
        if not isinstance(type_, DecimalType) or type_ == TYPE_OF_NEGATED:
            return operation
        if not negates_to_scale_ten(relation.runner.spark):
            return operation
        return replace(operation, parts=("CAST(0BD - (", operand, f") AS {write_type(type_)})"))

    return map_expressions(plan, lambda scalar, _: map_operations(scalar, correct_operation))


def reject_hidden_negations(plan: MatchPlan, relation: Relation) -> None:
    """Check that no decimal is negated where the SQL cannot be changed.

    These places are keys, the arguments of FIRST, LAST, PREV and NEXT, and lambdas.

    Raises:
        MatchRecognizeUnsupportedError: such a text has a negation and names a column with decimals,
            and the session negates decimals wrongly.
    """
    terms = find_hidden_operations(plan, NEGATION_NAMES)
    keys = [key for key in plan.sorted_by if NEGATION_IN_TEXT.search(key.text)]
    hidden = [
        *((term.span, render(term, render_stand_in)) for term in terms),
        *((key.span_or_start, key.text) for key in keys),
    ]
    if not hidden:
        return
    decimals = {
        field.name.lower()
        for field in relation.rows.schema.fields
        if any(isinstance(part, DecimalType) for part in iterate_types(field.dataType))
    }
    for span, text in hidden:
        words = {word.lower() for word in re.findall(r"\w+", text)}
        if words & decimals and negates_to_scale_ten(relation.runner.spark):
            raise errors.negated_decimal(span)


def find_operand_type(operand: Scalar, relation: Relation) -> DataType | None:
    """Return the type of an operand; None if the session rejects the operand.

    The session cannot analyse references to a match. So it gets the operand with a column of the
    input instead of each reference, or with an aggregate over all rows of the input.
    """
    text = render(operand, render_over_all_rows if has_aggregate(operand) else render_stand_in)
    with silence_analysis(), suppress(PySparkException):  # a mistake, which is explained later
        return relation.find_type(text)
    return None
