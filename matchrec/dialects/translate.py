"""Translate a query of one product for another one, by edits of its text.

1. `spellings` rewrites the spellings of one product in the grammar that all products share.
2. `differences` finds constructs whose meaning sqlglot would change. Each gets a note, or is an
   error.
3. `query_edits` divides a query into fragments: the query around the clauses, the relation before
   each clause, and every expression in a clause. `fragments` translates each by itself.
4. `clause_edits` edits the rest of each clause: names, bounds of quantifiers, and defaults.

`query_checks` first checks a query of Spark SQL. If both products are the same, a query is checked,
and nothing else happens.

All other text stays as the user wrote it. A translation has three texts: the original one, the
respelled one after step 1, and the translated one after step 4. A span of the second or third text
leads back to a span of the text before, so that errors and notes point at what the user wrote.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from matchrec.dialects.clause_edits import edit_clause
from matchrec.dialects.differences import find_differences
from matchrec.dialects.edits import Edit, EditedText, TranslationNote, apply_edits
from matchrec.dialects.fragments import FragmentTranslator, TranslationLog
from matchrec.dialects.product_tokens import read_product_tokens
from matchrec.dialects.products import SPARK, Product
from matchrec.dialects.query_checks import check_query, read_checked_plans
from matchrec.dialects.query_edits import edit_query
from matchrec.dialects.rules.visible_columns import (
    ClauseKinds,
    ColumnKinds,
    TableLookup,
    find_no_table,
)
from matchrec.dialects.spellings import edit_spellings
from matchrec.errors.kinds import locate_errors
from matchrec.errors.sql import products as errors
from matchrec.errors.sql.query import blank_query
from matchrec.plan.earlier_measures import walk_reads_of_earlier_measures
from matchrec.plan.match_plan import MatchPlan
from matchrec.source import Source
from matchrec.syntax.clause_locations import find_clauses
from matchrec.syntax.clause_tokens import make_clause_tokens
from matchrec.syntax.tokens import TokenSequence, find_data_frames


@dataclass(frozen=True, slots=True)
class Translation:
    """A query or clause in the SQL of another product, and what a reader of it must know."""

    # The new text, from which errors find their way back to the original one.
    source: Source
    # What is lost or differs, each note once. The spans are of the original text.
    notes: tuple[TranslationNote, ...] = ()
    # The names of columns with unknown types on which the meaning of an expression depends. With
    # their types, a second translation may differ.
    untyped_columns: frozenset[str] = frozenset()

    @property
    def text(self) -> str:
        """Return the text in the SQL of the product that is written."""
        return self.source.text


@dataclass(frozen=True, slots=True)
class QueryKnowledge:
    """What a session knows of a query, in addition to its text."""

    # The kinds of the columns around each clause and row pattern window, in the order in which
    # these are evaluated. For clauses and windows after the last element, nothing is known.
    clause_kinds: Sequence[ClauseKinds] = ()
    # The value of each of the query's parameters; empty if the values are not known.
    parameter_values: Mapping[str, object] = field(default_factory=dict)
    # Looks up the columns of a table.
    look_up_table: TableLookup = find_no_table


def translate_query(
    text: str, read: Product, write: Product, knowledge: QueryKnowledge | None = None
) -> Translation:
    """Translate a query that has any number of clauses, anywhere.

    Args:
        text: the query.
        read: the product whose SQL it is.
        write: the product whose SQL is written.
        knowledge: what a session knows about the query, if there is a session.

    Raises:
        MatchRecognizeError: the query is wrong, or the product that is written has nothing that
            means the same as a part of it.
    """
    source = Source(text)
    if read is write:
        check_query(text, read)
        return Translation(source)
    knowledge = knowledge or QueryKnowledge()
    notes: list[TranslationNote] = []
    with locate_errors(source):
        tokens = read_product_tokens(text, read)
        _require_written_product(write)
        if all(token.key == ";" for token in tokens.tokens):
            raise blank_query(text)
        plans = read_checked_plans(text) if read is SPARK else []
        clauses = find_clauses(tokens)
        spelling_edits = list(edit_spellings(tokens, clauses, read, knowledge.parameter_values))
    notes += _note_differences(source, tokens, read, write)
    respelled = _respell(source, tokens, spelling_edits, read)
    with locate_errors(respelled.source):
        translator = respelled.make_translator(read, write, knowledge.look_up_table)
        edits = list(edit_query(respelled.tokens, translator, knowledge.clause_kinds))
    notes += respelled.locate_notes(translator.log)
    for plan in plans:
        notes += _note_earlier_measures(plan, write)
    return _build_translation(respelled, edits, notes, translator.log)


def _require_written_product(write: Product) -> None:
    """Check that matchrec translates queries to the SQL of a product.

    Args:
        write: the product.

    Raises:
        MatchRecognizeError: matchrec only reads queries of the product.
    """
    if not write.is_translation_target:
        raise errors.product_not_written(product=write.title)


def translate_clause(
    text: str, read: Product, write: Product, columns: ColumnKinds | None = None
) -> Translation:
    """Translate the text between the parentheses of a clause.

    Args:
        text: the clause.
        read: the product whose SQL it is.
        write: the product whose SQL is written.
        columns: the kinds of the columns of its input; None if they are not known.

    Raises:
        MatchRecognizeError: see `translate_query`.
    """
    source = Source(text)
    with locate_errors(source):
        tokens = read_product_tokens(text, read)
        spelling_edits = list(edit_spellings(tokens, None, read, {}))
    difference_notes = _note_differences(source, tokens, read, write)
    respelled = _respell(source, tokens, spelling_edits, read)
    with locate_errors(respelled.source):
        translator = respelled.make_translator(read, write, find_no_table)
        clause_tokens = make_clause_tokens(respelled.tokens)
        edits = list(edit_clause(clause_tokens, translator, partial(dict, columns or {})))
    notes = [*difference_notes, *respelled.locate_notes(translator.log)]
    return _build_translation(respelled, edits, notes, translator.log)


@dataclass(frozen=True, slots=True)
class RespelledText:
    """A text in the grammar that all products share."""

    # The original text and the text with the edits of its spellings.
    edited: EditedText
    # The edited text as a source whose errors show the original text.
    source: Source
    # The tokens of the edited text.
    tokens: TokenSequence

    def make_translator(
        self, read: Product, write: Product, look_up_table: TableLookup
    ) -> FragmentTranslator:
        """Return a translator of the fragments of the text, with an empty log."""
        frames = tuple(frame.span for frame in find_data_frames(self.tokens.tokens))
        return FragmentTranslator(self.tokens.text, read, write, frames, look_up_table)

    def locate_notes(self, log: TranslationLog) -> list[TranslationNote]:
        """Return the notes of a log with their spans moved to the original text.

        Args:
            log: the log of a translator from `make_translator`.
        """
        return [replace(note, span=self.edited.find_old_span(note.span)) for note in log.notes]


def _respell(
    original: Source, tokens: TokenSequence, spelling_edits: Sequence[Edit], read: Product
) -> RespelledText:
    """Return the text in the grammar that all products share.

    Args:
        original: the text as the user wrote it, in the spellings of a product.
        tokens: the tokens of the original text.
        spelling_edits: the edits that replace these spellings, as from `edit_spellings`.
        read: the product.

    Raises:
        MatchRecognizeError: the new text cannot be read.
    """
    edited = apply_edits(original.text, spelling_edits)
    if not spelling_edits:
        return RespelledText(edited, original, tokens)
    source = edited.make_source(original)
    with locate_errors(source):
        return RespelledText(edited, source, read_product_tokens(edited.text, read))


def _build_translation(
    respelled: RespelledText,
    edits: Sequence[Edit],
    notes: Sequence[TranslationNote],
    log: TranslationLog,
) -> Translation:
    """Return the translation that edits of the respelled text make.

    Args:
        respelled: the text before the edits.
        edits: the edits, in any order.
        notes: all notes, with spans of the original text. Equal notes become one.
        log: the log of the translator, for the columns with unknown types.
    """
    translated = apply_edits(respelled.edited.text, edits).make_source(respelled.source)
    unique_notes = tuple(dict.fromkeys(notes))
    return Translation(translated, unique_notes, frozenset(log.untyped_columns))


def _note_earlier_measures(plan: MatchPlan, write: Product) -> Iterator[TranslationNote]:
    """Yield a note on each name that may be an earlier measure.

    A measure of Spark SQL can read earlier measures. In other products, it reads only columns.

    Args:
        plan: the plan of a clause of Spark SQL.
        write: the product that is written.
    """
    for measure in walk_reads_of_earlier_measures(plan):
        if measure.span is not None:
            name = measure.argument
            meaning = f"{name} is an earlier measure if no column has this name"
            message = f"{meaning}, and {write.title} cannot read earlier measures"
            yield TranslationNote(message, measure.span)


def _note_differences(
    source: Source, tokens: TokenSequence, read: Product, write: Product
) -> list[TranslationNote]:
    """Return a note on each construct whose meaning sqlglot would change.

    Raises:
        MatchRecognizeUnsupportedError: the table `differences.txt` rejects a construct.
    """
    notes = []
    with locate_errors(source):
        for difference, span in find_differences(tokens, read, write):
            # A row of the table that names only the product that is read says what Spark would
            # compute. Another product may compute the right result, so it gets a note.
            is_error = write.has_spark_functions or difference.depends_on_written_product
            if difference.is_rejected and is_error:
                raise errors.no_equivalent_in_product(
                    span,
                    product=write.title,
                    what=f"this {difference.name}",
                    reason=difference.sentence,
                    hint=difference.hint,
                )
            hint = f": {difference.hint}" if difference.hint else ""
            notes.append(TranslationNote(f"{difference.name}: {difference.sentence}{hint}", span))
    return notes
