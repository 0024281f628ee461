"""Translates one fragment of SQL by sqlglot; functions of row patterns pass through unchanged.

sqlglot does not know the functions of row patterns, or takes them for others (`LAST(x, 1)` loses
its offset in Spark's dialect). So they bear names of our own while it reads and writes a fragment.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import Dialect as SqlglotDialect
from sqlglot import ErrorLevel, Token, exp
from sqlglot.errors import ParseError, TokenError, UnsupportedError

from matchrec.frontends.dialects.edits import Edit, edited
from matchrec.frontends.dialects.product import Product, Rule, Rules
from matchrec.frontends.lexing.function_names import OF_THE_MATCH
from matchrec.frontends.lexing.token_sequence import TokenSequence, sequence_of
from matchrec.source import Span

MARK = "ROW_PATTERN_FUNCTION_"
"""What precedes the name of a function of row patterns while sqlglot has it."""

_SEMANTICS = frozenset({"RUNNING", "FINAL"})


def tokens_in(text: str, product: Product) -> list[Token]:
    """The tokens of a text. Raises sqlglot's TokenError."""
    return SqlglotDialect.get_or_raise(product.sqlglot).tokenize(text)


def translated(
    text: str, read: Product, write: Product, rules: Rules | None
) -> tuple[str | None, tuple[str, ...]]:
    """The text in the dialect of `write`, None where that reads it as it is; and what differs.

    rules: of the part of a clause in which the text stands, None outside of clauses. Raises
    sqlglot's ParseError for what is not in the dialect of `read`, and its UnsupportedError for what
    the dialect of `write` cannot say.
    """
    functions = {} if rules is None else read.functions
    written = _parsed(_masked(text, read, functions), read)
    remarks = tuple(_remarks(written, read, write))
    tree = _rewritten(written, (*(rules or ()), *read.reads, *write.writes))
    result = _generated(tree, write)
    is_alike = read.is_spark and write.is_spark and result == _read_and_written(text, write)
    return (None if is_alike else result), remarks


def _remarks(tree: exp.Expr, read: Product, write: Product) -> Iterator[str]:
    """What in an expression means something else in the other product."""
    if read.divides_integers != write.divides_integers and any(
        map(_may_be_of_integers, _divisions(tree))
    ):
        drops, keeps = (read, write) if read.divides_integers else (write, read)
        yield (
            f"the quotient of two integers is an integer in {drops.title}, and has a fraction in "
            f"{keeps.title}"
        )


def _divisions(tree: exp.Expr) -> Iterator[exp.Expr]:
    return tree.find_all(exp.Div)


def _may_be_of_integers(division: exp.Expr) -> bool:
    """Whether neither side is a number with a fraction, as far as it is written."""
    sides = division.this, division.expression
    return not any(
        (isinstance(side, exp.Literal) and "." in side.name)
        or (isinstance(side, exp.Cast) and not side.to.is_type(*exp.DataType.INTEGER_TYPES))
        for side in map(exp.Expression.unnest, sides)
    )


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
    return trees[0]


def _generated(tree: exp.Expr, product: Product) -> str:
    plain = tree.transform(_unmarked, product)
    return plain.sql(product.sqlglot, comments=False, unsupported_level=ErrorLevel.RAISE)


def _rewritten(tree: exp.Expr, rules: Sequence[Rule]) -> exp.Expr:
    for rule in rules:
        for node in reversed(list(tree.dfs())):  # what stands in another node comes before it
            new = rule(node)
            if node is tree:
                tree = new
            elif new is not node:
                node.replace(new)
    return tree


def _masked(text: str, product: Product, functions: Mapping[str, str]) -> str:
    """The text with marks on functions of row patterns; RUNNING and FINAL become calls."""
    tokens = sequence_of(tokens_in(text, product), text)
    return edited(text, _marks(tokens, functions)).text


def _marks(tokens: TokenSequence, functions: Mapping[str, str]) -> Iterator[Edit]:
    for index, token in enumerate(tokens.tokens):
        word, opening = token.key, index + 2
        if tokens.is_call(index) and (word in OF_THE_MATCH or word in functions):
            yield Edit(token.span, MARK + functions.get(word, word))
        elif (
            word in _SEMANTICS
            and tokens.key(index - 1) != "."
            and tokens.key(opening) == "("
            and opening in tokens.pairs
        ):
            end = tokens[tokens.pairs[opening]].span.end
            yield Edit(Span(token.span.start, tokens[index + 1].span.start), f"{MARK}{word}(")
            yield Edit(Span(end, end), ")")


def called(name: str, *arguments: exp.Expr) -> exp.Expr:
    """A call of a function of row patterns."""
    return exp.Anonymous(this=MARK + name, expressions=list(arguments))


def name_of(node: exp.Expr) -> str | None:
    """The name of the function of row patterns that a node calls, or None."""
    if isinstance(node, exp.Anonymous) and str(node.this).upper().startswith(MARK):
        return str(node.this).upper().removeprefix(MARK)
    return None


def _unmarked(node: exp.Expr, product: Product) -> exp.Expr:
    name = name_of(node)
    if name is None:
        return node
    if name in _SEMANTICS and len(node.expressions) == 1:
        inner = node.expressions[0]
        inner_name = name_of(inner)
        if inner_name is None:
            return exp.var(f"{name} {_generated(inner, product)}")
        return exp.Anonymous(this=f"{name} {inner_name}", expressions=inner.expressions)
    return exp.Anonymous(this=name, expressions=node.expressions)
