"""The error for an expression that an engine rejects.

`engine_explanations` says the engine's sentence in better words, and `engine_hints` what to write.
In the arguments, `sentence` is the main sentence of an engine's error, without its location and the
name of its condition.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from matchrec.errors.kinds import MatchRecognizePlanError
from matchrec.errors.language import name_part
from matchrec.errors.sql.engine_explanations import explain_engine_error
from matchrec.errors.sql.engine_hints import find_type_mismatch_hint
from matchrec.errors.sql.look_alikes import find_look_alike_hint
from matchrec.errors.sql.type_kinds import TypeKind, classify_type
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
    sentence = reword_refusal(sentence)
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


# A string where another type is needed, in words of Sail.
_TEXT_AS_VALUE = re.compile(
    r"Cannot cast string (?P<text>'(?P<name>.*)') to value of (?P<type>\S+) type", re.DOTALL
)
# Arithmetic with values of wrong types, in words of Sail.
_ARITHMETIC = re.compile(
    r"Cannot coerce arithmetic expression (?P<left>.+?) (?P<operator>[-+*/%]) (?P<right>.+?) to "
    r"valid types"
)


def reword_refusal(sentence: str) -> str:
    """Return an engine's sentence with Spark's names of types, in better words if we have some.

    >>> reword_refusal("cannot extract value from data type: int")
    'a value of type INT has no elements or fields'
    >>> reword_refusal("Cannot cast string '5 EUR' to value of Float64 type")
    "'5 EUR' cannot be cast to DOUBLE"
    >>> reword_refusal("Cannot coerce arithmetic expression Int32 + Utf8 to valid types")
    '`+` cannot combine int and string'
    """
    sentence = name_types_as_spark(sentence)
    extraction = _EXTRACTION.search(sentence)
    if extraction is not None:
        type_name = (extraction["sail_type"] or extraction["spark_type"]).upper()
        return f"a value of type {type_name} has no elements or fields"
    value = _TEXT_AS_VALUE.search(sentence)
    if value is not None:
        return f"{value['text']} cannot be cast to {value['type'].upper()}"
    arithmetic = _ARITHMETIC.search(sentence)
    if arithmetic is not None:
        operator, left, right = arithmetic.group("operator", "left", "right")
        return f"`{operator}` cannot combine {left} and {right}"
    return sentence


# An ambiguous column, in words of Spark.
_AMBIGUOUS_COLUMN = re.compile(
    r"Reference (?P<column>.+?) is ambiguous, could be: \[(?P<candidates>.+?)\]\.", re.DOTALL
)


class AmbiguousColumn(NamedTuple):
    """A column that several tables in FROM have, and the names that the user can mean."""

    sentence: str
    # The full names, in the order of FROM. Those of a table without a name are left out.
    full_names: tuple[str, ...]


def read_ambiguous_column(sentence: str, unnamed_table: str) -> AmbiguousColumn | None:
    """Return the ambiguous column of Spark's sentence; None for other sentences.

    Args:
        sentence: Spark's sentence, with the user's names.
        unnamed_table: the name that the sentence has for a clause without an alias.

    >>> sentence = "Reference `sym` is ambiguous, could be: [`m`.`sym`, `prices`.`sym`]."
    >>> read_ambiguous_column(sentence, "match_recognize")
    AmbiguousColumn(sentence='column `sym` is ambiguous', full_names=('m.sym', 'prices.sym'))
    """
    match = _AMBIGUOUS_COLUMN.search(sentence)
    if match is None:
        return None
    full_names = []
    for candidate in match["candidates"].split(", "):
        parts = re.findall(r"`((?:[^`]|``)+)`", candidate)
        if len(parts) > 1 and parts[-2] != unnamed_table:
            full_names.append(".".join(write_name(part) for part in parts[-2:]))
    return AmbiguousColumn(f"column {match['column']} is ambiguous", tuple(full_names))


def advise_on_string_operand(sentence: str, written: str) -> str | None:
    """Return the hint for arithmetic with a number and a string; None for other refusals.

    Args:
        sentence: the engine's sentence.
        written: the operation in the text of the query, with plain operands.

    >>> sentence = "Cannot coerce arithmetic expression Int32 + Utf8 to valid types"
    >>> advise_on_string_operand(sentence, "day + sym")
    'write day + CAST(sym AS DOUBLE)'
    """
    arithmetic = _ARITHMETIC.search(name_types_as_spark(sentence))
    if arithmetic is None:
        return None
    operator = arithmetic["operator"]
    operands = [operand.strip() for operand in written.split(operator)]
    kinds = [classify_type(arithmetic[side]) for side in ("left", "right")]
    if len(operands) != len(kinds) or set(kinds) != {TypeKind.NUMBER, TypeKind.STRING}:
        return None
    string_index = kinds.index(TypeKind.STRING)
    operands[string_index] = f"CAST({operands[string_index]} AS DOUBLE)"
    return f"write {f' {operator} '.join(operands)}"


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
    column = match["name"]
    if column.lower() not in {name.lower() for name in columns}:
        return None
    return f"quotes make it a string: write {write_name(column)} for the column"
