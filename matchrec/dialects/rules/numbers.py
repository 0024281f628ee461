"""Rules for numbers.

sqlglot leaves these as they are, although products disagree on the result:

    CAST(2.7 AS INTEGER)   3 in Oracle, Snowflake, Trino and BigQuery; 2 in Spark and Flink
    7 / 2                  3 in Trino, Flink SQL and Azure; 3.5 elsewhere
    AVG(x) of decimals     as many digits as x in Trino, more elsewhere
"""

from __future__ import annotations

from sqlglot import exp

from matchrec.dialects.products import TRINO
from matchrec.dialects.rules.context import RuleContext
from matchrec.dialects.rules.function_calls import call_function
from matchrec.dialects.rules.value_kinds import ValueKind

# Products in which a cast to an integer rounds. The others cut the fraction off.
_ROUNDING_PRODUCTS = frozenset({"oracle", "snowflake", "trino", "bigquery"})

# By product, the name of the function that cuts a fraction off, if it is not TRUNC.
_CUTTING_FUNCTIONS = {"trino": "TRUNCATE"}

# Functions after which nothing is left to round or cut.
_WHOLE_NUMBERS = (exp.Round, exp.Trunc, exp.Ceil, exp.Floor)


def round_or_cut_cast(node: exp.Cast, context: RuleContext) -> exp.Expr:
    """Rewrite `CAST(x AS INTEGER)` so that it rounds, or cuts the fraction off, as it did before.

        CAST(x AS INTEGER)     Oracle to Spark    CAST(ROUND(x) AS INT)
        CAST(x AS INTEGER)     Spark to Trino     CAST(TRUNCATE(x) AS INTEGER)

    If the type of x is not known, the cast stays and gets a note.
    """
    read = context.read
    write = context.write
    read_rounds = read.name in _ROUNDING_PRODUCTS
    write_rounds = write.name in _ROUNDING_PRODUCTS
    is_to_integer = node.is_type(*exp.DataType.INTEGER_TYPES)
    if read_rounds is write_rounds or not is_to_integer or isinstance(node.this, _WHOLE_NUMBERS):
        return node
    kind = context.request_kind(node.this)
    if kind is None:
        read_verb, write_verb = ("rounds", "truncates") if read_rounds else ("truncates", "rounds")
        context.add_note(
            f"a cast to an integer {read_verb} in {read.title}, and {write_verb} in {write.title}; "
            "the types of these columns are not known"
        )
    if kind not in (ValueKind.FRACTION, ValueKind.DECIMAL):
        return node
    name = "ROUND" if read_rounds else _CUTTING_FUNCTIONS.get(write.name, "TRUNC")
    node.set("this", call_function(name, node.this))
    return node


def rewrite_division(node: exp.Div, context: RuleContext) -> exp.Expr:
    """Rewrite `a / b` of integers to `a DIV b` if only the product that is read drops the fraction.

    If types are not known, or only the product that is written drops the fraction, the division
    stays and gets a note.
    """
    read = context.read
    write = context.write
    if read.divides_integers == write.divides_integers:
        return node
    kinds = {context.request_kind(node.this), context.request_kind(node.expression)}
    if kinds == {ValueKind.INTEGER} and read.divides_integers:
        return exp.IntDiv(this=node.this, expression=node.expression)
    if kinds <= {ValueKind.INTEGER, None}:
        drops, keeps = (read, write) if read.divides_integers else (write, read)
        context.add_note(
            f"the quotient of two integers is an integer in {drops.title}, and has a fraction in "
            f"{keeps.title}"
        )
    return node


def rewrite_safe_divide(node: exp.SafeDivide, context: RuleContext) -> exp.Expr:
    """Rewrite `SAFE_DIVIDE(a, b)` to `a / NULLIF(b, 0)`.

    sqlglot writes Spark's TRY_DIVIDE, which Sail has for few types.
    """
    if not context.write.has_spark_functions:
        return node
    dividend = _parenthesize(node.this.copy())
    divisor = _parenthesize(node.expression.copy())
    divisor_or_null = exp.func("NULLIF", divisor, exp.Literal.number(0))
    # With these arguments, sqlglot writes `/` as it is.
    division = exp.Div(this=dividend, expression=divisor_or_null, typed=True, safe=False)
    return exp.paren(division, copy=False)


def _parenthesize(node: exp.Expr) -> exp.Expr:
    """Return a binary operation in parentheses, and anything else as it is."""
    return exp.paren(node) if isinstance(node, exp.Binary) else node


def note_average_of_integers(node: exp.Avg, context: RuleContext) -> exp.Expr:
    """Add a note on `AVG` of integers.

    Flink returns it without a fraction, though its documentation shows one.
    """
    if context.request_kind(node.this) is ValueKind.INTEGER:
        context.add_note("AVG of integers keeps its fraction, which Flink SQL drops")
    return node


def note_average_of_decimals(node: exp.Avg, context: RuleContext) -> exp.Expr:
    """Add a note on `AVG` of decimals: it has as many digits as its values in Trino, else more."""
    reads_trino = context.read is TRINO
    kind = context.request_kind(node.this)
    if kind is ValueKind.DECIMAL or (kind is None and reads_trino):
        other_product = context.write if reads_trino else context.read
        context.add_note(
            "AVG of decimals keeps their number of digits in Trino, and has more in "
            f"{other_product.title}; for DECIMAL(10, 2) write CAST(AVG(x) AS DECIMAL(10, 2))"
        )
    return node


def round_decimal_quotient(node: exp.Div, context: RuleContext) -> exp.Expr:
    """Round `a / b` of decimals as Trino does: to the digits of the operand with more digits.

        1.5 / 2.25     CAST(1.5 / 2.25 AS DECIMAL(38, 2))

    If the number of digits is not known, or the product that is written is not Spark, the quotient
    stays and gets a note.
    """
    kinds = {context.request_kind(node.this), context.request_kind(node.expression)}
    may_be_decimals = kinds <= {ValueKind.DECIMAL, ValueKind.INTEGER, None}
    is_decimal = ValueKind.DECIMAL in kinds and may_be_decimals
    if context.write is TRINO or not is_decimal:
        return node
    digits = _count_decimal_digits(node, context)
    if digits is not None and context.write.is_spark:
        return exp.cast(node.copy(), f"DECIMAL(38, {digits})")
    context.add_note(
        "Trino rounds a quotient of decimals to the larger number of digits of the two, and "
        f"{context.write.title} keeps more digits; for DECIMAL(10, 2) write "
        "CAST(a / b AS DECIMAL(10, 2))"
    )
    return node


def _count_decimal_digits(node: exp.Expr, context: RuleContext) -> int | None:
    """Return the number of digits that a number has after the point in Trino; None if unknown."""
    match node:
        case exp.Literal() if not node.is_string:
            return len(node.name.partition(".")[2])
        case exp.Cast() if context.request_kind(node) is ValueKind.DECIMAL:
            parameters = node.to.expressions
            return int(parameters[1].name) if len(parameters) == 2 else 0
        case exp.Paren() | exp.Neg() | exp.Abs() | exp.Min() | exp.Max() | exp.Sum():
            return _count_decimal_digits(node.this, context)
        case exp.Mul() | exp.Add() | exp.Sub() | exp.Div() | exp.Mod():
            left = _count_decimal_digits(node.this, context)
            right = _count_decimal_digits(node.expression, context)
            if left is None or right is None:
                return None
            return left + right if isinstance(node, exp.Mul) else max(left, right)
    return 0 if context.request_kind(node) is ValueKind.INTEGER else None


def rewrite_to_number(node: exp.ToNumber, _: RuleContext) -> exp.Expr:
    """Rewrite `TO_NUMBER(x)` of Snowflake, which returns a whole number, to a cast.

    A call with a format stays.
    """
    if node.args.get("format"):
        return node
    sizes = [node.args.get(name) for name in ("precision", "scale")]
    parameters = [exp.DataTypeParam(this=size.copy()) for size in sizes if size]
    type_ = exp.DataType(this=exp.DType.DECIMAL, expressions=parameters)
    if node.args.get("safe"):
        return exp.TryCast(this=node.this.copy(), to=type_, safe=True)
    return exp.Cast(this=node.this.copy(), to=type_)
