"""Translates one fragment of SQL by sqlglot; functions of row patterns pass through unchanged.

They bear marks meanwhile: `LAST(x, 1)` would lose its offset in Spark's dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from sqlglot import Dialect as SqlglotDialect
from sqlglot import ErrorLevel, Token, TokenType, exp
from sqlglot.errors import ParseError, TokenError, UnsupportedError

from matchrec.frontends.dialects.edits import Edit, edited
from matchrec.frontends.dialects.marks import MARK, VARIABLE, name_of
from matchrec.frontends.dialects.product import Product
from matchrec.frontends.dialects.rules.place import Place, Rule
from matchrec.frontends.lexing.function_names import OF_THE_MATCH
from matchrec.frontends.lexing.sqlglot_tokens import tokens_by
from matchrec.frontends.lexing.token_sequence import TokenSequence, sequence_of
from matchrec.frontends.lexing.tokens import TokenKind
from matchrec.source import Span

_SEMANTICS = frozenset({"RUNNING", "FINAL"})


def tokens_in(text: str, product: Product) -> list[Token]:
    """The tokens of a text. Raises sqlglot's TokenError."""
    return tokens_by(SqlglotDialect.get_or_raise(product.sqlglot).tokenize, text)


def translated(text: str, place: Place, rules: Sequence[Rule]) -> str | None:
    """The text as the product that `place` writes reads it, None where it reads it as it is.

    rules: what is rewritten in between. Raises sqlglot's ParseError for what is not in the dialect
    of the product that is read, and its UnsupportedError for what the other dialect cannot say.
    """
    read, write = place.read, place.write
    functions = {} if place.clause is None else read.functions
    tree = _parsed(_masked(text, read, functions), read)
    for rule in rules:
        tree = _applied(rule, tree, place)
    result = _generated(tree, write)
    is_alike = read.is_spark and write.is_spark and result == _read_and_written(text, write)
    return None if is_alike else result


def _read_and_written(text: str, product: Product) -> str | None:
    """The text as a product would write it; None where it cannot read it."""
    try:
        return _generated(_parsed(_masked(text, product, {}), product), product)
    except (ParseError, TokenError, UnsupportedError):
        return None


def _parsed(text: str, product: Product) -> exp.Expr:
    dialect = SqlglotDialect.get_or_raise(product.sqlglot)
    trees = [tree for tree in dialect.parse(text) if tree is not None]
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


def _masked(text: str, product: Product, functions: Mapping[str, str]) -> str:
    """The text with marks on functions of row patterns; RUNNING and FINAL become calls."""
    tokens = sequence_of(tokens_in(text, product), text)
    return edited(text, _marks(tokens, functions)).text


def _marks(tokens: TokenSequence, functions: Mapping[str, str]) -> Iterator[Edit]:
    keywords = {one.start for one in tokens.sqlglot if one.token_type is not TokenType.VAR}
    for index, token in enumerate(tokens.tokens):
        word, opening = token.key, index + 2
        if tokens.is_call(index) and (word in OF_THE_MATCH or word in functions):
            yield Edit(token.span, MARK + functions.get(word, word))
        elif _qualifies(tokens, index) and token.span.start in keywords:
            yield Edit(token.span, VARIABLE + token.text)
        elif (
            word in _SEMANTICS
            and tokens.key(index - 1) != "."
            and tokens.key(opening) == "("
            and opening in tokens.pairs
        ):
            end = tokens[tokens.pairs[opening]].span.end
            yield Edit(Span(token.span.start, tokens[index + 1].span.start), f"{MARK}{word}(")
            yield Edit(Span(end, end), ")")


def _qualifies(tokens: TokenSequence, index: int) -> bool:
    """Whether a word stands before a dot and after none."""
    is_word = tokens[index].kind is TokenKind.WORD
    return is_word and tokens.key(index + 1) == "." and tokens.key(index - 1) != "."


def _unmarked(node: exp.Expr, product: Product) -> exp.Expr:
    if isinstance(node, exp.Identifier) and node.name.startswith(VARIABLE):
        return exp.to_identifier(node.name.removeprefix(VARIABLE))
    name = name_of(node)
    if name is None:
        return node
    if name in _SEMANTICS and len(node.expressions) == 1:
        return exp.var(f"{name} {_written(node.expressions[0], product)}")
    return exp.Anonymous(this=name, expressions=node.expressions)
