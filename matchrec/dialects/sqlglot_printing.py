"""Print sqlglot's trees as SQL of a product.

sqlglot prints a tree correctly only if sqlglot's parser could have made the tree. A tree that our
rules have rewritten may be different, so three more rules prepare it:

1. Operands get the parentheses that they need. sqlglot prints some functions as operators.
2. FILTER moves from RUNNING or FINAL to the aggregate.
3. The functions and variables of row patterns lose their prefixes, see `function_masks`.
"""

from __future__ import annotations

from sqlglot import ErrorLevel, exp
from sqlglot.errors import UnsupportedError

from matchrec.dialects.function_masks import VARIABLE_PREFIX
from matchrec.dialects.rules.context import RuleContext, apply_rule
from matchrec.dialects.rules.function_calls import call_pattern_function, find_pattern_function
from matchrec.dialects.sqlglot_dialects import get_dialect
from matchrec.syntax.function_names import SEMANTICS

# The classes of operators, from the lowest precedence to the highest. The classes of an inner tuple
# have the same precedence.
_OPERATORS: tuple[tuple[type[exp.Expr], ...], ...] = (
    (exp.Or,),
    (exp.And,),
    (exp.Not,),
    (
        *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ),
        *(exp.Is, exp.Like, exp.ILike, exp.RegexpLike, exp.Between, exp.In),
    ),
    (exp.BitwiseOr,),
    (exp.BitwiseXor,),
    (exp.BitwiseAnd,),
    (exp.BitwiseLeftShift, exp.BitwiseRightShift),
    (exp.Add, exp.Sub, exp.DPipe),
    (exp.Mul, exp.Div, exp.IntDiv, exp.Mod),
    (exp.Neg, exp.BitwiseNot),
)
# The precedence of each class: operators with a higher one take their operands first.
_PRECEDENCES = {class_: level for level, classes in enumerate(_OPERATORS) for class_ in classes}
_PRECEDENCE_OF_COMPARISONS = _PRECEDENCES[exp.EQ]


def print_tree(tree: exp.Expr, context: RuleContext) -> str:
    """Return the text of a tree, without prefixes of functions.

    If sqlglot says that the product does not support a part of the tree, the part gets a note. For
    Spark, this is an error.

    Args:
        tree: the tree, which is changed.
        context: where the expression is, and the product that is written. It gets the notes.

    Raises:
        UnsupportedError: sqlglot cannot write a part of the tree for Spark, or RUNNING or FINAL
            would be before an operator.
    """
    dialect = get_dialect(context.write)
    generator = dialect.generator(comments=False, unsupported_level=ErrorLevel.IGNORE)
    for rule in (_parenthesize_operands, _move_filter_inward, _remove_prefixes):
        tree = apply_rule(rule, tree, context)
    text = generator.generate(tree)
    reasons = tuple(dict.fromkeys(generator.unsupported_messages))
    if reasons and context.write.has_spark_functions:
        raise UnsupportedError("; ".join(reasons))
    for reason in reasons:
        context.add_note(reason)
    return text


def _parenthesize_operands(
    node: exp.Binary | exp.Unary | exp.Between | exp.In, _: RuleContext
) -> exp.Expr:
    """Put operands in parentheses that would otherwise be read as operands of other operators.

    sqlglot prints some functions as operators, without parentheses: for `2 * MOD(7, 4)`, it would
    print `2 * 7 % 4`, and after this rule it prints `2 * (7 % 4)`.
    """
    if type(node) not in _PRECEDENCES:
        return node
    for name in ("this", "expression", "low", "high"):
        operand = node.args.get(name)
        if operand is not None and _needs_parentheses(operand, node, is_first=name == "this"):
            operand.replace(exp.paren(operand.copy(), copy=False))
    return node


def _needs_parentheses(operand: exp.Expr, operation: exp.Expr, *, is_first: bool) -> bool:
    """Return whether an operand needs parentheses in an operation.

    Args:
        operand: the operand.
        operation: the operation, whose class has a precedence.
        is_first: whether it is the operand before the operator.
    """
    precedence = _PRECEDENCES[type(operation)]
    operand_precedence = _PRECEDENCES.get(type(operand))
    if operand_precedence is None or operand_precedence > precedence:
        return False
    if operand_precedence < precedence:
        return True
    # `a - b - c` is `(a - b) - c`, and needs no parentheses.
    is_grouped_alike = is_first or isinstance(operation, exp.And | exp.Or)
    # The precedence of `||` is higher than the precedence of `+` in some products and lower in
    # others.
    mixes_concatenation = isinstance(operand, exp.DPipe) != isinstance(operation, exp.DPipe)
    # One comparison cannot follow another.
    is_comparison = precedence == _PRECEDENCE_OF_COMPARISONS
    return not is_grouped_alike or mixes_concatenation or is_comparison


def _move_filter_inward(node: exp.Filter, _: RuleContext) -> exp.Expr:
    """Move FILTER from RUNNING or FINAL, which are calls in the tree, to the aggregate in them.

    Both trees are printed alike, except for a product without FILTER: then sqlglot rewrites the
    aggregate, which it must find right inside FILTER.

        FINAL sum(x) FILTER (WHERE x > 1)      FINAL SUM(IFF(x > 1, x, NULL))      Snowflake
    """
    name = find_pattern_function(node.this)
    if name not in SEMANTICS or len(node.this.expressions) != 1:
        return node
    filtered = node.copy()
    filtered.set("this", node.this.expressions[0].copy())
    return call_pattern_function(name, filtered)


def _remove_prefixes(node: exp.Expr, context: RuleContext) -> exp.Expr:
    """Remove the prefixes that `mask_functions` has added, and write RUNNING and FINAL as words.

    Raises:
        UnsupportedError: RUNNING or FINAL would be before an operator.
    """
    if isinstance(node, exp.Identifier) and node.name.startswith(VARIABLE_PREFIX):
        return exp.to_identifier(node.name.removeprefix(VARIABLE_PREFIX))
    name = find_pattern_function(node)
    if name is None:
        return node
    if name in SEMANTICS and len(node.expressions) == 1:
        operand = node.expressions[0]
        if isinstance(operand, exp.Binary):  # `RUNNING MOD(x, 2)` would be `RUNNING x % 2`
            functions = "FIRST, LAST, CLASSIFIER and aggregates"
            raise UnsupportedError(f"{name} is allowed before {functions}")
        return exp.var(f"{name} {print_tree(operand, context)}")
    return exp.Anonymous(this=name, expressions=node.expressions)
