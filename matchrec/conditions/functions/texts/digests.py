"""Digests and hexadecimal digits of texts."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping

from matchrec.conditions.functions.function import Function, Use, Value, function
from matchrec.conditions.types import BIGINT, STRING, Family, ValueType

TEXT = Family.STRING
LENGTHS = {
    0: hashlib.sha256,
    224: hashlib.sha224,
    256: hashlib.sha256,
    384: hashlib.sha384,
    512: hashlib.sha512,
}


def md5(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def sha1(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def sha2(text: str, bits: int) -> str | None:
    """NULL where there is none of so many bits."""
    return LENGTHS[bits](text.encode()).hexdigest() if bits in LENGTHS else None


def hexadecimal_type(use: Use) -> ValueType | None:
    return STRING if use.types[0].family in (Family.STRING, Family.INTEGER) else None


def hexadecimal(value: Value) -> str:
    """The bytes of a text, or the 64 bits of a number without the zeros before them."""
    if isinstance(value, str):
        return value.encode().hex().upper()
    return f"{value % (1 << 64):X}"


SHA1 = function((TEXT,), STRING, sha1)

DIGESTS: Mapping[str, Function] = {
    "MD5": function((TEXT,), STRING, md5),
    "SHA": SHA1,
    "SHA1": SHA1,
    "SHA2": function((TEXT, Family.INTEGER), STRING, sha2),
    "CRC32": function((TEXT,), BIGINT, lambda text: zlib.crc32(text.encode())),
    "HEX": function((None,), hexadecimal_type, hexadecimal),
}
