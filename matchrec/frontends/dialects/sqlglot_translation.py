"""Translates one fragment of SQL by sqlglot; functions of row patterns pass through unchanged.

They bear marks meanwhile: `LAST(x, 1)` would lose its offset in Spark's dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from sqlglot import Dialect as SqlglotDialect
from sqlglot import ErrorLevel, Token, exp
from sqlglot.errors import ParseError, TokenError, UnsupportedError

from matchrec.frontends.dialects.marks import VARIABLE, name_of
from matchrec.frontends.dialects.masks import masked
from matchrec.frontends.dialects.product import Product
from matchrec.frontends.dialects.rules.place import Place, Rule
from matchrec.frontends.lexing.flink_sql import FlinkSql  # noqa: F401 -- sqlglot finds it by name
from matchrec.frontends.lexing.function_names import SEMANTICS
from matchrec.frontends.lexing.sqlglot_tokens import tokens_by


def tokens_in(text: str, product: Product) -> list[Token]:
    """The tokens of a text. Raises sqlglot's TokenError."""
    return tokens_by(SqlglotDialect.get_or_raise(product.sqlglot).tokenize, text)


def translated(text: str, place: Place, rules: Sequence[Rule]) -> str | None:
    """The text as the product that `place` writes reads it, None where it reads it as it is.

    rules: what is rewritten in between. Raises sqlglot's ParseError for what is not in the dialect
    of the product that is read, and its UnsupportedError for what the other dialect cannot say.
    """
    read, write = place.read, place.write
    functions = None if place.clause is None else read.functions
    tree = _parsed(masked(text, tokens_in(text, read), read, functions), read)
    for rule in rules:
        tree = _applied(rule, tree, place)
    result = _generated(tree, write)
    is_unlike = read.lacks_dialect and "[" in text  # which sqlglot reads as Spark's, too
    if is_unlike or not (read.is_spark and write.is_spark):
        return result
    return None if result == _read_and_written(text, place) else result


def _read_and_written(text: str, place: Place) -> str | None:
    """The text as the product that is written would write it; None where it cannot read it."""
    product = place.write
    try:
        functions: dict[str, str] | None = None if place.clause is None else {}
        marked = masked(text, tokens_in(text, product), product, functions)
        return _generated(_parsed(marked, product), product)
    except (ParseError, TokenError, UnsupportedError):
        return None


def _parsed(text: str, product: Product) -> exp.Expr:
    dialect = SqlglotDialect.get_or_raise(product.sqlglot)
    found = dialect.parser().parse(tokens_in(text, product), text)
    trees = [tree for tree in found if tree is not None]
    if len(trees) != 1:
        raise ParseError("one statement or expression is expected")
    return trees[0].copy()  # a part that its parser has put in two places is two


def _generated(tree: exp.Expr, product: Product) -> str:
    return _written(_rewritten(tree, partial(_unmarked, product=product)), product)


def _written(tree: exp.Expr, product: Product) -> str:
    return tree.sql(product.sqlglot, comments=False, unsupported_level=ErrorLevel.RAISE)


def _rewritten(tree: exp.Expr, change: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """The tree with a change made to each node, inner ones first, which sees what is around it."""
    for node in reversed(list(tree.dfs())):
        new = change(node)
        if new is node:
            continue
        if node is tree:
            return new
        node.replace(new)
    return tree


def _applied(rule: Rule, tree: exp.Expr, place: Place) -> exp.Expr:
    return _rewritten(tree, lambda node: rule(node, place))


def _unmarked(node: exp.Expr, product: Product) -> exp.Expr:
    if isinstance(node, exp.Identifier) and node.name.startswith(VARIABLE):
        return exp.to_identifier(node.name.removeprefix(VARIABLE))
    name = name_of(node)
    if name is None:
        return node
    if name in SEMANTICS and len(node.expressions) == 1:
        return exp.var(f"{name} {_written(node.expressions[0], product)}")
    return exp.Anonymous(this=name, expressions=node.expressions)
