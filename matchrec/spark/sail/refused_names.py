"""Find the name that a refusal by Sail is about, and Spark's error condition for this refusal.

attribute ObjectName([Identifier("t"), Identifier("x")]) is missing      UNRESOLVED_COLUMN t.x
unknown function: uper                                                   UNRESOLVED_ROUTINE uper
"""

from __future__ import annotations

import re
from typing import NamedTuple

from matchrec.spark.errors.name_conditions import (
    AMBIGUOUS_COLUMN,
    PARAMETER_WITHOUT_VALUE,
    UNKNOWN_COLUMN,
    UNKNOWN_FUNCTION,
    UNKNOWN_STAR,
    UNKNOWN_TABLE,
)
from matchrec.spark.sail.message_tables import find_matching_row

# A name in a text of Sail: as a Rust value, `ObjectName([Identifier("t"), Identifier("x")])`, or
# as SQL, `t.x`.
NAME = r"(?:ObjectName\(\[(?P<parts>(?:[^\]]|\](?!\)))*)\]\)|`?(?P<name>[\w.]+(?:`\.`[\w.]+)*)`?)"

# Refusals that are about a name, by regular expressions for Sail's texts.
NAME_REFUSALS = {
    rf"attribute {NAME} is missing": UNKNOWN_COLUMN,
    rf"ambiguous attribute: {NAME}": AMBIGUOUS_COLUMN,
    rf"unknown function: {NAME}": UNKNOWN_FUNCTION,
    rf"Table or view not found: {NAME}": UNKNOWN_TABLE,
    # The table into which an INSERT writes. Spark's sentence is longer.
    rf"The table or view {NAME} cannot be found$": UNKNOWN_TABLE,
    rf"cannot resolve wildcard: {NAME}": UNKNOWN_STAR,
    rf"No value found for placeholder with name :{NAME}": PARAMETER_WITHOUT_VALUE,
    rf"Placeholder ':{NAME}' was not provided a value": PARAMETER_WITHOUT_VALUE,
    rf"parameter {NAME} has no value": PARAMETER_WITHOUT_VALUE,
}


class RefusedName(NamedTuple):
    """A name that an engine refuses."""

    # Spark's error condition, such as UNRESOLVED_COLUMN, also if Sail refuses the name.
    condition: str
    # The parts of the name, separated by points and not quoted.
    name: str
    # The same parts, which can contain points; empty if the engine does not tell them apart.
    parts: tuple[str, ...] = ()


def find_name_refused_by_sail(error_text: str) -> RefusedName | None:
    """Return the name that a refusal by Sail is about.

    Returns None if the text is not a refusal by Sail, or not about a name.

    >>> missing = 'attribute ObjectName([Identifier("A"), Identifier("x")]) is missing from'
    >>> find_name_refused_by_sail(missing)
    RefusedName(condition='UNRESOLVED_COLUMN', name='A.x', parts=('A', 'x'))
    >>> find_name_refused_by_sail("unknown function: uper")
    RefusedName(condition='UNRESOLVED_ROUTINE', name='uper', parts=())
    """
    row = find_matching_row(NAME_REFUSALS, error_text)
    if row is None:
        return None
    name_match, name_condition = row
    return RefusedName(name_condition.condition, read_name(name_match), read_parts(name_match))


def read_name(name_match: re.Match[str]) -> str:
    """Return the name in a match of `NAME`, its parts separated by points."""
    return ".".join(read_parts(name_match)) or name_match["name"].replace("`", "")


def read_parts(name_match: re.Match[str]) -> tuple[str, ...]:
    """Return the parts of the name in a match of `NAME`; empty if the name is SQL."""
    return tuple(re.findall(r'Identifier\("([^"]*)"\)', name_match["parts"] or ""))
