"""Find the types of operands that refer to a match, which an engine cannot analyse."""

from __future__ import annotations

from contextlib import suppress

from pyspark.errors import PySparkException
from pyspark.sql.types import DataType

from matchrec.plan.expression import Scalar, render
from matchrec.spark.analysis_log import silence_analysis
from matchrec.spark.errors.row_expressions import (
    has_aggregate,
    render_over_all_rows,
    render_stand_in,
)
from matchrec.spark.relation import Relation


def find_operand_type(operand: Scalar, relation: Relation) -> DataType | None:
    """Return the type of an operand; None if the session rejects the operand.

    The session gets the operand with other SQL instead of each reference to a match: a column of
    the input, or an aggregate over all rows of the input.
    """
    text = render(operand, render_over_all_rows if has_aggregate(operand) else render_stand_in)
    # The operand can have a mistake, which is explained later, or not be an expression by itself.
    with silence_analysis(), suppress(PySparkException):
        return relation.find_type(text)
    return None
