"""What a session or a product decides about how a text is read."""

from __future__ import annotations

from enum import Enum

from matchrec.dataclass import dataclass


class DoubleQuotes(Enum):
    """What stands between double quotes."""

    STRING = "a string, as in Spark's default"
    NAME = "a name, as in the standard"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How texts are read; passed to whatever makes tokens of one."""

    double_quotes: DoubleQuotes = DoubleQuotes.STRING


SPARK = Dialect()
"""Spark's default."""
