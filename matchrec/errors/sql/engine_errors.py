"""The error for an expression that an engine rejects.

`engine_explanations` says the engine's sentence in better words, and `engine_hints` what to write.
In the arguments, `sentence` is the main sentence of an engine's error, without its location and the
name of its condition.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from matchrec.errors.kinds import MatchRecognizePlanError
from matchrec.errors.language import name_part
from matchrec.errors.sql.engine_explanations import explain_engine_error
from matchrec.errors.sql.engine_hints import find_type_mismatch_hint
from matchrec.errors.sql.look_alikes import find_look_alike_hint
from matchrec.errors.sql.type_mismatches import name_types_as_spark
from matchrec.errors.wording import write_name
from matchrec.source import Span


def rejected_by_engine(
    engine: str, clause: str, sentence: str, span: Span | None, hint: str | None = None
) -> MatchRecognizePlanError:
    """Return the error for an expression that the engine's analyzer refuses.

    Args:
        engine: Spark or Sail.
        clause: the clause of the expression, such as DEFINE.
        sentence: the engine's sentence. The error has a better sentence if `explain_engine_error`
            returns one.
        span: the expression in the text of the query.
        hint: what to write instead, if the names in the expression show this; otherwise None.
    """
    hint = find_look_alike_hint(sentence) or hint or find_type_mismatch_hint(sentence)
    explanation = explain_engine_error(sentence)
    if explanation is not None:
        sentence = explanation.sentence
        hint = hint or explanation.hint
    sentence = reword_extraction(name_types_as_spark(sentence))
    return MatchRecognizePlanError(
        f"{engine} rejects an expression in {name_part(clause)}: {sentence}",
        span,
        hint=hint,
        code="rejected-by-engine",
    )


# `price[0]` or `price.x` for a plain value, in words of Sail and of Spark.
_EXTRACTION = re.compile(
    r"cannot extract value from data type: (?P<sail_type>\S+)"
    r"|Can't extract a value from .* but got \"(?P<spark_type>[^\"]+)\"",
    re.DOTALL,
)


def reword_extraction(sentence: str) -> str:
    """Return an engine's sentence, in better words if it is about `[...]` or `.x` of a plain value.

    >>> reword_extraction("cannot extract value from data type: int")
    'a value of type INT has no elements or fields'
    """
    extraction = _EXTRACTION.search(sentence)
    if extraction is None:
        return sentence
    type_name = (extraction["sail_type"] or extraction["spark_type"]).upper()
    return f"a value of type {type_name} has no elements or fields"


# A string where another type is needed, in words of Sail.
_TEXT_AS_VALUE = re.compile(r"Cannot cast string '(.*)' to value of")


def find_quoted_column_hint(sentence: str, columns: Collection[str]) -> str | None:
    """Return the hint for a column in quotes, which makes it a string.

    Returns None if the error has another cause.

    Args:
        sentence: the engine's sentence.
        columns: the columns of the input.

    >>> find_quoted_column_hint("Cannot cast string 'temp' to value of Int32 type", ["id", "temp"])
    'quotes make it a string: write temp for the column'
    """
    match = _TEXT_AS_VALUE.search(sentence)
    if match is None:
        return None
    column = match[1]
    if column.lower() not in {name.lower() for name in columns}:
        return None
    return f"quotes make it a string: write {write_name(column)} for the column"
