"""Turn an engine's refusal of a query into the same error, in terms of the user's text.

    [UNRESOLVED_COLUMN...] ... SQLSTATE: 42703; line 1 pos 7;      unknown column `low`
    'Project ['low]                                            →     line 1, column 8
    +- SubqueryAlias _pyspark_2717...                                    SELECT low FROM t MATCH...
       +- (a page of plan)                                                      ^^^

`rewrite_engine_error` takes these steps:

1. `find_mistake` looks for a mistake that only the text of the query shows.
2. Otherwise, `diagnose_error` divides the message into its parts (`engine_messages`), finds the
   location of the error (`error_locations`) in the text that the engine has read
   (`filled_template`), and names some mistakes that the engine does not name.
3. `build_rewritten_error` makes the error, without the plan and of the same class
   (`error_classes`).
4. `find_hint` adds what to write.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import cast

from pyspark.errors import PySparkException

from matchrec.errors import MatchRecognizeError
from matchrec.errors.sql.engine_errors import (
    advise_on_string_operand,
    read_ambiguous_column,
    reword_refusal,
)
from matchrec.errors.sql.engine_hints import (
    HINT_TO_BEGIN_STATEMENT,
    HINT_TO_BISECT_QUERY,
    find_engine_error_hint,
    find_unfinished_hint,
)
from matchrec.errors.sql.foreign_names import (
    find_dialect_syntax_hint,
    find_function_hint,
    find_table_hint,
    find_target_hint,
)
from matchrec.errors.sql.query import explain_misspelt_keyword, explain_second_alias
from matchrec.errors.sql.refused_parts import find_refused_part
from matchrec.errors.sql.types_and_literals import (
    find_cast_type_hint,
    find_literal_hint,
    find_typed_literal_hint,
)
from matchrec.errors.sql.unknown_functions import find_unknown_function_hint
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import join_alternatives
from matchrec.source import Source, Span
from matchrec.spark.errors.engine_messages import (
    OTHER_CODES,
    EngineMessage,
    find_error_code,
    read_message,
)
from matchrec.spark.errors.error_classes import RewrittenEngineError, reword
from matchrec.spark.errors.error_locations import locate_context, locate_name, locate_word
from matchrec.spark.errors.filled_template import CLAUSE, FilledTemplate
from matchrec.spark.errors.name_conditions import (
    FUNCTION_PARAMETER,
    TABLE_PARAMETER,
    UNKNOWN_FUNCTION,
)
from matchrec.spark.sail.refusals import find_word_hint
from matchrec.spark.session_errors import TEXT_ERRORS

# A function that returns the names of the tables, or of the functions, that a session has.
ListNames = Callable[[], Iterable[str]]

# The error for an unknown table lists the tables if there are at most this many.
MAX_TABLES = 12

# The name of a DataFrame in braces.
NAME_IN_BRACES = re.compile(r"\{\s*(?P<name>[^\W\d]\w*)\s*\}")
# The beginning of a query up to its first word or sign, with the blanks and comments before it.
FIRST_WORD = re.compile(r"(?:\s|--[^\n]*\n|/\*(?s:.*?)\*/)*(?:\w+|\S)")

# The sentence of both engines for QUALIFY, which they do not support.
SYNTAX_ERROR_AT_QUALIFY = re.compile(r"(?i)^Syntax error at or near '?QUALIFY\b")


def rewrite_engine_error(
    error: PySparkException,
    filled: FilledTemplate,
    list_tables: ListNames,
    list_functions: ListNames,
) -> PySparkException:
    """Return the error, of its class, in terms of the user's text and without the plan.

    Args:
        error: the error of the engine. An error in the user's terms is returned as it is, and so is
            an error about a value of a row, unless the text of the query shows its cause.
        filled: the text that the engine has read.
        list_tables: returns the names of the tables that exist.
        list_functions: returns the names of the functions that exist.
    """
    if isinstance(error, RewrittenEngineError):
        return error  # such as the error of a value that an INSERT could not compute
    mistake = find_mistake(error, filled)
    if mistake is not None:
        return reword_as_mistake(error, mistake, filled.source.author)
    if not isinstance(error, TEXT_ERRORS):
        return error
    diagnosis = diagnose_error(error, filled)

    def list_users_tables() -> set[str]:
        """Return the names of the tables that exist, without the views of this query."""
        return set(list_tables()).difference(filled.names.values())

    rewritten = build_rewritten_error(error, diagnosis.message, list_users_tables, filled.show)
    if diagnosis.code is not None:
        rewritten.code = diagnosis.code
    if diagnosis.span is not None:
        _, author_span = filled.source.trace_to_author(diagnosis.span)
        rewritten.spans = (author_span,)
    rewritten.source = filled.source.author
    if rewritten.hint is None:
        hint = find_hint(rewritten, diagnosis.message.text, filled, list_functions)
        if hint:
            rewritten.add_help(hint)
    return cast("PySparkException", rewritten)


def find_mistake(error: PySparkException, filled: FilledTemplate) -> MatchRecognizeError | None:
    """Return the error for the part of the query that only its text shows to be wrong.

    Returns None if the engine refuses something else: see `errors.sql.refused_parts`.

    Args:
        error: the error of the engine.
        filled: the text that the engine has read.
    """
    mistake = find_refused_part(str(error), filled.text)
    if mistake is None:
        return None
    author_spans = []
    for engine_span in mistake.spans:
        span = filled.locate(engine_span.start, engine_span.end)
        if span is not None:
            _, author_span = filled.source.trace_to_author(span)
            author_spans.append(author_span)
    mistake.spans = tuple(author_spans)
    if mistake.hint is not None:
        mistake.hint = filled.show(mistake.hint)
    return mistake


@dataclass(frozen=True, slots=True)
class RefusalDiagnosis:
    """The location of a mistake that an engine has refused, and the message about it."""

    # The parts of the engine's message. If matchrec can name the mistake, sentence and advice are
    # ours.
    message: EngineMessage
    # The location in the user's text; None if it is not known.
    span: Span | None
    # Our code of the mistake; None if the code follows from the engine's error.
    code: str | None


def diagnose_error(error: PySparkException, filled: FilledTemplate) -> RefusalDiagnosis:
    """Locate an error of the engine, and name the mistake if the engine's sentence does not.

    matchrec names a misspelt keyword, and a column that is neither grouped nor aggregated.

    Args:
        error: the error of the engine.
        filled: the text that the engine has read.
    """
    # Imported here, because it loads sqlglot, which no session needs before its first query.
    from matchrec.errors.sql.ungrouped import find_ungrouped_column

    message = read_message(error, filled.text)
    ungrouped = find_ungrouped_column(message.text, filled.text)
    if ungrouped is not None:
        return RefusalDiagnosis(
            message=replace(message, sentence=ungrouped.sentence, advice=ungrouped.hint),
            span=filled.locate(ungrouped.start, ungrouped.end),
            code=None,
        )
    span = locate_error(error, message, filled)
    is_syntax_error = "Syntax error" in message.sentence and not has_context(error)
    if span is not None and is_syntax_error:
        return diagnose_syntax_error(message, span, filled)
    if span is not None and message.advice is None:
        written = filled.source.text[span.start : span.end]
        message = replace(message, advice=advise_on_string_operand(message.sentence, written))
    return RefusalDiagnosis(message, span, code=None)


def diagnose_syntax_error(
    message: EngineMessage, span: Span, filled: FilledTemplate
) -> RefusalDiagnosis:
    """Name the mistake at a syntax error, such as a misspelt keyword, or a second alias.

    For other mistakes but QUALIFY, the result has the engine's sentence.

    Args:
        message: the parts of the engine's message.
        span: the location of the word at the syntax error, in the user's text.
        filled: the text that the engine has read.
    """
    text = filled.source.text
    mistake = explain_misspelt_keyword(text, span) or explain_second_alias(text, span)
    if mistake is not None:
        return RefusalDiagnosis(
            message=replace(message, sentence=mistake.message, advice=mistake.hint),
            span=mistake.span,
            code=mistake.code,
        )
    sentence = message.sentence
    if SYNTAX_ERROR_AT_QUALIFY.search(sentence):
        sentence = "QUALIFY is not supported"
    advice = find_syntax_hint(message, span, filled)
    return RefusalDiagnosis(replace(message, sentence=sentence, advice=advice), span, code=None)


def reword_as_mistake(
    error: PySparkException, mistake: MatchRecognizeError, source: Source
) -> PySparkException:
    """Return the error of the engine, of its class, with the message of an error of ours.

    Args:
        error: the error of the engine.
        mistake: our error about the same mistake.
        source: the text of the query.
    """
    rewritten = reword(error, mistake.message, type(mistake))
    rewritten.code = mistake.code
    rewritten.spans = mistake.spans
    rewritten.source = source
    rewritten.notes = mistake.notes
    rewritten.hint = mistake.hint
    return cast("PySparkException", rewritten)


def put_in_plain_words(error: PySparkException, list_tables: ListNames) -> PySparkException:
    """Return an error that is not about a text of the user, of its class, without the plan.

    Args:
        error: the error of the engine. An error in the user's terms is returned as it is.
        list_tables: returns the names of the tables that exist.
    """
    if isinstance(error, RewrittenEngineError):
        return error
    message = read_message(error)
    rewritten = build_rewritten_error(error, message, list_tables)
    if rewritten.hint is None:
        hint = find_engine_error_hint(message.text, message.sentence)
        if hint:
            rewritten.add_help(hint)
    return cast("PySparkException", rewritten)


def locate_error(
    error: PySparkException, message: EngineMessage, filled: FilledTemplate
) -> Span | None:
    """Return the location of an error in the user's text; None if it is not known.

    Args:
        error: the error of the engine.
        message: the parts of its message.
        filled: the text that the engine has read.
    """
    if has_context(error):
        for context in error.getQueryContext():
            span = locate_context(context, filled)
            if span is not None:
                return span
        return None
    if message.position is not None:
        return locate_word(message.position, filled)
    return locate_name(message.text, filled)


def has_context(error: PySparkException) -> bool:
    """Return whether an error has contexts of Spark, which locate it in the text."""
    return hasattr(error, "getQueryContext") and bool(error.getQueryContext())


def find_syntax_hint(message: EngineMessage, span: Span, filled: FilledTemplate) -> str | None:
    """Return what to write instead of the word at a syntax error; None if that is not known.

    Args:
        message: the engine's message, perhaps with advice: Sail rejects a query that begins with
            FROM.
        span: the location of the word.
        filled: the text that the engine has read.
    """
    text_up_to_word = filled.source.text[: span.end]
    braces = NAME_IN_BRACES.match(filled.source.text, span.start)
    if braces is not None:
        return current_surface().advice_on_frame.format(name=braces["name"])
    if FIRST_WORD.fullmatch(text_up_to_word):
        return message.advice or HINT_TO_BEGIN_STATEMENT
    return (
        find_dialect_syntax_hint(text_up_to_word)
        or find_unfinished_hint(message.text, text_up_to_word)
        or find_word_hint(message.text)
        or find_cast_type_hint(text_up_to_word)
        or find_literal_hint(filled.source.text_at(span))
        or message.advice
    )


def find_hint(
    rewritten: RewrittenEngineError,
    error_text: str,
    filled: FilledTemplate,
    list_functions: ListNames,
) -> str | None:
    """Return what to write instead of the rejected text; None if that is not known.

    Returns None for an unknown column: the caller knows the columns of the clauses.

    Args:
        rewritten: the error in the user's terms, which has no hint yet.
        error_text: the engine's message.
        filled: the text that the engine has read.
        list_functions: returns the names of the functions that exist.
    """
    hint = find_engine_error_hint(error_text, rewritten.message)
    if hint is not None:
        return hint
    if rewritten.code == UNKNOWN_FUNCTION.code:
        name = (rewritten.getMessageParameters().get(FUNCTION_PARAMETER) or "").replace("`", "")
        return find_unknown_function_hint(name, list_functions()) if name else None
    if rewritten.code in OTHER_CODES and filled.has_clause and not rewritten.spans:
        return HINT_TO_BISECT_QUERY
    return None


def build_rewritten_error(
    error: PySparkException,
    message: EngineMessage,
    list_tables: ListNames,
    show_names: Callable[[str], str] = str,
) -> RewrittenEngineError:
    """Return an error in the user's terms: its sentence, its code, and advice on names.

    Args:
        error: the error of the engine.
        message: the parts of its message.
        list_tables: returns the names of the tables that exist. The user can mean one of them.
        show_names: returns a text of the engine with the user's names instead of generated names.
    """
    sentence = message.sentence
    if is_in_words_of_sail(error):
        sentence = reword_refusal(sentence)
    sentence = show_names(sentence)
    ambiguous = read_ambiguous_column(sentence, unnamed_table=CLAUSE)
    if ambiguous is not None:
        sentence = ambiguous.sentence
    parameters = {name: show_names(str(value)) for name, value in message.parameters.items()}
    rewritten = reword(error, sentence, parameters=parameters)
    rewritten.code = find_error_code(error)
    table = message.parameters.get(TABLE_PARAMETER, "")
    table_names = sorted(list_tables()) if table else []
    if 0 < len(table_names) <= MAX_TABLES:
        rewritten.notes = (f"{current_surface().note_on_tables}: {', '.join(table_names)}",)
    if message.advice is not None:
        rewritten.add_help(message.advice)
    if ambiguous is not None and len(set(ambiguous.full_names)) > 1:
        rewritten.add_help(f"write {join_alternatives(ambiguous.full_names)}")
    find_advice_on_table = find_target_hint if message.is_about_target else find_table_hint
    advice_on_name = (
        find_advice_on_table(table, table_names)
        or find_typed_literal_hint(message.parameters.get("unsupportedType", ""))
        or find_function_hint(message.parameters.get(FUNCTION_PARAMETER, "").strip("`"))
    )
    if advice_on_name is not None:
        rewritten.add_help(advice_on_name)
    return rewritten


def is_in_words_of_sail(error: PySparkException) -> bool:
    """Return whether the sentence of an error is Sail's own: it has no condition in brackets."""
    return hasattr(error, "getQueryContext") and not str(error).startswith("[")
