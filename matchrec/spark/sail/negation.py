"""Write negated decimals as differences, because Sail 0.7.2 negates them wrongly without ANSI mode.

The result of Sail's negation has the right sign and digits, but the scale 10 instead of the scale
of its type: `- n` is -0.0000000150 if n is 1.50. A query that selects the result fails; a CAST or a
sum of the result is silently wrong. Negated constants are right, because they are computed when the
query is planned.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from pyspark.sql.types import DataType, DecimalType

from matchrec.errors import conditions as errors
from matchrec.plan.change_expressions import map_operations
from matchrec.plan.clauses import RowExpression
from matchrec.plan.expression import Operation, render
from matchrec.plan.match_plan import MatchPlan, map_expressions
from matchrec.plan.operations import SUBQUERY, UNPARSED
from matchrec.spark.errors.row_expressions import render_stand_in
from matchrec.spark.relation import Relation
from matchrec.spark.sail.hidden_operations import find_hidden_operations
from matchrec.spark.sail.operand_types import find_operand_type
from matchrec.spark.sail.probes import negates_to_scale_ten
from matchrec.spark.types import iterate_types, write_type

# The operators that negate.
NEGATION_OPERATORS = frozenset({"NEG", "NEGATIVE"})

# The same operators, as `Term.operations` names them.
NEGATION_OPERATIONS = frozenset({"NEG", "NEGATIVE()"})

# The type that Sail gives to every negated decimal. Negated decimals of this type are right.
TYPE_OF_NEGATED = DecimalType(38, 10)

WORD = re.compile(r"\w+")

# Found in every text that can make a decimal of other values: the name of the type, a function that
# can return decimals, or a literal such as `1.5`, `1BD` or a number too long for a BIGINT. `1.5D`
# and `1.5e0` are doubles.
DECIMAL_SOURCE = re.compile(
    r"\b(?:DEC|DECIMAL|NUMERIC|EXTRACT|DATE_?PART|(?:TRY_)?TO_NUMBER|CEIL|CEILING|FLOOR)\b"
    r"|(?<!\w)(?:\d+\.\d*|\.\d+|\d{19,})(?![\dDEF])|\d(?:E[+-]?\d+)?BD\b",
    re.IGNORECASE,
)

# A possible negation in a subquery, which is not parsed.
POSSIBLE_NEGATION = re.compile(r"-|\bNEGATIVE\b", re.IGNORECASE)


def correct_negations(plan: MatchPlan, relation: Relation) -> MatchPlan:
    """Return the plan with negated decimals as differences, if the session negates them wrongly.

    Only the SQL that Sail gets is changed; a worker that computes the operation still negates:

        - n   →   CAST(0BD - (n) AS DECIMAL(10,2))

    Raises:
        MatchRecognizeUnsupportedError: a negation is in a text that cannot be rewritten, because it
            is not parsed: `FIRST(- n)`.
    """
    reject_hidden_negations(plan, relation)

    def correct_operation(operation: Operation) -> Operation:
        """Return an operation, with other SQL if it negates a decimal."""
        if operation.operator not in NEGATION_OPERATORS or not operation.references:
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

    The SQL cannot be changed in keys, in the arguments of FIRST, LAST, PREV and NEXT, and in
    lambdas. Runs a job if such a text can have a negation and can compute with decimals.

    Raises:
        MatchRecognizeUnsupportedError: such a text can negate decimals, and the session negates
            them wrongly.
    """
    negations = [
        (term.span, render(term, render_stand_in))
        for term in find_hidden_operations(plan, NEGATION_OPERATIONS)
    ]
    negations += [(key.span_or_start, key.text) for key in plan.sorted_by if can_negate(key)]
    if not negations:
        return
    fields = relation.rows.schema.fields
    decimal_columns = [field.name for field in fields if has_decimals(field.dataType)]
    spans_with_decimals = [
        span for span, text in negations if can_compute_decimals(text, decimal_columns)
    ]
    if spans_with_decimals and negates_to_scale_ten(relation.runner.spark):
        raise errors.negated_decimal(spans_with_decimals[0])


def can_negate(key: RowExpression) -> bool:
    """Return whether a key can have a negation, perhaps in a subquery."""
    if key.operations & NEGATION_OPERATIONS:
        return True
    is_opaque = bool(key.operations & (UNPARSED | {SUBQUERY}))
    return is_opaque and POSSIBLE_NEGATION.search(key.text) is not None


def has_decimals(type_: DataType) -> bool:
    """Return whether values of a type are decimals, or have decimals in them."""
    return any(isinstance(part, DecimalType) for part in iterate_types(type_))


def can_compute_decimals(text: str, decimal_columns: Iterable[str]) -> bool:
    """Return whether SQL can compute with decimals.

    A text that has all words of a column's name counts as reading the column: the text is not
    parsed, and the name of a column in backticks can have any characters.

    Args:
        text: SQL over one row of the input.
        decimal_columns: the names of the columns that have decimals.

    >>> can_compute_decimals("- `unit price`", ["unit price"])
    True
    >>> can_compute_decimals("- units", ["unit"])
    False
    >>> can_compute_decimals("- (x * 1.5)", []), can_compute_decimals("- (x * 1.5D)", [])
    (True, False)
    """
    words = split_words(text)
    reads_column = any(split_words(name) <= words for name in decimal_columns)
    return reads_column or DECIMAL_SOURCE.search(text) is not None


def split_words(text: str) -> frozenset[str]:
    """Return the words of a text or of a column's name, in lower case."""
    return frozenset(word.lower() for word in WORD.findall(text))
