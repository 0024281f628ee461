"""Turn an engine's refusal of a query into the same error, in terms of the user's text.

    [UNRESOLVED_COLUMN...] ... SQLSTATE: 42703; line 1 pos 7;      unknown column `low`
    'Project ['low]                                            →     line 1, column 8
    +- SubqueryAlias _pyspark_2717...                                    SELECT low FROM t MATCH...
       +- (a page of plan)                                                      ^^^

`filled_template` has the text that the engine reads, and `error_locations` finds the error in it.
The error keeps its class, so that programs that catch it still work, and loses the plan. An error
about a name gets the same sentence on Spark and on Sail, see `SENTENCE_BY_CONDITION`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, cast

from pyspark.errors import (
    AnalysisException,
    ArithmeticException,
    IllegalArgumentException,
    ParseException,
    PySparkException,
    UnsupportedOperationException,
)

from matchrec.errors import (
    MatchRecognizeError,
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
)
from matchrec.errors.kinds import Located
from matchrec.errors.language import current_surface
from matchrec.errors.sql.engine_errors import (
    HINT_TO_BEGIN_STATEMENT,
    HINT_TO_BISECT_QUERY,
    find_cast_type_hint,
    find_engine_error_hint,
    find_literal_hint,
    find_typed_literal_hint,
    find_unfinished_hint,
)
from matchrec.errors.sql.foreign_names import (
    find_dialect_syntax_hint,
    find_function_hint,
    find_table_hint,
    find_target_hint,
)
from matchrec.errors.sql.query import explain_misspelt_keyword
from matchrec.errors.sql.refused_parts import find_refused_part
from matchrec.errors.sql.type_mismatches import name_types_as_spark
from matchrec.errors.sql.unknown_names import find_unknown_function_hint
from matchrec.plan.text import quote_name, split_qualified_name
from matchrec.source import Source, Span
from matchrec.spark.errors.error_locations import (
    TextPosition,
    locate_context,
    locate_name,
    locate_word,
    split_position,
)
from matchrec.spark.errors.filled_template import FilledTemplate
from matchrec.spark.sail.error_messages import (
    NAME_REFUSALS,
    UNKNOWN_INSERT_TABLE,
    UNRESOLVED_STAR,
    find_name_refused_by_sail,
    find_word_hint,
    simplify_refusal,
    split_help,
)
from matchrec.spark.session_errors import TEXT_ERRORS

# A function that returns the names of the tables, or of the functions, that a session has.
ListNames = Callable[[], Iterable[str]]

# The error for an unknown table lists the tables if there are at most this many.
MAX_TABLES = 12

# For each of Spark's error conditions: the parameter with the name that the error is about.
PARAMETER_BY_CONDITION = {
    "TABLE_OR_VIEW_NOT_FOUND": "relationName",
    "UNRESOLVED_ROUTINE": "routineName",
    "UNRESOLVED_COLUMN": "objectName",
    UNRESOLVED_STAR: "targetString",
}

# The error codes of refusals around a clause, by Spark's error condition. An error about the same
# mistake inside a clause has the same code.
CODE_BY_CONDITION = {
    "TABLE_OR_VIEW_NOT_FOUND": "unknown-table",
    "UNRESOLVED_ROUTINE": "unknown-function",
    "UNRESOLVED_COLUMN": "unknown-column",
    UNRESOLVED_STAR: "unknown-column",
}

# The sentences of refusals that are about a name, by Spark's error condition. Spark's own sentences
# have several lines, with advice that is not about this query.
SENTENCE_BY_CONDITION = dict(NAME_REFUSALS.values())

# The codes of all other refusals, which are not about a name.
SYNTAX_ERROR = "syntax-error"
REJECTED_BY_ENGINE = "rejected-by-engine"
OTHER_CODES = (SYNTAX_ERROR, REJECTED_BY_ENGINE)

# The name of a DataFrame in braces.
NAME_IN_BRACES = re.compile(r"\{\s*(?P<name>[^\W\d]\w*)\s*\}")
# The beginning of a query up to its first word or sign, with the blanks and comments before it.
FIRST_WORD = re.compile(r"(?:\s|--[^\n]*\n|/\*(?s:.*?)\*/)*(?:\w+|\S)")

# The sentence of both engines for QUALIFY, which they do not support.
SYNTAX_ERROR_AT_QUALIFY = re.compile(r"(?i)^Syntax error at or near '?QUALIFY\b")

# The table into which an INSERT writes, as a query names it.
INSERT_TARGET = re.compile(
    r"\bINSERT\s+(?:INTO|OVERWRITE)\s+(?:TABLE\s+)?((?:`[^`]+`|\w+)(?:\.(?:`[^`]+`|\w+))*)",
    re.IGNORECASE,
)

# For each class with which PySpark refuses a query: our class of the same meaning. If an
# error is an instance of several classes, the first counts: a ParseException is also an
# AnalysisException.
OUR_CLASSES: tuple[tuple[type[PySparkException], type[MatchRecognizeError]], ...] = (
    (ParseException, MatchRecognizeParseError),
    (UnsupportedOperationException, MatchRecognizeUnsupportedError),
    (AnalysisException, MatchRecognizePlanError),
    (IllegalArgumentException, MatchRecognizePlanError),
    (ArithmeticException, MatchRecognizePlanError),
)


class RewrittenEngineError(Located):
    """An error of the engine in the user's terms: a message, its location and what to write."""

    # The code, see `MatchRecognizeError`.
    code: str | None = None
    # The parameters of Spark's message in the user's terms, by their names in Spark.
    _parameters: dict[str, str]

    def add_help(self, hint: str, note: str | None = None) -> None:
        """Add a hint after the existing ones.

        Args:
            hint: what to write.
            note: a fact that explains it.
        """
        if note is not None:
            self.notes = (*self.notes, note)
        self.hint = hint if self.hint is None else f"{self.hint}\n{hint}"

    getMessage = Located.__str__  # noqa: N815 -- PySpark's name

    def getMessageParameters(self) -> dict[str, str]:  # noqa: N802 -- PySpark's name
        """Return the parameters of Spark's message in the user's terms, by their names."""
        return self._parameters

    def getQueryContext(self) -> list[Any]:  # noqa: N802 -- PySpark's name
        """Return no contexts: their positions would be in the text that Spark has read."""
        return []


@dataclass(frozen=True, slots=True)
class EngineMessage:
    """The message of an error of the engine, divided into its parts."""

    # The whole message, with the full name of an unknown table.
    text: str
    # The sentence, without condition, position, plan and stack trace.
    sentence: str
    # The position in the text that the engine has read; None if the engine gives none.
    position: TextPosition | None
    # What to write instead; None if that is not known.
    advice: str | None
    # The parameters of the sentence, as `read_parameters` returns them.
    parameters: Mapping[str, str]
    # Whether the sentence is about an unknown table into which an INSERT writes.
    is_about_target: bool = False


def read_message(error: PySparkException, query_text: str = "") -> EngineMessage:
    """Divide the message of an error of the engine into its parts.

    Args:
        error: the error.
        query_text: the text that the engine has read; "" if the error is not about a text.
    """
    text = name_table_in_full(str(error), query_text)
    sentence, position = split_position(simplify_refusal(text))
    sentence, advice = split_help(sentence)
    parameters = read_parameters(error, text)
    sentence = find_sentence_about_name(text, parameters) or sentence
    is_about_target = UNKNOWN_INSERT_TABLE.match(text) is not None
    target = INSERT_TARGET.search(query_text)
    if target is not None:
        table = parameters.get("relationName", "").replace("`", "")
        is_about_target = target[1].replace("`", "") == table
    return EngineMessage(text, sentence, position, advice, parameters, is_about_target)


def find_sentence_about_name(error_text: str, parameters: Mapping[str, str]) -> str | None:
    """Return the sentence for one of Spark's errors about a name; None for other errors.

    >>> text = "[TABLE_OR_VIEW_NOT_FOUND] The table or view `db`.`t` cannot be found. Verify ..."
    >>> find_sentence_about_name(text, {"relationName": "`db`.`t`"})
    'unknown table or view `db.t`'

    Args:
        error_text: the message of the engine.
        parameters: the parameters of the message.
    """
    condition = find_condition(error_text)
    name = parameters.get(PARAMETER_BY_CONDITION.get(condition or "", ""))
    if condition is None or not name:
        return None
    return SENTENCE_BY_CONDITION[condition].format(name=f"`{'.'.join(split_qualified_name(name))}`")


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
    return RefusalDiagnosis(message, span, code=None)


def diagnose_syntax_error(
    message: EngineMessage, span: Span, filled: FilledTemplate
) -> RefusalDiagnosis:
    """Name the mistake at a syntax error: a misspelt keyword, QUALIFY, or the engine's sentence.

    Args:
        message: the parts of the engine's message.
        span: the location of the word at the syntax error, in the user's text.
        filled: the text that the engine has read.
    """
    misspelt = explain_misspelt_keyword(filled.source.text, span)
    if misspelt is not None:
        return RefusalDiagnosis(
            message=replace(message, sentence=misspelt.message, advice=misspelt.hint),
            span=misspelt.span,
            code=misspelt.code,
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
    if rewritten.code == CODE_BY_CONDITION["UNRESOLVED_ROUTINE"]:
        name = (rewritten.getMessageParameters().get("routineName") or "").replace("`", "")
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
        sentence = name_types_as_spark(sentence)
    rewritten = reword(error, show_names(sentence))
    rewritten._parameters = {
        name: show_names(str(value)) for name, value in message.parameters.items()
    }
    rewritten.code = find_error_code(error)
    table = message.parameters.get("relationName", "")
    table_names = sorted(list_tables()) if table else []
    if 0 < len(table_names) <= MAX_TABLES:
        rewritten.notes = (f"{current_surface().note_on_tables}: {', '.join(table_names)}",)
    if message.advice is not None:
        rewritten.add_help(message.advice)
    find_advice_on_table = find_target_hint if message.is_about_target else find_table_hint
    advice_on_name = (
        find_advice_on_table(table, table_names)
        or find_typed_literal_hint(message.parameters.get("unsupportedType", ""))
        or find_function_hint(message.parameters.get("routineName", "").strip("`"))
    )
    if advice_on_name is not None:
        rewritten.add_help(advice_on_name)
    return rewritten


def is_in_words_of_sail(error: PySparkException) -> bool:
    """Return whether the sentence of an error is Sail's own: it has no condition in brackets."""
    return hasattr(error, "getQueryContext") and not str(error).startswith("[")


def reword(
    error: PySparkException, message: str, our_class: type[MatchRecognizeError] | None = None
) -> RewrittenEngineError:
    """Return a copy of an error with another message, as a subclass of its class.

    The copy is a `RewrittenEngineError` without spans, notes and hint.

    Args:
        error: the error of the engine.
        message: the new message.
        our_class: our class that the copy belongs to; None for the class in `OUR_CLASSES`.
    """
    error_class: Any = type(error)
    rewritten: Any = error_class.__new__(make_subclass(error_class, cast("Any", our_class)))
    rewritten.__dict__.update(error.__dict__)
    Located.__init__(rewritten, message)
    rewritten._parameters = {}
    return cast("RewrittenEngineError", rewritten)


def find_error_code(error: PySparkException) -> str:
    """Return the code of an error of the engine, the same on Spark and on Sail.

    >>> find_error_code(PySparkException("[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with ..."))
    'unknown-column'
    """
    message = str(error)
    if isinstance(error, ParseException) or "Syntax error" in simplify_refusal(message):
        return SYNTAX_ERROR
    condition = find_condition(message)
    if condition is not None:
        return CODE_BY_CONDITION.get(condition, REJECTED_BY_ENGINE)
    refused_name = find_name_refused_by_sail(message)
    if refused_name is not None:
        return CODE_BY_CONDITION.get(refused_name.condition, REJECTED_BY_ENGINE)
    return REJECTED_BY_ENGINE


def find_condition(error_text: str) -> str | None:
    """Return Spark's error condition at the start of a message, without its subclass.

    >>> find_condition("[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with ...")
    'UNRESOLVED_COLUMN'
    """
    condition = re.match(r"\[([A-Z_]+)", error_text)
    return condition[1] if condition else None


def read_parameters(error: Exception, error_text: str) -> dict[str, str]:
    """Return the parameters of the sentence of a refusal, by their names in Spark.

    Args:
        error: the error of the engine.
        error_text: its text.
    """
    refused_name = find_name_refused_by_sail(error_text)
    if refused_name is not None and refused_name.condition in PARAMETER_BY_CONDITION:
        parts = refused_name.parts or (refused_name.name,)
        quoted_name = ".".join(quote_name(part) for part in parts)
        return {PARAMETER_BY_CONDITION[refused_name.condition]: quoted_name}
    if not hasattr(error, "getMessageParameters"):
        return {}
    return dict(error.getMessageParameters() or {})  # before Spark 4 it is a map of Java


@cache
def make_subclass(pyspark_class: Any, our_class: Any) -> Any:
    """Return a subclass of a class of PySpark and of `RewrittenEngineError`, with the same name.

    The result is also a subclass of one of our classes, so that both `except AnalysisException` and
    `except MatchRecognizeError` catch it.

    Args:
        pyspark_class: the class of PySpark.
        our_class: our class; None for the class in `OUR_CLASSES`, if that table has one.
    """
    if our_class is None:
        fitting_classes = [ours for base, ours in OUR_CLASSES if issubclass(pyspark_class, base)]
        our_class = next(iter(fitting_classes), None)
    if our_class is None:
        bases: tuple[type, ...] = (RewrittenEngineError, pyspark_class)
    else:
        bases = (RewrittenEngineError, our_class, pyspark_class)
    return type(pyspark_class.__name__, bases, {"__module__": pyspark_class.__module__})


def name_table_in_full(error_text: str, query_text: str) -> str:
    """Return an error message about an unknown table with the full name of the table.

    Sail's message has only the last part of a name such as `db.ticks`. The message is returned as
    it is if no name in the text of the query ends with this part, or if several different names do.

    >>> name_table_in_full("Table or view not found: ticks", "SELECT * FROM db.ticks")
    'Table or view not found: db.ticks'
    >>> name_table_in_full("Table or view not found: ticks", "SELECT ticks.x FROM ticks")
    'Table or view not found: ticks'
    """
    refused_name = find_name_refused_by_sail(error_text)
    if refused_name is None or refused_name.condition != "TABLE_OR_VIEW_NOT_FOUND":
        return error_text
    last_part = refused_name.name
    full_names = re.findall(rf"(?<![\w.`])(?:\w+\.)*{re.escape(last_part)}(?![\w.`])", query_text)
    if len(set(full_names)) != 1:
        return error_text
    return error_text.replace(f": {last_part}", f": {full_names[0]}")
