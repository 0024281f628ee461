"""Fragments of a query: pieces of its text, each of which sqlglot translates by itself.

A fragment is the query around the clauses, the relation before one, or an expression in one. It is
translated in these steps:

1. Names replace its holes, which are clauses and windows with a row pattern: sqlglot cannot read
   these. This is a `MaskedFragment`:

       SELECT * FROM ticks MATCH_RECOGNIZE (...)     SELECT * FROM hole_of_match_recognize_0

2. `sqlglot_translation` translates the masked text.
3. The old and the new tokens are compared. Only what differs becomes an edit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace

from sqlglot.errors import ParseError, TokenError, UnsupportedError

from matchrec.dialects.edits import Edit, EditedText, TranslationNote, apply_edits
from matchrec.dialects.products import Product
from matchrec.dialects.rules.context import RuleContext, RuleFindings
from matchrec.dialects.rules.visible_columns import (
    ColumnKinds,
    TableLookup,
    VisibleColumns,
    find_no_table,
)
from matchrec.dialects.sqlglot_translation import tokenize, translate_fragment
from matchrec.dialects.token_edits import TokenizedText, find_edits
from matchrec.errors import MatchRecognizeParseError, MatchRecognizeUnsupportedError
from matchrec.errors.language import name_part
from matchrec.errors.sql import window as errors
from matchrec.errors.sql.expression import misplaced_running_or_final
from matchrec.errors.sql.foreign_names import find_dialect_syntax_hint
from matchrec.errors.sql.tokens import UNFINISHED
from matchrec.source import Span
from matchrec.syntax.expressions.reader import AFTER_OPERAND
from matchrec.syntax.tokenize import make_sequence
from matchrec.syntax.tokens import SEMANTICS

# A prefix that turns the relation of a clause into a query: the relation follows FROM.
SELECT_ALL = "SELECT * FROM "

_HOLE = "hole_of_match_recognize_"
_WRITE_OTHER_FUNCTION = "write the function of {} for it, which matchrec keeps as it is"


@dataclass(frozen=True, slots=True)
class TranslationLog:
    """The notes on a translation so far. The log grows during the translation."""

    # What differs, in the order in which the fragments were translated.
    notes: list[TranslationNote] = field(default_factory=list)
    # The columns whose types rules need, but that are not known.
    untyped_columns: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class MaskedFragment:
    """A fragment in which names replace its holes, so that sqlglot can read it."""

    # Where the fragment is in the whole text.
    span: Span
    # The fragment before and after its holes are replaced.
    edited: EditedText
    # The holes, as spans of the whole text, by the names that replace them.
    holes: Mapping[str, Span]

    @property
    def text(self) -> str:
        """The text that sqlglot reads."""
        return self.edited.text

    def locate(self, span: Span) -> Span:
        """Return the span of the whole text that became a span of the masked text."""
        return self.edited.find_old_span(span).shift_by(self.span.start)

    def locate_edit(self, edit: Edit) -> Edit:
        """Return an edit of the masked text as an edit of the whole text."""
        span = self.edited.find_old_span_of_edit(edit.span).shift_by(self.span.start)
        return Edit(span, edit.text)


@dataclass(frozen=True, slots=True)
class FragmentTranslator:
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
    window_holes: frozenset[Span] = frozenset()
    # The columns of a clause's result, by the span of its relation and clause.
    clause_results: Mapping[Span, ColumnKinds] = field(default_factory=dict)
    # Looks up the columns of a table.
    look_up_table: TableLookup = find_no_table
    # Shared by all copies.
    log: TranslationLog = field(default_factory=TranslationLog)

    def translate_expression(self, span: Span, context: RuleContext) -> str:
        """Return an expression of a clause in the SQL of the product that is written.

        Raises:
            MatchRecognizeError: see `edit_around_clauses`.
        """
        edits = self.edit_expression(span, context)
        shifted = [Edit(edit.span.shift_by(-span.start), edit.text) for edit in edits]
        return apply_edits(self.text[span.start : span.end], shifted).text

    def edit_expression(self, span: Span, context: RuleContext) -> Iterator[Edit]:
        """Yield the edits that translate an expression of a clause.

        Notes on it are added to the log.

        Args:
            span: the characters of the expression.
            context: the clause, and the part of it that the expression is in.

        Raises:
            MatchRecognizeError: see `edit_around_clauses`.
        """
        yield from self._edit_masked(self._mask_holes(span, (), ""), context)

    def edit_around_clauses(
        self, span: Span, clauses: Sequence[Span], prefix: str = ""
    ) -> Iterator[Edit]:
        """Yield the edits that translate a query, or a relation, except for the clauses in it.

        Notes on it are added to the log.

        Args:
            span: the characters of the query or relation.
            clauses: the clauses in it, each with its relation. They become holes.
            prefix: text that makes a query of a relation, such as `SELECT_ALL`.

        Raises:
            MatchRecognizeError: it cannot be read, or has nothing that means the same in the
                product that is written.
        """
        masked = self._mask_holes(span, clauses, prefix)
        clause_results = {
            name: self.clause_results[hole]
            for name, hole in masked.holes.items()
            if hole in self.clause_results
        }
        columns = VisibleColumns(clause_results=clause_results, look_up_table=self.look_up_table)
        yield from self._edit_masked(masked, RuleContext(self.read, self.write, columns=columns))

    def _mask_holes(self, span: Span, clauses: Sequence[Span], prefix: str) -> MaskedFragment:
        """Return a fragment with names instead of its outermost holes."""
        holes = [hole for hole in self.holes if span.contains(hole)]
        outermost = _find_outermost([*clauses, *holes])
        names = {f"{_HOLE}{number}": hole for number, hole in enumerate(outermost)}
        masks = [Edit(Span(0, 0), prefix)]
        for name, hole in names.items():
            mask = f"PARTITION BY {name}" if hole in self.window_holes else name
            masks.append(Edit(hole.shift_by(-span.start), mask))
        edited = apply_edits(self.text[span.start : span.end], masks)
        return MaskedFragment(span, edited, names)

    def _edit_masked(self, masked: MaskedFragment, context: RuleContext) -> Iterator[Edit]:
        """Yield the edits of the whole text that translate a masked fragment.

        Raises:
            MatchRecognizeError: see `edit_around_clauses`.
        """
        with suppress(TokenError):  # reported below, when the fragment is read
            self._reject_semantics_before_column(masked, context)
        read = self.read
        write = self.write
        try:
            translation, findings = translate_fragment(masked.text, context)
            self._add_to_log(findings, masked.span)
            if translation is None:
                return
            old = TokenizedText(masked.text, tokenize(masked.text, read))
            new = TokenizedText(translation, tokenize(translation, write))
            edits = list(find_edits(old, new, frozenset(masked.holes)))
        except ParseError as error:
            raise self._describe_parse_error(error, masked) from error
        except TokenError as error:
            raise errors.unreadable_in_product(
                masked.span, product=read.title, reason=str(error)
            ) from error
        except UnsupportedError as error:
            raise self._describe_unsupported(error, masked.span, context) from error
        except ValueError:
            raise errors.translation_reorders_parts(masked.span, product=write.title) from None
        for edit in edits:
            yield masked.locate_edit(edit)

    def _add_to_log(self, findings: RuleFindings, span: Span) -> None:
        """Add to the log what rules have found out about the fragment at a span."""
        self.log.notes.extend(replace(note, span=span) for note in findings.notes)
        self.log.untyped_columns.extend(findings.untyped_columns)

    def _reject_semantics_before_column(self, masked: MaskedFragment, context: RuleContext) -> None:
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
                raise misplaced_running_or_final(
                    masked.locate(token.span.to(column.span)),
                    word=token.key,
                    what="a column",
                    clause=name_part(context.part.value),
                )

    def _describe_parse_error(
        self, error: ParseError, masked: MaskedFragment
    ) -> MatchRecognizeParseError:
        """Return our error for one of sqlglot's parser, at the token at which it gave up."""
        details = error.errors[0] if error.errors else {}
        description = str(details.get("description") or error)
        # sqlglot's sentence about a missing keyword has the names of its classes.
        reason = UNFINISHED if "Required keyword" in description else description
        position = (details.get("line"), details.get("col"))
        hint = None
        span = masked.span
        for token in tokenize(masked.text, self.read):
            if (token.line, token.col) == position:
                hint = find_dialect_syntax_hint(masked.text[: token.end + 1])
                span = masked.locate(Span(token.start, token.end + 1))
                break
        return errors.unreadable_in_product(
            span, product=self.read.title, reason="" if hint else reason, hint=hint
        )

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
                    hint=_WRITE_OTHER_FUNCTION.format(title),
                )
            except (ParseError, TokenError):
                continue
        return errors.no_equivalent_in_product(
            span, product=title, what="this", reason=error, hint=None
        )


def _find_outermost(spans: Iterable[Span]) -> list[Span]:
    """Return the spans that are inside no other one, in the order of the text."""
    outermost: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if not outermost or span.start >= outermost[-1].end:
            outermost.append(span)
    return outermost
