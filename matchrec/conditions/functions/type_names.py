"""The types that a CAST names, as far as Python has their values."""

from __future__ import annotations

import re

from matchrec.conditions.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    Family,
    ValueType,
    decimal,
)

SMALLINT = ValueType(Family.INTEGER, "smallint", 16)
TINYINT = ValueType(Family.INTEGER, "tinyint", 8)
TIMESTAMP = ValueType(Family.TIMESTAMP, "timestamp")
TIMESTAMP_NTZ = ValueType(Family.TIMESTAMP_NTZ, "timestamp_ntz")
BINARY = ValueType(Family.BINARY, "binary")

NAMES = {
    "BOOLEAN": BOOLEAN,
    "TINYINT": TINYINT,
    "BYTE": TINYINT,
    "SMALLINT": SMALLINT,
    "SHORT": SMALLINT,
    "INT": INT,
    "INTEGER": INT,
    "BIGINT": BIGINT,
    "LONG": BIGINT,
    "FLOAT": FLOAT,
    "REAL": FLOAT,
    "DOUBLE": DOUBLE,
    "STRING": STRING,
    "BINARY": BINARY,
    "DATE": DATE,
    "TIMESTAMP": TIMESTAMP,
    "TIMESTAMP_LTZ": TIMESTAMP,
    "TIMESTAMP_NTZ": TIMESTAMP_NTZ,
}
DECIMAL = re.compile(r"(?:DECIMAL|DEC|NUMERIC)(?:\((\d+)(?:,(-?\d+))?\))?")


def type_named(name: str) -> ValueType | None:
    """The type, or None where Python does not have its values.

    >>> type_named("DEC(5,2)").name, type_named("MAP<INT,INT>")
    ('decimal(5,2)', None)
    """
    found = DECIMAL.fullmatch(name)
    if found is None:
        return NAMES.get(name)
    precision, scale = int(found[1] or 10), int(found[2] or 0)
    return decimal(precision, scale) if 0 <= scale <= precision <= 38 else None
