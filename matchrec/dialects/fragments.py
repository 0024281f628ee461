"""Fragments of a query, each translated by sqlglot, around the holes that are not its own.

Functions of row patterns bear marks meanwhile: `LAST(x, 1)` would lose its offset for Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

from sqlglot import Dialect as SqlglotDialect
from sqlglot import ErrorLevel, Token, TokenType, exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError, UnsupportedError

from matchrec.dialects.edits import Edit, Edited, Note, edited, edits_between
from matchrec.dialects.products import Product
from matchrec.dialects.rules.of_products import rules_between
from matchrec.dialects.rules.place import (
    UNLIKE,
    VARIABLE,
    Functions,
    Kinds,
    KnownColumns,
    Place,
    Rule,
    Tables,
    masked,
    name_of,
    no_tables,
    nodes_of,
)
from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.errors.language import part
from matchrec.errors.sql import window as errors
from matchrec.errors.sql.clause import UNFINISHED
from matchrec.errors.sql.expression import semantics_before
from matchrec.errors.sql.foreign_names import cure_of_syntax
from matchrec.source import Span
from matchrec.syntax.expressions.reader import AFTER_OPERAND
from matchrec.syntax.tokens import SEMANTICS, sequence_of, tokens_by


class FlinkSql(Spark):
    """Flink SQL, of which sqlglot has no dialect, and which it finds by this name.

    Spark's but for texts, in which `'\\d'` is a backslash and a letter, types of texts, quotients
    and arguments that are left out.
    """

    TYPED_DIVISION = True  # of integers it is an integer
    SAFE_DIVISION = False
    INDEX_OFFSET = 1  # of an array's first element
    REGEXP_EXTRACT_DEFAULT_GROUP = 0  # the whole match

    class Tokenizer(Spark.Tokenizer):
        """Reads `''` in a text as a quote, and nothing else otherwise than it is written.

        `VARCHAR(3)` keeps its length as NVARCHAR: Spark's parser takes the first for any text, and
        none may be derived from it where sqlglot is compiled.
        """

        KEYWORDS: ClassVar[Any] = Spark.Tokenizer.KEYWORDS | {
            "CHAR": TokenType.NCHAR,
            "VARCHAR": TokenType.NVARCHAR,
            "BYTES": TokenType.VARBINARY,
        }
        STRING_ESCAPES: ClassVar[list[str]] = ["'"]


def tokens_in(text: str, product: Product) -> list[Token]:
    """The tokens of a text. Raises sqlglot's TokenError."""
    return tokens_by(type(SqlglotDialect.get_or_raise(product.sqlglot)), text)


def translated(text: str, place: Place) -> str | None:
    """The text as the product that `place` writes reads it, None where it reads it as it is.

    Raises sqlglot's ParseError for what the one dialect lacks, UnsupportedError for the other.
    """
    read, write = place.read, place.write
    tree = _parsed(text, read, None if place.clause is None else read.functions)
    for rule in rules_between(read, write):
        tree = _applied(rule, tree, place)
    is_marked = read.lacks_dialect and any(UNLIKE in node.meta for node in tree.walk())
    result = _written(tree, place)
    is_unlike = is_marked or (read.lacks_dialect and "[" in text)  # Spark reads these, too
    if is_unlike or not (read.is_spark and write.is_spark):
        return result
    with suppress(ParseError, TokenError, UnsupportedError):
        same = _written(_parsed(text, write, None if place.clause is None else {}), place)
        return None if result == same else result
    return result


def _parsed(text: str, product: Product, functions: Functions) -> exp.Expr:
    """The tree of a text, with marks. functions: see `masked`."""
    marked = masked(text, tokens_in(text, product), functions)
    dialect = SqlglotDialect.get_or_raise(product.sqlglot)
    found = dialect.parser().parse(tokens_in(marked, product), marked)
    trees = [tree for tree in found if tree is not None]
    if len(trees) != 1:
        raise ParseError("one statement or expression is expected")
    # sqlglot raises by itself in a process that has loaded unittest alone, in its oldest version
    for call in trees[0].find_all(exp.Func):
        needed = (name for name, is_needed in call.arg_types.items() if is_needed)
        if any(call.args.get(name) in (None, []) for name in needed):
            raise ParseError("a function lacks an argument")
    return trees[0].copy()  # a part that its parser has put in two places is two


def _written(tree: exp.Expr, place: Place) -> str:
    """The text of a tree without marks; what sqlglot cannot say is an error if Spark reads it."""
    dialect = SqlglotDialect.get_or_raise(place.write.sqlglot)
    generator = dialect.generator(comments=False, unsupported_level=ErrorLevel.IGNORE)
    text = generator.generate(_applied(_unmarked, tree, place))
    reasons = tuple(dict.fromkeys(generator.unsupported_messages))
    if reasons and place.write.has_functions_of_spark:
        raise UnsupportedError("; ".join(reasons))
    for reason in reasons:
        place.remark(reason)
    return text


def _applied(rule: Rule, tree: exp.Expr, place: Place) -> exp.Expr:
    """The tree with a rule applied to each node, inner ones first, which sees what is around it."""
    kinds = nodes_of(rule)
    for node in reversed([node for node in tree.dfs() if isinstance(node, kinds)]):
        new = rule(node, place)
        if new is node:
            continue
        if node is tree:
            return new
        node.replace(new)
    return tree


def _unmarked(node: exp.Expr, place: Place) -> exp.Expr:
    if isinstance(node, exp.Identifier) and node.name.startswith(VARIABLE):
        return exp.to_identifier(node.name.removeprefix(VARIABLE))
    if (name := name_of(node)) is None:
        return node
    if name in SEMANTICS and len(node.expressions) == 1:
        if isinstance(node.expressions[0], exp.Binary):  # of `MOD(x, 2)`, before x alone
            raise UnsupportedError(f"{name} stands before FIRST, LAST, CLASSIFIER and aggregates")
        return exp.var(f"{name} {_written(node.expressions[0], place)}")
    return exp.Anonymous(this=name, expressions=node.expressions)


SELECT_ALL = "SELECT * FROM "
_PASSED = "write what {} has for it: unrecognised functions are passed through"


@dataclass(frozen=True, slots=True)
class Fragments:
    """Translates fragments of one text. holes: characters that no fragment reads, in order.

    windows: holes between the parentheses of windows, where sqlglot reads a key; a name alone there
    would be another window's, which its versions print with parentheses or without.
    rows: the columns of clauses' rows by the places of relation and clause. tables: the columns of
    tables. notes: what was found to differ, in the order in which fragments are translated.
    missed: columns whose kinds rules ask for.
    """

    text: str
    read: Product
    write: Product
    holes: tuple[Span, ...] = ()
    windows: frozenset[Span] = frozenset()
    rows: Mapping[Span, Kinds] = field(default_factory=dict)
    tables: Tables = no_tables
    notes: list[Note] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def expression_text(self, span: Span, place: Place) -> str:
        edits = self.edits(span, place=place)
        shifted = [Edit(edit.span.shifted(-span.start), edit.text) for edit in edits]
        return edited(self.text[span.start : span.end], shifted).text

    def edits(
        self, span: Span, holes: Sequence[Span] = (), before: str = "", place: Place | None = None
    ) -> Iterator[Edit]:
        """The edits of a query, or of an expression of a clause at its place.

        holes: relations with their clauses, beside those of the text. before: what makes a query of
        the characters at `span`, as SELECT_ALL does of what stands after FROM.
        """
        inside = [*holes, *(hole for hole in self.holes if span.holds(hole))]
        own: list[Span] = []  # the outermost ones
        for hole in sorted(inside, key=lambda one: (one.start, -one.end)):
            if not own or hole.start >= own[-1].end:
                own.append(hole)
        names = {f"hole_of_match_recognize_{number}": hole for number, hole in enumerate(own)}
        masks = [
            Edit(hole.shifted(-span.start), "PARTITION BY " * (hole in self.windows) + name)
            for name, hole in names.items()
        ]
        masked = edited(self.text[span.start : span.end], [Edit(Span(0, 0), before), *masks])
        sources = {name: self.rows[hole] for name, hole in names.items() if hole in self.rows}
        known = KnownColumns(sources=sources, tables=self.tables)
        outside = Place(self.read, self.write, columns=known)
        for edit in self._between(masked, names, span, place or outside):
            yield Edit(masked.origin_of(edit.span).shifted(span.start), edit.text)

    def _refuse_semantics(self, masked: Edited, span: Span, place: Place) -> None:
        """RUNNING or FINAL before a column, of which sqlglot could not say what it is."""
        if place.part is None or not any(word in masked.text.upper() for word in SEMANTICS):
            return
        tokens = sequence_of(tokens_in(masked.text, self.read), masked.text)
        for index, token in enumerate(tokens.tokens[:-1]):
            column = tokens[index + 1]
            is_column = column.is_name and column.key not in AFTER_OPERAND
            if token.key in SEMANTICS and is_column and not tokens.is_call(index + 1):
                both = masked.before(token.span.to(column.span)).shifted(span.start)
                clause = part(place.part.value)
                raise semantics_before(both, word=token.key, what="a column", clause=clause)

    def _between(
        self, masked: Edited, names: Mapping[str, Span], span: Span, place: Place
    ) -> Iterator[Edit]:
        """The edits of a fragment. names: of the holes in it."""
        old = masked.text
        with suppress(TokenError):  # reading the fragment says that
            self._refuse_semantics(masked, span, place)
        tokenizers = partial(tokens_in, product=self.read), partial(tokens_in, product=self.write)
        try:
            new = translated(old, place)
            self.notes.extend(replace(remark, span=span) for remark in place.remarks)
            self.missed.extend(place.columns.missed)
            if new is None:
                return
            found = list(edits_between(old, new, tokenizers, frozenset(names)))
        except ParseError as error:
            detail, cure = error.errors[0] if error.errors else {}, None
            at, tokens = (detail.get("line"), detail.get("col")), tokens_in(old, self.read)
            for stop in (one for one in tokens if (one.line, one.col) == at):
                cure = cure_of_syntax(old[: stop.end + 1])
                span = masked.before(Span(stop.start, stop.end + 1)).shifted(span.start)
            said = str(detail.get("description") or error)  # with names of sqlglot's classes
            reason = cure or (UNFINISHED if "Required keyword" in said else said)
            raise errors.unreadable(span, product=self.read.title, reason=reason) from error
        except TokenError as error:
            raise errors.unreadable(span, product=self.read.title, reason=str(error)) from error
        except UnsupportedError as error:
            raise self._cannot_say(error, span, place) from error
        except ValueError:
            raise errors.moved(span, product=self.write.title) from None
        yield from found

    def _cannot_say(
        self, error: UnsupportedError, span: Span, place: Place
    ) -> MatchRecognizeUnsupportedError:
        """The error of a fragment, or of the shortest call in it that is refused as well."""
        title, text = self.write.title, self.text[span.start : span.end]
        tokens = sequence_of(tokens_in(text, self.read), text)
        calls = [index for index in range(len(tokens)) if tokens.is_call(index)]
        for start in sorted(calls, key=lambda index: tokens.pairs[index + 1] - index):
            call = tokens.call_span(start)
            try:
                translated(text[call.start : call.end], place)
            except UnsupportedError as found:
                span, error = call.shifted(span.start), found
                what, cure = f"this {tokens.key(start)}", _PASSED.format(title)
                break
            except (ParseError, TokenError):
                continue
        else:
            what, cure = "this", None
        return errors.without_equivalent(span, product=title, what=what, reason=error, cure=cure)
