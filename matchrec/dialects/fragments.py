"""Fragments of a query: pieces of its text, each of which sqlglot translates by itself.

A fragment is the query around the clauses, the relation before one, or an expression in one. It is
translated in these steps:

1. Names replace its holes, which are clauses and windows with a row pattern: sqlglot cannot read
   these.
2. Functions of row patterns get a prefix, see `rules.context`: in Spark's dialect, sqlglot would
   drop the offset of `LAST(x, 1)`.
3. sqlglot parses the fragment, our rules rewrite the tree, and sqlglot prints it.
4. The old and the new tokens are compared. Only what differs becomes an edit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

from sqlglot import Dialect as SqlglotDialect
from sqlglot import ErrorLevel, Token, TokenType, exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ParseError, TokenError, UnsupportedError

from matchrec.dialects.edits import Edit, EditedText, Note, apply_edits, find_edits
from matchrec.dialects.products import Product
from matchrec.dialects.rules.by_product import find_rules
from matchrec.dialects.rules.context import (
    DIFFERS,
    VARIABLE_PREFIX,
    ColumnKinds,
    FunctionMapping,
    RewriteRule,
    RuleContext,
    RuleFindings,
    TableLookup,
    VisibleColumns,
    find_no_table,
    find_node_types,
    find_pattern_function,
    mask_functions,
)
from matchrec.errors import MatchRecognizeParseError, MatchRecognizeUnsupportedError
from matchrec.errors.language import name_part
from matchrec.errors.sql import window as errors
from matchrec.errors.sql.expression import misplaced_running_or_final
from matchrec.errors.sql.foreign_names import find_dialect_syntax_cure
from matchrec.errors.sql.tokens import UNFINISHED
from matchrec.source import Span
from matchrec.syntax.expressions.reader import AFTER_OPERAND
from matchrec.syntax.tokens import SEMANTICS, make_sequence, tokenize_sql


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
            "VARCHAR": TokenType.NVARCHAR,
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
    read, write = context.read, context.write
    in_clause = context.clause is not None
    tree = _parse(text, read, read.functions if in_clause else None)
    for rule in find_rules(read, write):
        tree = _apply_rule(rule, tree, context)
    is_marked = read.lacks_dialect and any(DIFFERS in node.meta for node in tree.walk())
    translation = _generate(tree, context)
    # Spark reads `a[1]`, too, but counts elements from 0.
    is_read_otherwise = is_marked or (read.lacks_dialect and "[" in text)
    if is_read_otherwise or not (read.is_spark and write.is_spark):
        return translation
    # Both products are kinds of Spark. If the text itself gives the same translation when the other
    # product reads it, it stays as the user wrote it.
    with suppress(ParseError, TokenError, UnsupportedError):
        unchanged = _generate(_parse(text, write, {} if in_clause else None), context)
        return None if translation == unchanged else translation
    return translation


def _parse(text: str, product: Product, functions: FunctionMapping) -> exp.Expr:
    """Return the tree of a fragment in which functions of row patterns have their prefix.

    Args:
        text: the fragment.
        product: the product whose SQL it is.
        functions: see `mask_functions`.

    Raises:
        ParseError: it is not one statement or expression, or a function lacks an argument.
        TokenError: its tokens cannot be read.
    """
    masked = mask_functions(text, tokenize(text, product), functions)
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

    What sqlglot calls unsupported is a remark. If Spark will read the text, it is an error.

    Raises:
        UnsupportedError: sqlglot cannot write a part of the tree for Spark.
    """
    dialect = SqlglotDialect.get_or_raise(context.write.sqlglot)
    generator = dialect.generator(comments=False, unsupported_level=ErrorLevel.IGNORE)
    text = generator.generate(_apply_rule(_remove_prefixes, tree, context))
    reasons = tuple(dict.fromkeys(generator.unsupported_messages))
    if reasons and context.write.has_functions_of_spark:
        raise UnsupportedError("; ".join(reasons))
    for reason in reasons:
        context.remark(reason)
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


# A prefix that turns the relation of a clause into a query: the relation follows FROM.
SELECT_ALL = "SELECT * FROM "

_HOLE = "hole_of_match_recognize_"
_WRITE_OTHER_FUNCTION = "write the function of {} for it, which matchrec keeps as it is"


@dataclass(frozen=True, slots=True)
class TranslationLog:
    """The notes on a translation so far. The log grows during the translation."""

    # What differs, in the order in which the fragments were translated.
    notes: list[Note] = field(default_factory=list)
    # The columns whose types rules need, but that are not known.
    untyped_columns: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Fragments:
    """A translator of fragments of one text.

    Copies that `dataclasses.replace` makes share one log, which gets the notes on all fragments.
    """

    # The text of the query, or of the clause.
    text: str
    # The products that are read and written.
    read: Product
    write: Product
    # Characters that are not a part of any fragment, in the order of the text.
    holes: tuple[Span, ...] = ()
    # Holes between the parentheses of a window. sqlglot reads a key there: it would take a
    # single name for another window's, which some of its versions print in parentheses.
    windows: frozenset[Span] = frozenset()
    # The columns of a clause's result, by the span of its relation and clause.
    rows: Mapping[Span, ColumnKinds] = field(default_factory=dict)
    # Looks up the columns of a table.
    tables: TableLookup = find_no_table
    # Shared by all copies.
    log: TranslationLog = field(default_factory=TranslationLog)

    def translate_expression(self, span: Span, context: RuleContext) -> str:
        """Return an expression of a clause in the SQL of the product that is written.

        Raises:
            MatchRecognizeError: see `translate`.
        """
        edits = self.translate(span, context=context)
        shifted = [Edit(edit.span.shift_by(-span.start), edit.text) for edit in edits]
        return apply_edits(self.text[span.start : span.end], shifted).text

    def translate(
        self,
        span: Span,
        holes: Sequence[Span] = (),
        prefix: str = "",
        context: RuleContext | None = None,
    ) -> Iterator[Edit]:
        """Yield the edits that translate a fragment. Notes on it are added to the log.

        Args:
            span: the characters of the fragment.
            holes: relations with their clauses, in addition to the holes of the text.
            prefix: text that makes a query of the fragment, such as `SELECT_ALL`.
            context: where the expression is if it is one of a clause.

        Raises:
            MatchRecognizeError: it cannot be read, or has nothing that means the same in the
                product that is written.
        """
        inner_holes = [hole for hole in self.holes if span.contains(hole)]
        outermost = _find_outermost([*holes, *inner_holes])
        names = {f"{_HOLE}{number}": hole for number, hole in enumerate(outermost)}
        masks = [Edit(Span(0, 0), prefix)]
        for name, hole in names.items():
            mask = f"PARTITION BY {name}" if hole in self.windows else name
            masks.append(Edit(hole.shift_by(-span.start), mask))
        masked = apply_edits(self.text[span.start : span.end], masks)
        if context is None:
            context = self._build_context_outside_clauses(names)
        for edit in self._translate_masked(masked, names, span, context):
            yield Edit(masked.find_old_span_of_edit(edit.span).shift_by(span.start), edit.text)

    def _build_context_outside_clauses(self, names: Mapping[str, Span]) -> RuleContext:
        """Return the context of a fragment that is in no clause.

        Args:
            names: the names of its holes.
        """
        sources = {name: self.rows[hole] for name, hole in names.items() if hole in self.rows}
        columns = VisibleColumns(sources=sources, tables=self.tables)
        return RuleContext(self.read, self.write, columns=columns)

    def _translate_masked(
        self, masked: EditedText, names: Mapping[str, Span], span: Span, context: RuleContext
    ) -> Iterator[Edit]:
        """Yield the edits of a fragment whose holes have names.

        Args:
            masked: the fragment.
            names: the names of its holes.
            span: where the fragment is in the text.
            context: where it is, for rules.

        Raises:
            MatchRecognizeError: see `translate`.
        """
        with suppress(TokenError):  # reported below, when the fragment is read
            self._reject_semantics_before_column(masked, span, context)
        old = masked.text
        tokenizers = partial(tokenize, product=self.read), partial(tokenize, product=self.write)
        try:
            new, findings = translate_fragment(old, context)
            self.log.notes.extend(replace(remark, span=span) for remark in findings.remarks)
            self.log.untyped_columns.extend(findings.untyped_columns)
            if new is None:
                return
            edits = list(find_edits(old, new, tokenizers, frozenset(names)))
        except ParseError as error:
            raise self._describe_parse_error(error, masked, span) from error
        except TokenError as error:
            raise errors.unreadable_in_product(
                span, product=self.read.title, reason=str(error)
            ) from error
        except UnsupportedError as error:
            raise self._describe_unsupported(error, span, context) from error
        except ValueError:
            raise errors.translation_reorders_parts(span, product=self.write.title) from None
        yield from edits

    def _reject_semantics_before_column(
        self, masked: EditedText, span: Span, context: RuleContext
    ) -> None:
        """Raise an error for RUNNING or FINAL before a column, which sqlglot could not explain.

        Raises:
            MatchRecognizeError: there is one.
        """
        if context.part is None:
            return
        if not any(word in masked.text.upper() for word in SEMANTICS):
            return
        tokens = make_sequence(tokenize(masked.text, self.read), masked.text)
        for index, token in enumerate(tokens.tokens[:-1]):
            column = tokens[index + 1]
            is_column = column.is_name and column.key not in AFTER_OPERAND
            if token.key in SEMANTICS and is_column and not tokens.is_call(index + 1):
                both = masked.find_old_span(token.span.to(column.span)).shift_by(span.start)
                clause = name_part(context.part.value)
                raise misplaced_running_or_final(
                    both, word=token.key, what="a column", clause=clause
                )

    def _describe_parse_error(
        self, error: ParseError, masked: EditedText, span: Span
    ) -> MatchRecognizeParseError:
        """Return our error for one of sqlglot's parser, at the token at which it gave up."""
        details = error.errors[0] if error.errors else {}
        description = str(details.get("description") or error)
        # sqlglot's sentence about a missing keyword has the names of its classes.
        reason = UNFINISHED if "Required keyword" in description else description
        position = (details.get("line"), details.get("col"))
        for token in tokenize(masked.text, self.read):
            if (token.line, token.col) == position:
                reason = find_dialect_syntax_cure(masked.text[: token.end + 1]) or reason
                span = masked.find_old_span(Span(token.start, token.end + 1)).shift_by(span.start)
                break
        return errors.unreadable_in_product(span, product=self.read.title, reason=reason)

    def _describe_unsupported(
        self, error: UnsupportedError, span: Span, context: RuleContext
    ) -> MatchRecognizeUnsupportedError:
        """Return our error for a fragment that cannot be written.

        It names the shortest call in the fragment that cannot be written by itself, if there is
        one.
        """
        title = self.write.title
        text = self.text[span.start : span.end]
        tokens = make_sequence(tokenize(text, self.read), text)
        calls = [index for index in range(len(tokens)) if tokens.is_call(index)]
        for index in sorted(calls, key=lambda index: tokens.pairs[index + 1] - index):
            call = tokens.find_call_span(index)
            try:
                translate_fragment(text[call.start : call.end], context)
            except UnsupportedError as call_error:
                return errors.no_equivalent_in_product(
                    call.shift_by(span.start),
                    product=title,
                    what=f"this {tokens.key(index)}",
                    reason=call_error,
                    cure=_WRITE_OTHER_FUNCTION.format(title),
                )
            except (ParseError, TokenError):
                continue
        return errors.no_equivalent_in_product(
            span, product=title, what="this", reason=error, cure=None
        )


def _find_outermost(spans: Iterable[Span]) -> list[Span]:
    """Return the spans that are inside no other one, in the order of the text."""
    outermost: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not outermost or span.start >= outermost[-1].end:
            outermost.append(span)
    return outermost
