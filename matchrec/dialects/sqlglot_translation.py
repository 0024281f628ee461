"""Translate one expression or query with sqlglot and our rules.

1. Functions of row patterns get a prefix, see `function_masks`.
2. sqlglot parses the text, our rules rewrite the tree, and sqlglot prints it.
3. Between two products that are both kinds of Spark, a text that means the same stays as it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from sqlglot import Dialect as SqlglotDialect
from sqlglot import ErrorLevel, Token, TokenType, exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError, UnsupportedError

from matchrec.dialects.function_masks import VARIABLE_PREFIX, FunctionNames, mask_functions
from matchrec.dialects.operator_groups import parenthesize_chains
from matchrec.dialects.products import Product
from matchrec.dialects.rules.by_product import find_rules
from matchrec.dialects.rules.context import (
    DIFFERS,
    RewriteRule,
    RuleContext,
    RuleFindings,
    find_node_types,
)
from matchrec.dialects.rules.function_calls import call_pattern_function, find_pattern_function
from matchrec.syntax.function_names import SEMANTICS
from matchrec.syntax.tokenize import tokenize_sql


class FlinkSql(Spark):
    """The dialect of Flink SQL, which sqlglot does not have.

    It is Spark's, except for strings, in which `'\\d'` is a backslash and a letter, the types of
    strings, quotients, and the defaults of some arguments. sqlglot registers it under the lower
    case of this class's name, which `products.txt` uses.
    """

    TYPED_DIVISION = True  # the quotient of two integers is an integer
    SAFE_DIVISION = False
    INDEX_OFFSET = 1  # the index of an array's first element
    REGEXP_EXTRACT_DEFAULT_GROUP = 0  # the whole match

    class Tokenizer(Spark.Tokenizer):
        """A tokenizer that reads `''` in a string as a quote and knows no other escapes.

        `VARCHAR` is read as NVARCHAR so that `VARCHAR(3)` keeps its length: Spark's parser takes
        VARCHAR for a string of any length, and we cannot derive a class from that parser, because
        sqlglot may be compiled.
        """

        KEYWORDS: ClassVar[Any] = Spark.Tokenizer.KEYWORDS | {
            "CHAR": TokenType.NCHAR,
            "CHARACTER": TokenType.NCHAR,
            "VARCHAR": TokenType.NVARCHAR,
            "CHAR VARYING": TokenType.NVARCHAR,
            "CHARACTER VARYING": TokenType.NVARCHAR,
            "BYTES": TokenType.VARBINARY,
        }
        STRING_ESCAPES: ClassVar[list[str]] = ["'"]


def tokenize(text: str, product: Product) -> list[Token]:
    """Return the tokens of a text in the SQL of a product.

    Raises:
        TokenError: sqlglot cannot read the text.
    """
    return tokenize_sql(type(SqlglotDialect.get_or_raise(product.sqlglot)), text)


def translate_fragment(text: str, context: RuleContext) -> tuple[str | None, RuleFindings]:
    """Translate a fragment to the SQL of the product that is written.

    Args:
        text: the fragment, with names instead of its holes.
        context: where the fragment is, and the two products.

    Returns:
        The new text, or None if the fragment can stay as it is; and the findings of the rules.

    Raises:
        ParseError: the product that is read has no such syntax.
        TokenError: its tokens cannot be read.
        UnsupportedError: the product that is written has nothing that means the same.
    """
    findings = RuleFindings()
    return _rewrite_fragment(text, replace(context, findings=findings)), findings


def _rewrite_fragment(text: str, context: RuleContext) -> str | None:
    """Return the text of a translated fragment; None if it can stay as it is.

    It takes the arguments of `translate_fragment` and raises the same errors.
    """
    read = context.read
    write = context.write
    tree = _parse(text, read, read.functions if context.clause is not None else None)
    for rule in find_rules(read, write):
        tree = _apply_rule(rule, tree, context)
    is_marked = read.lacks_dialect and any(DIFFERS in node.meta for node in tree.walk())
    translation = _generate(tree, context)
    # Spark reads `a[1]`, too, but counts elements from 0.
    has_other_meaning = is_marked or (read.lacks_dialect and "[" in text)
    are_both_spark = read.is_spark and write.is_spark
    if are_both_spark and not has_other_meaning and _is_needless(translation, text, context):
        return None
    return translation


def _is_needless(translation: str, text: str, context: RuleContext) -> bool:
    """Return whether a text can stay as the user wrote it.

    It can if the product that is written reads it, and what sqlglot then prints is the translation.
    The two products must both be kinds of Spark.
    """
    functions: FunctionNames | None = {} if context.clause is not None else None
    try:
        unchanged = _generate(_parse(text, context.write, functions), context)
    except (ParseError, TokenError, UnsupportedError):
        return False
    return translation == unchanged


def _parse(text: str, product: Product, functions: FunctionNames | None) -> exp.Expr:
    """Return the tree of a fragment in which functions of row patterns have their prefix.

    Args:
        text: the fragment.
        product: the product whose SQL it is.
        functions: see `mask_functions`.

    Raises:
        ParseError: it is not one statement or expression, or a function lacks an argument.
        TokenError: its tokens cannot be read.
    """
    grouped = parenthesize_chains(text, tokenize(text, product), product)
    masked = mask_functions(grouped, tokenize(grouped, product), functions)
    dialect = SqlglotDialect.get_or_raise(product.sqlglot)
    statements = dialect.parser().parse(tokenize(masked, product), masked)
    trees = [tree for tree in statements if tree is not None]
    if len(trees) != 1:
        raise ParseError("one statement or expression is expected")
    if any(_lacks_argument(call) for call in trees[0].find_all(exp.Func)):
        raise ParseError("a function lacks an argument")
    # The parser may have used one node in two places. In a copy they are two nodes.
    return trees[0].copy()


def _lacks_argument(call: exp.Func) -> bool:
    """Return whether sqlglot has parsed a call without an argument that it needs.

    The oldest version of sqlglot that we support reports such a call by itself only in a process
    that has loaded `unittest`.
    """
    for name, is_needed in call.arg_types.items():
        if is_needed and call.args.get(name) in (None, []):
            return True
    return False


def _generate(tree: exp.Expr, context: RuleContext) -> str:
    """Return the text of a tree, without prefixes of functions.

    What sqlglot calls unsupported gets a note. If Spark will read the text, it is an error.

    Raises:
        UnsupportedError: sqlglot cannot write a part of the tree for Spark.
    """
    dialect = SqlglotDialect.get_or_raise(context.write.sqlglot)
    generator = dialect.generator(comments=False, unsupported_level=ErrorLevel.IGNORE)
    for rule in (_parenthesize_operands, _move_filter_inward, _remove_prefixes):
        tree = _apply_rule(rule, tree, context)
    text = generator.generate(tree)
    reasons = tuple(dict.fromkeys(generator.unsupported_messages))
    if reasons and context.write.has_functions_of_spark:
        raise UnsupportedError("; ".join(reasons))
    for reason in reasons:
        context.add_note(reason)
    return text


def _apply_rule(rule: RewriteRule, tree: exp.Expr, context: RuleContext) -> exp.Expr:
    """Return the tree with a rule applied to each node of its type.

    Inner nodes come first. They are still in the tree, so a rule sees the nodes around its node.
    """
    types = find_node_types(rule)
    nodes = [node for node in tree.dfs() if isinstance(node, types)]
    for node in reversed(nodes):
        rewritten = rule(node, context)
        if rewritten is node:
            continue
        if node is tree:
            return rewritten
        node.replace(rewritten)
    return tree


# Operators from the weakest to the strongest.
_PRECEDENCE: tuple[tuple[type[exp.Expr], ...], ...] = (
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
_STRENGTHS = {class_: level for level, classes in enumerate(_PRECEDENCE) for class_ in classes}
_COMPARISON = _STRENGTHS[exp.EQ]


def _parenthesize_operands(
    node: exp.Binary | exp.Unary | exp.Between | exp.In, _: RuleContext
) -> exp.Expr:
    """Put those operands in parentheses that would otherwise be read as parts of other operators.

    sqlglot prints some functions as operators, without parentheses:

        2 * MOD(7, 4)   →   2 * (7 % 4)
    """
    strength = _STRENGTHS.get(type(node))
    if strength is None:
        return node
    for name in ("this", "expression", "low", "high"):
        operand = node.args.get(name)
        operand_strength = _STRENGTHS.get(type(operand)) if operand else None
        if operand is None or operand_strength is None or operand_strength > strength:
            continue
        # `a - b - c` is `(a - b) - c`.
        is_grouped_alike = name == "this" or isinstance(node, exp.And | exp.Or)
        # `||` is stronger than `+` in some products and weaker in others.
        mixes_concatenation = isinstance(operand, exp.DPipe) != isinstance(node, exp.DPipe)
        is_in_comparison = strength == _COMPARISON  # one comparison cannot follow another
        keeps_meaning = is_grouped_alike and not mixes_concatenation and not is_in_comparison
        if operand_strength < strength or not keeps_meaning:
            operand.replace(exp.paren(operand.copy(), copy=False))
    return node


def _move_filter_inward(node: exp.Filter, _: RuleContext) -> exp.Expr:
    """Move FILTER after RUNNING or FINAL to the aggregate, as which sqlglot would not see these.

    Both are written alike, but for a product without FILTER sqlglot rewrites the aggregate:

        FINAL sum(x) FILTER (WHERE x > 1)      FINAL SUM(IFF(x > 1, x, NULL))
    """
    name = find_pattern_function(node.this)
    if name not in SEMANTICS or len(node.this.expressions) != 1:
        return node
    filtered = node.copy()
    filtered.set("this", node.this.expressions[0].copy())
    return call_pattern_function(name, filtered)


def _remove_prefixes(node: exp.Expr, context: RuleContext) -> exp.Expr:
    """Rewrite what `mask_functions` has written for sqlglot's parser."""
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
        return exp.var(f"{name} {_generate(operand, context)}")
    return exp.Anonymous(this=name, expressions=node.expressions)
