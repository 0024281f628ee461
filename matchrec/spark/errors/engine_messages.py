"""Divide the message of an engine's refusal of a query into its parts, and find its code.

    [UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, ... SQLSTATE: 42703; line 1 pos 7; ...

has the condition `UNRESOLVED_COLUMN`, a sentence, and a position. A sentence about a name is
replaced by the same plain sentence on Spark and on Sail: see `name_conditions`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.errors import ParseException, PySparkException

from matchrec.plan.text import quote_name, split_qualified_name
from matchrec.spark.errors.error_locations import TextPosition, split_position
from matchrec.spark.errors.name_conditions import NAME_CONDITIONS, TABLE_PARAMETER, UNKNOWN_TABLE
from matchrec.spark.sail.refusals import UNKNOWN_INSERT_TABLE, simplify_refusal
from matchrec.spark.sail.refused_names import find_name_refused_by_sail

# The codes of refusals that are not about a name.
SYNTAX_ERROR = "syntax-error"
REJECTED_BY_ENGINE = "rejected-by-engine"
OTHER_CODES = (SYNTAX_ERROR, REJECTED_BY_ENGINE)

# The table into which an INSERT writes, as a query names it.
INSERT_TARGET = re.compile(
    r"\bINSERT\s+(?:INTO|OVERWRITE)\s+(?:TABLE\s+)?((?:`[^`]+`|\w+)(?:\.(?:`[^`]+`|\w+))*)",
    re.IGNORECASE,
)


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
    refusal = simplify_refusal(text)
    sentence, position = split_position(refusal.sentence)
    parameters = read_parameters(error, text)
    sentence = find_sentence_about_name(text, parameters) or sentence
    is_about_target = UNKNOWN_INSERT_TABLE.match(text) is not None
    target = INSERT_TARGET.search(query_text)
    if target is not None:
        table = parameters.get(TABLE_PARAMETER, "").replace("`", "")
        is_about_target = target[1].replace("`", "") == table
    return EngineMessage(text, sentence, position, refusal.advice, parameters, is_about_target)


def find_sentence_about_name(error_text: str, parameters: Mapping[str, str]) -> str | None:
    """Return the sentence for one of Spark's errors about a name; None for other errors.

    >>> text = "[TABLE_OR_VIEW_NOT_FOUND] The table or view `db`.`t` cannot be found. Verify ..."
    >>> find_sentence_about_name(text, {"relationName": "`db`.`t`"})
    'unknown table or view `db.t`'

    Args:
        error_text: the message of the engine.
        parameters: the parameters of the message.
    """
    name_condition = NAME_CONDITIONS.get(find_condition(error_text) or "")
    if name_condition is None or name_condition.parameter is None:
        return None
    name = parameters.get(name_condition.parameter)
    if not name:
        return None
    return name_condition.sentence.format(name=f"`{'.'.join(split_qualified_name(name))}`")


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
    parameter = None
    if refused_name is not None:
        parameter = NAME_CONDITIONS[refused_name.condition].parameter
    if refused_name is not None and parameter is not None:
        parts = refused_name.parts or (refused_name.name,)
        return {parameter: ".".join(quote_name(part) for part in parts)}
    if not hasattr(error, "getMessageParameters"):
        return {}
    return dict(error.getMessageParameters() or {})  # before Spark 4 it is a map of Java


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
    if refused_name is None or refused_name.condition != UNKNOWN_TABLE.condition:
        return error_text
    last_part = refused_name.name
    full_names = re.findall(rf"(?<![\w.`])(?:\w+\.)*{re.escape(last_part)}(?![\w.`])", query_text)
    if len(set(full_names)) != 1:
        return error_text
    return error_text.replace(f": {last_part}", f": {full_names[0]}")


def find_error_code(error: PySparkException) -> str:
    """Return the code of an error of the engine, the same on Spark and on Sail.

    >>> find_error_code(PySparkException("[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column with ..."))
    'unknown-column'
    """
    message = str(error)
    if isinstance(error, ParseException) or "Syntax error" in simplify_refusal(message).sentence:
        return SYNTAX_ERROR
    condition = find_condition(message)
    if condition is None:
        refused_name = find_name_refused_by_sail(message)
        condition = None if refused_name is None else refused_name.condition
    name_condition = NAME_CONDITIONS.get(condition or "")
    code = None if name_condition is None else name_condition.code
    return code or REJECTED_BY_ENGINE
