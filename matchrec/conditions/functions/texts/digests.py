"""Digests of texts, and their bytes in other letters."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Mapping

from matchrec.conditions.functions.function import Function, UndecidedError, Use, Value, function
from matchrec.conditions.functions.type_names import BINARY
from matchrec.conditions.types import BIGINT, STRING, Family, ValueType

TEXT = Family.STRING
HEXADECIMAL = set("0123456789abcdefABCDEF")
MOST_IN_A_LINE = 57
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


def bytes_of(text: str) -> bytes | None:
    """The bytes of hexadecimal digits, of which a first 0 may be missing."""
    if set(text) - HEXADECIMAL:
        return None
    return bytes.fromhex("0" * (len(text) % 2) + text)


def in_base64(text: str) -> str:
    """Of what fills one line; whether there are several depends on Spark's version."""
    content = text.encode()
    if len(content) > MOST_IN_A_LINE:
        raise UndecidedError(f"where lines of {len(content)} bytes in base64 end is not known")
    return base64.b64encode(content).decode()


SHA1 = function((TEXT,), STRING, sha1)

DIGESTS: Mapping[str, Function] = {
    "MD5": function((TEXT,), STRING, md5),
    "SHA": SHA1,
    "SHA1": SHA1,
    "SHA2": function((TEXT, Family.INTEGER), STRING, sha2),
    "CRC32": function((TEXT,), BIGINT, lambda text: zlib.crc32(text.encode())),
    "BASE64": function((TEXT,), STRING, in_base64),
    "UNHEX": function((TEXT,), BINARY, bytes_of),
    "HEX": function((None,), hexadecimal_type, hexadecimal),
}
