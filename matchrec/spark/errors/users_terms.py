"""Turn an engine's refusal of a query into the same error, in terms of the user's text.

    [UNRESOLVED_COLUMN...] ... SQLSTATE: 42703; line 1 pos 7;      [UNRESOLVED_COLUMN...] ... 42703
    'Project ['low]                                            →     line 1, column 8
    +- SubqueryAlias _pyspark_2717...                                    SELECT low FROM t MATCH...
       +- (a page of plan)                                                      ^^^

The engine reads the user's text with a name in each hole. So a position in its text is found again
in the user's: subtract how much longer the names before it are than their holes.

The error keeps its class, so that programs that catch it still work, and loses the plan.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

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
from matchrec.errors.sql.engine_errors import (
    FIND_THE_PART,
    find_engine_error_hint,
    find_literal_hint,
    find_type_name_hint,
    find_typed_literal_hint,
)
from matchrec.errors.sql.foreign_names import (
    find_dialect_syntax_hint,
    find_function_hint,
    find_table_hint,
)
from matchrec.errors.sql.unknown_names import find_unknown_function_hint
from matchrec.plan.parameters import NAME_PREFIX
from matchrec.plan.templates import Replacement, Template, View
from matchrec.plan.text import quote_name
from matchrec.source import Source, Span
from matchrec.spark.sail.words import (
    STAR,
    find_error_condition,
    find_error_place,
    find_hint_for_word,
    find_matching_row,
    simplify_refusal,
    split_help,
)

# The names that PySpark gives to its temporary views, and how long they are over Spark Connect.
PYSPARK_NAME = re.compile(r"_pyspark_(?:connect_temp_view_)?[0-9a-f]{32}")
PYSPARK_LENGTH = len("_pyspark_connect_temp_view_") + 32

# The name of the view of a clause, and what messages call it.
CLAUSE = "match_recognize"

# How to locate an error that the engine reports without a position. The key is a regular expression
# of its sentence, the value one of the part of the query, in which groups of the sentence are
# filled in. The part is shown if the query has only one.
PLACES = {
    r"InSubquery": r"(?i:IN\\s*\\(\\s*SELECT)",
    r"(?P<word>LIMIT|OFFSET) must be >=.*'-(?P<number>\d+)'": r"(?i:\g<word>)\\s+-\\s*\g<number>",
    r"The (?P<word>limit|offset) expression must be .*-(?P<number>\d+)\.": (
        r"(?i:\g<word>)\\s+-\\s*\g<number>"
    ),
    r"Expected (?P<word>LIMIT|OFFSET) to be": r"(?i:\g<word>)\\s+\\S+",
    r"(?:unknown table function: |VALUED_FUNCTION\] Could not resolve `)(?P<name>\w+)": r"\g<name>",
    r"^(?:invalid argument: )?found (?P<word>[^\s']+) at \d": (
        r"(?i:DATE|TIMESTAMP\\w*|TIME|X|INTERVAL)\\s*'\g<word>[^']*'"
    ),
    r"near end of input|found end of input": r"\\S+(?=\\s*$)",
}

# Return the names of the tables and of the functions that exist.
ListTables = Callable[[], Iterable[str]]
ListFunctions = Callable[[], Iterable[str]]

# The name that a `?` has in the text that the engine reads.
_POSITIONAL_PARAMETER = re.compile(rf":{NAME_PREFIX}\d+")
_SUGGESTIONS = re.compile(r" Did you mean one of the following\? \[(?P<names>[^]]*)\]\.")
# What follows the sentence: a stack trace or the text, the plan, and the line and column.
_STACK = re.compile(r"\n+JVM stacktrace:\n|\n+== SQL\b")
_PLAN = re.compile(r";\n(?=[!'A-Z])")
_PLACE = re.compile(r"(?:; line (\d+) pos (\d+)|\s*\(line (\d+), pos (\d+)\))?;?$")


def fill_piece(piece: str | View | Replacement, names: Mapping[str, str]) -> str | View:
    """Return a piece of a template as the engine reads it. A hole without a name stays a hole."""
    if isinstance(piece, Replacement):
        return piece.text
    if isinstance(piece, View) and piece.name in names:
        return names[piece.name].ljust(piece.width)
    return piece


@dataclass(frozen=True)
class FilledTemplate:
    """A template as the engine reads it, and the user's text that it was made from."""

    template: Template
    # The names of the views in the holes, by the hole. PySpark fills all other holes.
    names: Mapping[str, str]
    source: Source

    @property
    def text(self) -> str:
        """The text that the engine reads, with `_` for each character of a name of PySpark's."""
        return "".join(self._fill(piece) for piece in self.template)

    def _fill(self, piece: str | View | Replacement) -> str:
        """Return the text of a piece, with `_` for a name that PySpark will choose."""
        filled = fill_piece(piece, self.names)
        if isinstance(filled, str):
            return filled
        return ("_" * PYSPARK_LENGTH).ljust(filled.width)

    def locate(self, start: int, end: int) -> Span | None:
        """Return the user's characters for those from `start` to `end` of the engine's text.

        None if there are none.
        """
        span = Span(self._find_user_offset(start), self._find_user_offset(end))
        return span if span.start < span.end <= len(self.source.text) else None

    def _find_user_offset(self, offset: int) -> int:
        """Return the offset in the user's text for an offset in the engine's text.

        Inside of a replacement it is at most at the end of what was replaced.
        """
        end = 0  # of the piece, in the engine's text
        excess = 0  # how much longer the engine's text is before the piece
        for piece in self.template:
            start = end
            end = start + len(self._fill(piece))
            if end > offset:
                if isinstance(piece, Replacement):
                    return start - excess + min(offset - start, piece.width)
                break
            if not isinstance(piece, str):
                excess += len(self._fill(piece)) - piece.width
        return offset - excess

    def show(self, text: str) -> str:
        """Return text of the engine's with the user's names for views, and `?` for its names."""
        text = _SUGGESTIONS.sub(_drop_hidden_names, _POSITIONAL_PARAMETER.sub("?", text))
        for hole, name in self.names.items():
            text = text.replace(name, self._find_user_name(hole))
        # Which hole a name of PySpark's is in is known only if there is one hole.
        holes = {piece.name for piece in self.template if isinstance(piece, View)}
        user_name = self._find_user_name(*holes) if len(holes) == 1 else CLAUSE
        return PYSPARK_NAME.sub(user_name, text)

    @property
    def has_clause(self) -> bool:
        """Return whether the text is the query around a clause."""
        views = (piece.name for piece in self.template if isinstance(piece, View))
        return any(name.startswith(CLAUSE) for name in views)

    def _find_user_name(self, hole: str) -> str:
        """Return the user's name for a hole: a DataFrame in braces, or the clause."""
        return CLAUSE if hole.startswith(CLAUSE) else f"{{{hole}}}"


def _drop_hidden_names(suggestions: re.Match[str]) -> str:
    """Return Spark's suggestions of columns without the names that only matchrec knows."""
    names = [name for name in suggestions["names"].split(", ") if f"`{NAME_PREFIX}" not in name]
    return suggestions[0].replace(suggestions["names"], ", ".join(names)) if names else ""


class RewrittenEngineError(Located):
    """An error of the engine in the user's terms: a message, its location and what to write."""

    # The parameters of Spark's message, by their names in Spark.
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
        """Return the parameters of Spark's message, by name, in the user's terms."""
        return self._parameters

    def getQueryContext(self) -> list[Any]:  # noqa: N802 -- PySpark's name
        """Return no context: Spark's has positions in the text that Spark has read."""
        return []


def rewrite_engine_error(
    error: PySparkException, filled: FilledTemplate, tables: ListTables, functions: ListFunctions
) -> PySparkException:
    """Return the error, of its class, in terms of the user's text and without the plan.

    Args:
        error: the error of the engine; one that is in the user's terms already is returned.
        filled: the text that the engine has read.
        tables: returns the names of the tables that exist.
        functions: returns the names of the functions that exist.
    """
    if isinstance(error, RewrittenEngineError):
        return error  # such as the error of a value that an INSERT could not compute
    error_text = _name_table_in_full(str(error), filled.text)
    sentence, position = _split_position(simplify_refusal(error_text))
    sentence, advice = split_help(sentence)
    contexts = error.getQueryContext() if hasattr(error, "getQueryContext") else []
    if contexts:
        context_spans = [_locate_context(context, filled) for context in contexts]
        span = next((span for span in context_spans if span is not None), None)
    else:
        if position is None:
            span = _locate_name(error_text, filled)
        else:
            span = _locate_word(position, filled)
        if span and "Syntax error" in sentence:
            advice = find_syntax_hint(error_text, span, filled) or advice
    # Imported here, because it loads sqlglot, which no session needs before its first query.
    from matchrec.errors.sql.ungrouped import find_ungrouped_column

    ungrouped = find_ungrouped_column(error_text, filled.text)
    if ungrouped is not None:
        span = filled.locate(ungrouped.start, ungrouped.end)
        sentence = ungrouped.sentence
        advice = ungrouped.hint

    def list_users_tables() -> set[str]:
        """Return the names of the tables that exist, without views of ours."""
        return set(tables()).difference(filled.names.values())

    parameters = read_parameters(error, error_text)
    short = _shorten(error, sentence, advice, parameters, list_users_tables, filled.show)
    short.spans = () if span is None else (filled.source.trace_to_author(span)[1],)
    short.source = filled.source.author
    if short.hint is None:
        advice = find_hint(short, error_text, filled, functions)
        if advice:
            short.add_help(advice)
    refusal: PySparkException = short
    return refusal


def find_syntax_hint(error_text: str, span: Span, filled: FilledTemplate) -> str | None:
    """Return what to write instead of the word at a syntax error; None if that is not known.

    Args:
        error_text: what the engine says.
        span: the word.
        filled: the text that the engine has read.
    """
    text_up_to_word = filled.source.text[: span.end]
    return (
        find_dialect_syntax_hint(text_up_to_word)
        or find_hint_for_word(error_text)
        or find_type_name_hint(text_up_to_word)
        or find_literal_hint(filled.source.text_at(span))
    )


def find_hint(
    refusal: Any, error_text: str, filled: FilledTemplate, functions: ListFunctions
) -> str | None:
    """Return what to write instead of the rejected text, if there is no advice yet.

    None for an unknown column: the caller knows the columns of the clauses.

    Args:
        refusal: the error in the user's terms.
        error_text: what the engine says.
        filled: the text that the engine has read.
        functions: returns the names of the functions that exist.
    """
    hint = find_engine_error_hint(error_text, refusal.message)
    if refusal.code == CODES["UNRESOLVED_ROUTINE"] and hint is None:
        name = (refusal._parameters.get("routineName") or "").replace("`", "")
        return find_unknown_function_hint(name, functions()) if name else None
    if hint is None and refusal.code in OTHER_CODES and filled.has_clause and not refusal.spans:
        return FIND_THE_PART
    return hint


def put_in_plain_words(error: PySparkException, tables: ListTables) -> PySparkException:
    """Return the error, of its class, without the plan, if it is about no text of the user.

    Args:
        error: the error of the engine; one that is in the user's terms already is returned.
        tables: returns the names of the tables that exist.
    """
    if isinstance(error, RewrittenEngineError):
        return error
    error_text = str(error)
    sentence, advice = split_help(_split_position(simplify_refusal(error_text))[0])
    short = _shorten(error, sentence, advice, read_parameters(error, error_text), tables)
    if short.hint is None:
        advice = find_engine_error_hint(error_text, sentence)
        if advice:
            short.add_help(advice)
    refusal: PySparkException = short
    return refusal


def _shorten(  # noqa: PLR0913 -- what is known about an error
    error: PySparkException,
    sentence: str,
    advice: str | None,
    parameters: Mapping[str, str],
    tables: ListTables,
    show: Callable[[str], str] = str,
) -> Any:
    """Return an error as a `RewrittenEngineError`: its sentence, its code, and advice on names.

    Args:
        error: the error of the engine.
        sentence: what it says.
        advice: what to write instead, if that is known.
        parameters: the parameters of the sentence, as `read_parameters` returns them.
        tables: returns the names of the tables that exist. The user may mean one of them.
        show: returns a text of the engine's with the user's names.
    """
    short = reword(error, show(sentence))
    short._parameters = {name: show(str(value)) for name, value in parameters.items()}
    short.code = find_error_code(error)
    table = parameters.get("relationName", "")
    tables_in_reach = sorted(tables()) if table else []
    if 0 < len(tables_in_reach) <= MOST_TABLES:
        short.notes = (f"the session has: {', '.join(tables_in_reach)}",)
    advice_on_names = (
        find_table_hint(table, tables_in_reach)
        or find_typed_literal_hint(parameters.get("unsupportedType", ""))
        or find_function_hint(parameters.get("routineName", "").strip("`"))
    )
    for text in (advice, advice_on_names):
        if text is not None:
            short.add_help(text)
    return short


def reword(error: PySparkException, message: str) -> Any:
    """Return a copy of an error with another message, as a subclass of its class.

    The copy is an `RewrittenEngineError` without spans, notes and hint.
    """
    error_class: Any = type(error)
    short: Any = error_class.__new__(_make_subclass(error_class))
    short.__dict__.update(error.__dict__)
    Located.__init__(short, message)
    short._parameters = {}
    return short


# The most tables that the error for an unknown table lists.
MOST_TABLES = 12

# For each of Spark's conditions the parameter with the name that the error is about.
PARAMETERS = {
    "TABLE_OR_VIEW_NOT_FOUND": "relationName",
    "UNRESOLVED_ROUTINE": "routineName",
    "UNRESOLVED_COLUMN": "objectName",
    STAR: "targetString",
}


# Codes of what the engine refuses around a clause, by Spark's condition. Where matchrec finds the
# same inside a clause, it has the same code.
CODES = {
    "TABLE_OR_VIEW_NOT_FOUND": "unknown-table",
    "UNRESOLVED_ROUTINE": "unknown-function",
    "UNRESOLVED_COLUMN": "unknown-column",
    STAR: "unknown-column",
}
SYNTAX_ERROR = "syntax-error"
REFUSED = "rejected-by-engine"

# The codes of all other refusals.
OTHER_CODES = (SYNTAX_ERROR, REFUSED)


def find_error_code(error: PySparkException) -> str:
    """Return the code of an error of the engine, the same on Spark and on Sail.

    >>> find_error_code(PySparkException("[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with ..."))
    'unknown-column'
    """
    message = str(error)
    if isinstance(error, ParseException) or "Syntax error" in simplify_refusal(message):
        return SYNTAX_ERROR
    spark_condition = re.match(r"\[([A-Z_]+)", message)
    if spark_condition is not None:
        return CODES.get(spark_condition[1], REFUSED)
    sail_condition = find_error_condition(message)
    if sail_condition is not None:
        return CODES.get(sail_condition[0], REFUSED)
    return REFUSED


def read_parameters(error: Exception, error_text: str) -> dict[str, str]:
    """Return the parameters of the sentence of a refusal, by their names in Spark.

    Args:
        error: the error of the engine.
        error_text: its text.
    """
    condition, name = find_error_condition(error_text) or ("", "")
    if condition in PARAMETERS:
        return {PARAMETERS[condition]: quote_name(name)}
    if not hasattr(error, "getMessageParameters"):
        return {}
    return dict(error.getMessageParameters() or {})  # before Spark 4 it is a map of Java


# For each class with which PySpark refuses a query: our class of the same meaning. The first that
# fits counts, because a ParseException is an AnalysisException.
_OURS: tuple[tuple[type[PySparkException], type[MatchRecognizeError]], ...] = (
    (ParseException, MatchRecognizeParseError),
    (UnsupportedOperationException, MatchRecognizeUnsupportedError),
    (AnalysisException, MatchRecognizePlanError),
    (IllegalArgumentException, MatchRecognizePlanError),
    (ArithmeticException, MatchRecognizePlanError),
)


@cache
def _make_subclass(pyspark_class: Any) -> Any:
    """Return a subclass of a class of PySpark and of `RewrittenEngineError`, with the same name.

    For a refusal of a query it is a subclass of one of our classes too, so that both
    `except AnalysisException` and `except MatchRecognizeError` catch it.
    """
    bases: tuple[type, ...] = (RewrittenEngineError, pyspark_class)
    for theirs, ours in _OURS:
        if issubclass(pyspark_class, theirs):
            bases = (RewrittenEngineError, ours, pyspark_class)
            break
    return type(pyspark_class.__name__, bases, {"__module__": pyspark_class.__module__})


# Where the engine's text has the error.


def _split_position(text: str) -> tuple[str, tuple[int, int] | None]:
    """Split an engine's text into its sentence and a position, without stack trace and plan.

    Returns:
        The sentence, and the line, from 1, and column, from 0; None if it has no position.
    """
    sentence = _PLAN.split(_STACK.split(text.strip(), maxsplit=1)[0], maxsplit=1)[0]
    position_text = _PLACE.search(sentence)
    if position_text is None:
        return sentence, None
    numbers = [int(number) for number in position_text.groups() if number]
    position = (numbers[0], numbers[1]) if numbers else None
    return sentence[: position_text.start()], position


def _locate_context(context: Any, filled: FilledTemplate) -> Span | None:
    """Return the location of one of Spark's contexts in the user's text; None if it has none."""
    if context.contextType().name != "SQL":
        return None
    start = context.startIndex()
    end = context.stopIndex() + 1
    if _mask_names(filled.text[start:end]) != _mask_names(context.fragment()):
        return None
    return filled.locate(start, end)


def _locate_word(position: tuple[int, int], filled: FilledTemplate) -> Span | None:
    """Return the user's word at a line, from 1, and column, from 0, of the engine's text."""
    line_number, column = position
    lines_before = filled.text.split("\n")[: line_number - 1]
    start = sum(len(line) + 1 for line in lines_before) + column
    word = re.compile(r"[\w.`]+|.?").match(filled.text, start)
    return filled.locate(start, max(word.end(), start + 1)) if word else None


def _name_table_in_full(error_text: str, text: str) -> str:
    """Return an error for an unknown table with the name of the table as a text has it.

    Sail says only the last part of a name such as `db.ticks`.

    >>> _name_table_in_full("Table or view not found: ticks", "SELECT * FROM db.ticks")
    'Table or view not found: db.ticks'
    >>> _name_table_in_full("Table or view not found: ticks", "SELECT ticks.x FROM ticks")
    'Table or view not found: ticks'
    """
    condition, name = find_error_condition(error_text) or ("", "")
    if condition != "TABLE_OR_VIEW_NOT_FOUND":
        return error_text
    names = set(re.findall(rf"(?<![\w.`])(?:\w+\.)*{re.escape(name)}(?![\w.`])", text))
    return error_text.replace(f": {name}", f": {names.pop()}") if len(names) == 1 else error_text


def _locate_name(error_text: str, filled: FilledTemplate) -> Span | None:
    """Return the location of an error for which the engine gives none.

    The error names characters, a name, or a part of the query that `PLACES` knows. A name or part
    is located only if the query has it once.
    """
    characters = find_error_place(error_text, filled.text)
    if characters is not None:
        return filled.locate(*characters)
    condition, name = find_error_condition(error_text) or ("", "")
    if condition:
        pattern = re.escape(name + ".*" * (condition == STAR))
    else:
        row = find_matching_row(PLACES, error_text)
        pattern = row[0].expand(row[1]) if row else ""
    occurrences = list(re.finditer(rf"(?<![\w.`]){pattern}(?![\w`])", filled.text))
    if not pattern or len(occurrences) != 1:
        return None
    return filled.locate(*occurrences[0].span())


def _mask_names(text: str) -> str:
    """Return a text with `_` for PySpark's names, which only the engine knows."""
    return PYSPARK_NAME.sub(lambda name: "_" * len(name[0]), text)
