"""Find the location of an engine's error in the user's text.

The engine gives a position in the text that it has read, a context of Spark (a range of this text),
or only a name. `FilledTemplate` maps positions in the engine's text to the user's text.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from matchrec.source import Span
from matchrec.spark.errors.filled_template import FilledTemplate, mask_names
from matchrec.spark.errors.name_conditions import UNKNOWN_STAR, UNKNOWN_TABLE
from matchrec.spark.sail.message_tables import find_matching_row
from matchrec.spark.sail.refusals import find_syntax_error_span
from matchrec.spark.sail.refused_names import find_name_refused_by_sail

# For errors that the engine reports without a position. The key is a regular expression for the
# engine's sentence. The value is a regular expression for the part of the query that the sentence
# is about, in which `\g<name>` stands for a group of the key. The part is located if it occurs once
# in the query.
PATTERNS_OF_PARTS = {
    r"InSubquery": r"(?i:IN\s*\(\s*SELECT)",
    r"(?P<word>LIMIT|OFFSET) must be >=.*'-(?P<number>\d+)'": r"(?i:\g<word>)\s+-\s*\g<number>",
    r"The (?P<word>limit|offset) expression must be .*-(?P<number>\d+)\.": (
        r"(?i:\g<word>)\s+-\s*\g<number>"
    ),
    r"Expected (?P<word>LIMIT|OFFSET) to be": r"(?i:\g<word>)\s+\S+",
    r"(?:unknown table function: |VALUED_FUNCTION\] Could not resolve `)(?P<name>\w+)": r"\g<name>",
    r"^(?:invalid argument: )?found (?P<word>[^\s']+) at \d": (
        r"(?i:DATE|TIMESTAMP\w*|TIME|X|INTERVAL)\s*'\g<word>[^']*'"
    ),
    r"Cannot cast string '(?P<text>[^']*)' to value of": r"'\g<text>'",
    r"Cannot coerce arithmetic expression .+? (?P<operator>[-+*/%]) ": (
        r"[\w.`]+\s*\g<operator>\s*[\w.`]+"
    ),
    r"near end of input|found end of input": r"\S+(?=\s*$)",
}

# A reference to a group of the sentence, in a value of `PATTERNS_OF_PARTS`.
GROUP_REFERENCE = re.compile(r"\\g<(?P<name>\w+)>")

# What follows the engine's sentence: a stack trace or the query text; the plan; line and column.
TRACE_OR_QUERY = re.compile(r"\n+JVM stacktrace:\n|\n+== SQL\b")
PLAN = re.compile(r";\n(?=[!'A-Z])")
LINE_AND_COLUMN = re.compile(r"(?:; line (\d+) pos (\d+)|\s*\(line (\d+), pos (\d+)\))?;?$")

# A word of a query, perhaps qualified, or another character; empty at the end of a line.
WORD = re.compile(r"[\w.`]+|.?")


class TextPosition(NamedTuple):
    """A position in the engine's text, as the engine counts."""

    line: int  # from 1
    column: int  # from 0


def split_position(error_text: str) -> tuple[str, TextPosition | None]:
    """Split the engine's message into its sentence and its position, without stack trace and plan.

    >>> split_position("Column `low` cannot be resolved.; line 1 pos 7;\\n'Project ['low]")
    ('Column `low` cannot be resolved.', TextPosition(line=1, column=7))

    Returns:
        The sentence, and the position; None instead of a position if the message has none.
    """
    text_before_trace = TRACE_OR_QUERY.split(error_text.strip(), maxsplit=1)[0]
    sentence = PLAN.split(text_before_trace, maxsplit=1)[0]
    position_text = LINE_AND_COLUMN.search(sentence)
    if position_text is None:
        return sentence, None
    numbers = [int(number) for number in position_text.groups() if number]
    position = TextPosition(*numbers) if numbers else None
    return sentence[: position_text.start()], position


def locate_context(context: Any, filled: FilledTemplate) -> Span | None:
    """Return the location of a context of Spark in the user's text.

    Returns None if the context is not in the text of the query, but in a view or a Python call.

    Args:
        context: the context, a `pyspark.errors.QueryContext`.
        filled: the text that the engine has read.
    """
    if context.contextType().name != "SQL":
        return None
    start = context.startIndex()
    end = context.stopIndex() + 1
    if mask_names(filled.text[start:end]) != mask_names(context.fragment()):
        return None
    return filled.locate(start, end)


def locate_word(position: TextPosition, filled: FilledTemplate) -> Span | None:
    """Return the location in the user's text of the word at a position of the engine's text.

    Returns None if the word is not in the user's text.
    """
    lines_before = filled.text.split("\n")[: position.line - 1]
    start = sum(len(line) + 1 for line in lines_before) + position.column
    word = WORD.match(filled.text, start)
    assert word is not None, "WORD also matches an empty text"
    return filled.locate(start, max(word.end(), start + 1))


def locate_name(error_text: str, filled: FilledTemplate) -> Span | None:
    """Return the location of an error for which the engine gives no position.

    The location is the range of characters that a syntax error of Sail has in its sentence, the
    name that the error is about, or the part of the query in `PATTERNS_OF_PARTS`. A name or a part
    is located only if it occurs once in the query. Otherwise the result is None.

    Args:
        error_text: the engine's message.
        filled: the text that the engine has read.
    """
    syntax_error = find_syntax_error_span(error_text, filled.text)
    if syntax_error is not None:
        return filled.locate(syntax_error.start, syntax_error.end)
    pattern = find_part_pattern(error_text)
    if pattern is None:
        return None
    occurrences = list(re.finditer(rf"(?<![\w.`]){pattern}(?![\w`])", filled.text))
    if len(occurrences) > 1 and is_about_table(error_text):
        # A table's name can also qualify columns, as in `JOIN prices ON prices.sym = t.sym`.
        in_from = re.compile(rf"(?i:\b(?:FROM|JOIN)\s+|,\s*)(?P<name>{pattern})(?![\w`.])")
        occurrences = list(in_from.finditer(filled.text))
        if len(occurrences) == 1:
            return filled.locate(*occurrences[0].span("name"))
    if len(occurrences) != 1:
        return None
    return filled.locate(*occurrences[0].span())


def is_about_table(error_text: str) -> bool:
    """Return whether an error is about a table that does not exist."""
    refused_name = find_name_refused_by_sail(error_text)
    return refused_name is not None and refused_name.condition == UNKNOWN_TABLE.condition


def find_part_pattern(error_text: str) -> str | None:
    """Return a regular expression for the part of the query that an error is about.

    Returns None if the error is not about a name, and has no sentence in `PATTERNS_OF_PARTS`.

    >>> find_part_pattern("Cannot cast string 'x' to value of type Int32")
    "'x'"
    """
    refused_name = find_name_refused_by_sail(error_text)
    if refused_name is not None:
        star = ".*" if refused_name.condition == UNKNOWN_STAR.condition else ""
        return re.escape(refused_name.name + star)
    row = find_matching_row(PATTERNS_OF_PARTS, error_text)
    if row is None:
        return None
    sentence, part_pattern = row
    return GROUP_REFERENCE.sub(lambda group: re.escape(sentence[group["name"]]), part_pattern)
