"""Fragments of a query: parts of its text, each of which sqlglot translates by itself.

A fragment is the query around the clauses, the relation before a clause, or an expression in one.
It is translated in these steps:

1. `masked_fragments` replaces its holes, such as clauses, by names that sqlglot can read.
2. `sqlglot_translation` translates the masked text.
3. `token_edits` compares the old and the new tokens. Only what differs becomes an edit.

Each edit is then moved from the masked text to the whole text. If sqlglot raises an error,
`fragment_errors` returns ours.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace

from sqlglot.errors import ParseError, TokenError, UnsupportedError

from matchrec.dialects.edits import Edit, TranslationNote, apply_edits
from matchrec.dialects.fragment_errors import (
    make_parse_error,
    make_unsupported_error,
    reject_semantics_before_column,
)
from matchrec.dialects.masked_fragments import Hole, MaskedFragment, mask_holes
from matchrec.dialects.products import Product
from matchrec.dialects.rules.context import RuleContext, RuleFindings
from matchrec.dialects.rules.visible_columns import TableLookup, VisibleColumns, find_no_table
from matchrec.dialects.sqlglot_dialects import tokenize_product_sql
from matchrec.dialects.sqlglot_translation import translate_fragment
from matchrec.dialects.token_edits import MovedAnchorsError, TokenizedText, find_edits
from matchrec.errors.sql import products as errors
from matchrec.source import Span

# A prefix that turns the relation of a clause into a query: the relation follows FROM.
SELECT_ALL = "SELECT * FROM "


@dataclass(frozen=True, slots=True)
class TranslationLog:
    """What a translation has found out so far. The log grows during the translation."""

    # Notes on what differs, in the order in which the fragments were translated. Their spans are in
    # `FragmentTranslator.text`.
    notes: list[TranslationNote] = field(default_factory=list)
    # The names of columns whose types rules need, but do not know. A name may occur several times.
    untyped_columns: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class FragmentTranslator:
    """A translator of the fragments of one text, which it does not change."""

    # The text of the query, or of the clause.
    text: str
    # The products that are read and written.
    read: Product
    write: Product
    # The spans of every `{name}` for a DataFrame in the text. Each is a hole of its fragment.
    frames: tuple[Span, ...] = ()
    # Looks up the kinds of the columns of a table.
    look_up_table: TableLookup = find_no_table
    # The log to which notes on all fragments are added.
    log: TranslationLog = field(default_factory=TranslationLog)

    def translate_expression(self, span: Span, context: RuleContext) -> str:
        """Return an expression of a clause in the SQL of the product that is written.

        See `edit_expression` for the arguments and errors. The notes are added to the log.
        """
        edits = self.edit_expression(span, context)
        shifted = [Edit(edit.span.shift_by(-span.start), edit.text) for edit in edits]
        return apply_edits(self.text[span.start : span.end], shifted).text

    def edit_expression(self, span: Span, context: RuleContext) -> list[Edit]:
        """Return the edits that translate an expression of a clause, and add to the log.

        Args:
            span: the characters of the expression.
            context: the clause, and the part of it that the expression is in.

        Raises:
            MatchRecognizeError: see `edit_around_holes`.
        """
        return self._edit_masked(self._mask(span, ()), context)

    def edit_around_holes(self, span: Span, holes: Iterable[Hole], prefix: str = "") -> list[Edit]:
        """Return the edits that translate a query or relation except for its holes.

        Notes on it are added to the log.

        Args:
            span: the characters of the query or relation.
            holes: the parts that are not translated: clauses, each with its relation, and windows.
                The spans of `frames` become holes, too.
            prefix: text that makes a query of a relation, such as `SELECT_ALL`.

        Raises:
            MatchRecognizeError: the text cannot be read, or the product that is written has nothing
                that means the same.
        """
        masked = self._mask(span, holes, prefix)
        columns_by_name = {
            name: hole.columns for name, hole in masked.holes.items() if hole.columns is not None
        }
        columns = VisibleColumns(clause_results=columns_by_name, look_up_table=self.look_up_table)
        return self._edit_masked(masked, RuleContext(self.read, self.write, columns=columns))

    def _mask(self, span: Span, holes: Iterable[Hole], prefix: str = "") -> MaskedFragment:
        """Return a fragment in which names replace its holes and the `frames` in it."""
        frames = [Hole(frame) for frame in self.frames if span.contains(frame)]
        return mask_holes(self.text, span, [*holes, *frames], prefix)

    def _edit_masked(self, masked: MaskedFragment, context: RuleContext) -> list[Edit]:
        """Return the edits of the whole text that translate a masked fragment.

        Raises:
            MatchRecognizeError: see `edit_around_holes`.
        """
        with suppress(TokenError):  # `_edit_masked_text` raises the same error, which is reported
            reject_semantics_before_column(masked, context)
        try:
            edits = self._edit_masked_text(masked, context)
        except ParseError as error:
            raise make_parse_error(error, masked, self.read) from error
        except TokenError as error:
            raise errors.unreadable_in_product(
                masked.span, product=self.read.title, reason=str(error)
            ) from error
        except UnsupportedError as error:
            raise make_unsupported_error(error, masked, context) from error
        except MovedAnchorsError:
            raise errors.translation_reorders_parts(masked.span, product=self.write.title) from None
        return [masked.locate_edit(edit) for edit in edits]

    def _edit_masked_text(self, masked: MaskedFragment, context: RuleContext) -> list[Edit]:
        """Return the edits of the masked text that translate it.

        Raises:
            ParseError, TokenError, UnsupportedError: see `translate_fragment`.
            MovedAnchorsError: the translation has the holes in another order.
        """
        translation = translate_fragment(masked.text, context)
        self._add_to_log(translation.findings, masked.span)
        if translation.text is None:
            return []
        old = TokenizedText(masked.text, tokenize_product_sql(masked.text, self.read))
        new = TokenizedText(translation.text, tokenize_product_sql(translation.text, self.write))
        return list(find_edits(old, new, frozenset(masked.holes)))

    def _add_to_log(self, findings: RuleFindings, span: Span) -> None:
        """Add to the log what rules have found out about the fragment at a span."""
        self.log.notes.extend(replace(note, span=span) for note in findings.notes)
        self.log.untyped_columns.extend(findings.untyped_columns)
