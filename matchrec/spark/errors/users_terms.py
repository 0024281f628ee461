"""Spark's refusal of a query → the same error, short and in terms of the text the user wrote.

    [UNRESOLVED_COLUMN...] ... SQLSTATE: 42703; line 1 pos 7;      [UNRESOLVED_COLUMN...] ... 42703
    'Project ['low]                                            →     line 1, column 8
    +- SubqueryAlias _pyspark_2717...                                    SELECT low FROM t MATCH...
       +- (a page of plan)                                                      ^^^

Spark is given the user's text with names in its holes, so a place in it is found again by what
each name is longer than its hole.
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
from matchrec.errors.sql.around import FIND_THE_PART, cure_of_refusal
from matchrec.errors.sql.expression import cure_of_unknown_function
from matchrec.errors.sql.foreign_names import cure_of, cure_of_syntax, cure_of_table
from matchrec.errors.sql.refusals import cure_of_literal, cure_of_type_name, cure_of_typed_literal
from matchrec.errors.sql.ungrouped import find_ungrouped_column
from matchrec.plan.text import PREFIX, Replacement, Template, View, quoted
from matchrec.source import Source, Span
from matchrec.spark.sail.words import (
    STAR,
    condition_of,
    cure_of_word,
    place_of,
    row_of,
    sentence_of,
    split_help,
)

# The names that PySpark gives to views of its own, and the length of those over Spark Connect.
PYSPARK_NAME = re.compile(r"_pyspark_(?:connect_temp_view_)?[0-9a-f]{32}")
PYSPARK_LENGTH = len("_pyspark_connect_temp_view_") + 32

CLAUSE = "match_recognize"

# For what an engine says without a place: a regular expression for the part of the query. The part
# is shown if there is only one.
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

Tables = Callable[[], Iterable[str]]
Functions = Callable[[], Iterable[str]]

_MARKER = re.compile(rf":{PREFIX}\d+")
_SUGGESTIONS = re.compile(r" Did you mean one of the following\? \[(?P<names>[^]]*)\]\.")
_STACK = re.compile(r"\n+JVM stacktrace:\n|\n+== SQL\b")
_PLAN = re.compile(r";\n(?=[!'A-Z])")
_PLACE = re.compile(r"(?:; line (\d+) pos (\d+)|\s*\(line (\d+), pos (\d+)\))?;?$")


def fill(piece: str | View | Replacement, names: Mapping[str, str]) -> str | View:
    """A piece of a template as Spark reads it; a hole without a name is left."""
    if isinstance(piece, Replacement):
        return piece.text
    if isinstance(piece, View) and piece.name in names:
        return names[piece.name].ljust(piece.width)
    return piece


@dataclass(frozen=True)
class Filled:
    """A template as Spark reads it. names: of views in its holes; PySpark fills other holes."""

    template: Template
    names: Mapping[str, str]
    source: Source

    @property
    def text(self) -> str:
        """What Spark reads; a name of PySpark's is as long as here, and another one."""
        return "".join(map(self._filled, self.template))

    def _filled(self, piece: str | View | Replacement) -> str:
        found = fill(piece, self.names)
        return found if isinstance(found, str) else ("_" * PYSPARK_LENGTH).ljust(found.width)

    def written(self, start: int, end: int) -> Span | None:
        """The user's characters for those at `start` up to `end` of what Spark reads."""
        span = Span(self._place(start), self._place(end))
        return span if span.start < span.end <= len(self.source.text) else None

    def _place(self, offset: int) -> int:
        position = moved = 0
        for piece in self.template:
            start, position = position, position + len(self._filled(piece))
            if position > offset:
                if isinstance(piece, Replacement):
                    return start - moved + min(offset - start, piece.width)
                break
            if not isinstance(piece, str):
                moved += len(self._filled(piece)) - piece.width
        return offset - moved

    def shown(self, text: str) -> str:
        """Text of Spark's with what the user calls each view, and `?` for its name."""
        text = _SUGGESTIONS.sub(_without_hidden, _MARKER.sub("?", text))
        for hole, name in self.names.items():
            text = text.replace(name, self._called(hole))
        holes = {piece.name for piece in self.template if isinstance(piece, View)}
        called = self._called(*holes) if len(holes) == 1 else CLAUSE
        return PYSPARK_NAME.sub(called, text)

    @property
    def has_clause(self) -> bool:
        """Return whether the text is the query around a clause."""
        views = (piece.name for piece in self.template if isinstance(piece, View))
        return any(name.startswith(CLAUSE) for name in views)

    def _called(self, hole: str) -> str:
        return CLAUSE if hole.startswith(CLAUSE) else f"{{{hole}}}"


def _without_hidden(suggestions: re.Match[str]) -> str:
    """Return Spark's suggestions of columns without the names that only matchrec knows."""
    names = [name for name in suggestions["names"].split(", ") if f"`{PREFIX}" not in name]
    return suggestions[0].replace(suggestions["names"], ", ".join(names)) if names else ""


class InUsersTerms(Located):
    """An error of Spark in the user's terms: its message, its place and what to write instead."""

    _parameters: dict[str, str]

    def add_cure(self, cure: str, note: str | None = None) -> None:
        """Add what to write instead, after what is there already, and a fact that explains it."""
        if note is not None:
            self.notes = (*self.notes, note)
        self.hint = cure if self.hint is None else f"{self.hint}\n{cure}"

    getMessage = Located.__str__  # noqa: N815 -- PySpark's name

    def getMessageParameters(self) -> dict[str, str]:  # noqa: N802 -- PySpark's name
        return self._parameters

    def getQueryContext(self) -> list[Any]:  # noqa: N802 -- PySpark's name
        """None: the places are those of another text."""
        return []


def in_users_terms(
    error: PySparkException, filled: Filled, tables: Tables, functions: Functions
) -> PySparkException:
    """Return the error, of its class, in terms of the user's text and without the plan.

    Args:
        error: the error of the engine; one that is in the user's terms already is returned.
        filled: the text that the engine has read.
        tables: returns the names of the tables that there are.
        functions: returns the names of the functions that there are.
    """
    if isinstance(error, InUsersTerms):
        return error  # as of a value that an INSERT has not computed
    sentence, place = _parted(sentence_of(str(error)))
    sentence, cure = split_help(sentence)
    contexts = error.getQueryContext() if hasattr(error, "getQueryContext") else []
    if contexts:
        spans = [_placed(context, filled) for context in contexts]
    else:
        span = _named(str(error), filled) if place is None else _word_at(place, filled)
        spans = [span]
        if span and "Syntax error" in sentence:
            before = filled.source.text[: span.end]
            cure = (
                cure_of_syntax(before)
                or cure_of_word(str(error))
                or cure_of_type_name(before)
                or cure_of_literal(filled.source.at(span))
                or cure
            )
    if (ungrouped := find_ungrouped_column(str(error), filled.text)) is not None:
        spans = [filled.written(ungrouped.start, ungrouped.end)]
        sentence, cure = ungrouped.sentence, ungrouped.hint
    shown = [span for span in spans if span is not None][:1]
    parameters = parameters_of(error)
    short = reworded(error, filled.shown(sentence))
    short.spans = tuple(filled.source.written(span)[1] for span in shown)
    short.source = filled.source.author
    short._parameters = {name: filled.shown(str(value)) for name, value in parameters.items()}
    short.code = code_of(error)
    if cure is not None:
        short.add_cure(cure)
    short = cured(short, parameters, lambda: set(tables()).difference(filled.names.values()))
    if short.hint is None and (cure := find_cure(short, str(error), filled, functions)):
        short.add_cure(cure)
    refusal: PySparkException = short
    return refusal


def find_cure(refusal: Any, said: str, filled: Filled, functions: Functions) -> str | None:
    """Return what to write for a refusal that nothing else has a help for.

    None for an unknown column: the caller knows the columns of the clauses.
    """
    cure = cure_of_refusal(said, refusal.message)
    if refusal.code == CODES["UNRESOLVED_ROUTINE"] and cure is None:
        name = (refusal._parameters.get("routineName") or "").replace("`", "")
        return cure_of_unknown_function(name, functions()) if name else None
    if cure is None and refusal.code in OTHER_CODES and filled.has_clause and not refusal.spans:
        return FIND_THE_PART
    return cure


def in_plain_words(error: PySparkException, tables: Tables) -> PySparkException:
    """The error, of its class, where it is about no text of the user; see `in_users_terms`."""
    if isinstance(error, InUsersTerms):
        return error
    sentence, cure = split_help(_parted(sentence_of(str(error)))[0])
    short, parameters = reworded(error, sentence), parameters_of(error)
    short._parameters = parameters
    short.code = code_of(error)
    if cure is not None:
        short.add_cure(cure)
    short = cured(short, parameters, tables)
    if short.hint is None and (cure := cure_of_refusal(str(error), sentence)):
        short.add_cure(cure)
    refusal: PySparkException = short
    return refusal


def cured(short: Any, parameters: Mapping[str, str], tables: Tables) -> Any:
    """The error with what to write, as far as that is known."""
    table = parameters.get("relationName", "")
    cure = (
        cure_of_table(table, tables() if table else ())
        or cure_of_typed_literal(parameters.get("unsupportedType", ""))
        or cure_of(parameters.get("routineName", "").strip("`"))
    )
    if cure is not None:
        short.add_cure(cure)
    return short


def reworded(error: PySparkException, message: str) -> Any:
    """The error, of its class, that says something else."""
    kind: Any = type(error)
    found: Any = kind.__new__(_kind(kind))
    found.__dict__.update(error.__dict__)
    Located.__init__(found, message)
    found._parameters = {}
    return found


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
REFUSED = "refused-by-engine"
OTHER_CODES = (SYNTAX_ERROR, REFUSED)


def code_of(error: PySparkException) -> str:
    """Return the code of an error of the engine, the same on Spark and on Sail.

    >>> code_of(PySparkException("[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with name `x` ..."))
    'unknown-column'
    """
    message = str(error)
    if isinstance(error, ParseException) or "Syntax error" in sentence_of(message):
        return SYNTAX_ERROR
    if spark_condition := re.match(r"\[([A-Z_]+)", message):
        return CODES.get(spark_condition[1], REFUSED)
    if sail_condition := condition_of(message):
        return CODES.get(sail_condition[0], REFUSED)
    return REFUSED


def parameters_of(error: Exception) -> dict[str, str]:
    """What the sentence of a refusal was made with, by the names that Spark has for it."""
    given = error.getMessageParameters() if hasattr(error, "getMessageParameters") else None
    if (found := condition_of(str(error))) and found[0] in PARAMETERS:
        return {PARAMETERS[found[0]]: quoted(found[1])}
    return dict(given or {})  # before Spark 4 a map of Java's


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
def _kind(kind: Any) -> Any:
    """Return a subclass of one of PySpark's classes, with the same name.

    For a refusal of a query it is a subclass of one of our classes too, so that both
    `except AnalysisException` and `except MatchRecognizeError` catch it.
    """
    bases: tuple[type, ...] = (InUsersTerms, kind)
    for theirs, ours in _OURS:
        if issubclass(kind, theirs):
            bases = (InUsersTerms, ours, kind)
            break
    return type(kind.__name__, bases, {"__module__": kind.__module__})


def _parted(text: str) -> tuple[str, tuple[int, int] | None]:
    """Spark's sentence, without stack, plan and place; and the line, from 1, and column, from 0."""
    sentence = _PLAN.split(_STACK.split(text.strip(), maxsplit=1)[0], maxsplit=1)[0]
    if (place := _PLACE.search(sentence)) is None:
        return sentence, None
    numbers = [int(number) for number in place.groups() if number]
    return sentence[: place.start()], (numbers[0], numbers[1]) if numbers else None


def _placed(context: Any, filled: Filled) -> Span | None:
    """Where the user wrote what Spark's context is about; None where that is in no text of ours."""
    if context.contextType().name != "SQL":
        return None
    start, end = context.startIndex(), context.stopIndex() + 1
    if _masked(filled.text[start:end]) != _masked(context.fragment()):
        return None
    return filled.written(start, end)


def _word_at(place: tuple[int, int], filled: Filled) -> Span | None:
    """The user's word at a line and column of what Spark reads."""
    line, column = place
    text = filled.text
    start = sum(len(one) + 1 for one in text.split("\n")[: line - 1]) + column
    word = re.compile(r"[\w.`]+|.?").match(text, start)
    return filled.written(start, max(word.end(), start + 1)) if word else None


def _named(said: str, filled: Filled) -> Span | None:
    """What a refusal is about: the characters that it tells, or a name that is written once."""
    place, found = place_of(said, filled.text), condition_of(said)
    if place is not None:
        return filled.written(*place)
    name = re.escape(found[1] + ".*" * (found[0] == STAR)) if found else ""
    if found is None:
        row = row_of(PLACES, said)
        name = row[0].expand(row[1]) if row else ""
    places = list(re.finditer(rf"(?<![\w.`]){name}(?![\w`])", filled.text))
    return filled.written(*places[0].span()) if name and len(places) == 1 else None


def _masked(text: str) -> str:
    """The text without the letters of PySpark's names, which Spark alone knows."""
    return PYSPARK_NAME.sub(lambda name: "_" * len(name[0]), text)
