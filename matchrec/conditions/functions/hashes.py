"""HASH and XXHASH64 of values of any type but maps, by which Spark distributes rows.

Source: Murmur3 x86 32 and xxHash 64 as Spark's `Murmur3_x86_32` and `XXH64` have them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from functools import reduce

from matchrec.conditions.functions.function import Compute, Function, Use, Value
from matchrec.conditions.functions.numerals import WIDE, wrap
from matchrec.conditions.types import (
    BIGINT,
    INT,
    VOID,
    Family,
    ValueType,
    is_wide_decimal,
)

SEED = 42
IN_32_BITS, IN_64_BITS = (1 << 32) - 1, (1 << 64) - 1
P1, P2, P3, P4, P5 = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)

Hash = Callable[[Value, int], int]
"""Of a value and what has come before it; both are unsigned."""


def turned(number: int, places: int, bits: int) -> int:
    """The bits of a number turned to the left."""
    return (number << places | number >> (bits - places)) & ((1 << bits) - 1)


def mixed(seed: int, word: int) -> int:
    """Murmur3: one more word of 32 bits."""
    word = turned(word * 0xCC9E2D51 & IN_32_BITS, 15, 32) * 0x1B873593 & IN_32_BITS
    return (turned(seed ^ word, 13, 32) * 5 + 0xE6546B64) & IN_32_BITS


def finished(seed: int, length: int) -> int:
    """Murmur3 of so many bytes."""
    seed ^= length
    seed = (seed ^ seed >> 16) * 0x85EBCA6B & IN_32_BITS
    seed = (seed ^ seed >> 13) * 0xC2B2AE35 & IN_32_BITS
    return seed ^ seed >> 16


def murmur_int(number: int, seed: int) -> int:
    return finished(mixed(seed, number & IN_32_BITS), 4)


def murmur_long(number: int, seed: int) -> int:
    number &= IN_64_BITS
    return finished(mixed(mixed(seed, number & IN_32_BITS), number >> 32), 8)


def murmur_bytes(content: bytes, seed: int) -> int:
    """Words of four bytes, then each byte that is left as one of its own, with its sign."""
    whole = len(content) // 4 * 4
    words = [word for (word,) in struct.iter_unpack("<I", content[:whole])]
    rest = [wrap(byte, 8) & IN_32_BITS for byte in content[whole:]]
    return finished(reduce(mixed, [*words, *rest], seed), len(content))


def xx_finished(found: int) -> int:
    found = (found ^ found >> 33) * P2 & IN_64_BITS
    found = (found ^ found >> 29) * P3 & IN_64_BITS
    return found ^ found >> 32


def xx_round(seed: int, word: int) -> int:
    return turned((seed + word * P2) & IN_64_BITS, 31, 64) * P1 & IN_64_BITS


def xx_word(found: int, word: int) -> int:
    """One more word of 64 bits."""
    return (turned(found ^ xx_round(0, word), 27, 64) * P1 + P4) & IN_64_BITS


def xx_half(found: int, half: int) -> int:
    """One more word of 32 bits."""
    return (turned(found ^ half * P1 & IN_64_BITS, 23, 64) * P2 + P3) & IN_64_BITS


def xx_int(number: int, seed: int) -> int:
    return xx_finished(xx_half((seed + P5 + 4) & IN_64_BITS, number & IN_32_BITS))


def xx_long(number: int, seed: int) -> int:
    return xx_finished(xx_word((seed + P5 + 8) & IN_64_BITS, number & IN_64_BITS))


def xx_bytes(content: bytes, seed: int) -> int:
    """Four words at a time, then single ones, a half of one, and bytes."""
    found, place = (seed + P5) & IN_64_BITS, len(content) // 32 * 32
    if place:
        found = xx_stripes(content[:place], seed)
    found = (found + len(content)) & IN_64_BITS
    words = (len(content) - place) // 8 * 8
    for (word,) in struct.iter_unpack("<Q", content[place : place + words]):
        found = xx_word(found, word)
    place += words
    if len(content) - place >= 4:
        found = xx_half(found, int.from_bytes(content[place : place + 4], "little"))
        place += 4
    for byte in content[place:]:
        found = turned(found ^ byte * P5 & IN_64_BITS, 11, 64) * P1 & IN_64_BITS
    return xx_finished(found)


def xx_stripes(content: bytes, seed: int) -> int:
    """Of words in groups of four."""
    four = [(seed + one) & IN_64_BITS for one in (P1 + P2, P2, 0, -P1)]
    for words in struct.iter_unpack("<4Q", content):
        four = list(map(xx_round, four, words))
    found = sum(turned(one, places, 64) for one, places in zip(four, (1, 7, 12, 18), strict=True))
    for one in four:
        found = ((found ^ xx_round(0, one)) * P1 + P4) & IN_64_BITS
    return found


def bits_of_float(value: float, code: str, whole: str) -> int:
    """Those of one NaN, and of a zero without sign."""
    known = float("nan") if value != value else value or 0.0
    return int(struct.unpack(whole, struct.pack(code, known))[0])


def digits_of(value: Value, type_: ValueType) -> int:
    return int(value.scaleb(type_.scale, WIDE))


def as_bytes(number: int) -> bytes:
    """As java.math.BigInteger has it."""
    size = (number if number >= 0 else ~number).bit_length() // 8 + 1
    return number.to_bytes(size, "big", signed=True)


def hash_of(type_: ValueType, int_: Hash, long_: Hash, bytes_: Hash) -> Hash:
    """How a value of a type is hashed after others; NULL adds nothing."""
    of_known = hash_of_known(type_, int_, long_, bytes_)
    return lambda value, seed: seed if value is None else of_known(value, seed)


def hash_of_known(type_: ValueType, int_: Hash, long_: Hash, bytes_: Hash) -> Hash:
    match type_.family:
        case Family.BOOLEAN | Family.DATE | Family.MONTHS:
            return lambda value, seed: int_(int(value), seed)
        case Family.INTEGER:
            return long_ if type_.bits == 64 else int_
        case Family.FLOATING if type_.name == "float":
            return lambda value, seed: int_(bits_of_float(value, "<f", "<i"), seed)
        case Family.FLOATING:
            return lambda value, seed: long_(bits_of_float(value, "<d", "<q"), seed)
        case Family.DECIMAL if is_wide_decimal(type_):
            return lambda value, seed: bytes_(as_bytes(digits_of(value, type_)), seed)
        case Family.DECIMAL:
            return lambda value, seed: long_(digits_of(value, type_), seed)
        case Family.STRING:
            return lambda value, seed: bytes_(value.encode(), seed)
        case Family.BINARY:
            return bytes_
        case Family.ARRAY | Family.STRUCT:
            parts = [hash_of(part, int_, long_, bytes_) for part in type_.parts]
            return lambda values, seed: reduce(
                lambda found, pair: pair[0](pair[1], found),
                zip(parts * (len(values) if type_.element else 1), values, strict=True),
                seed,
            )
        case _:
            return long_


def hashing(type_: ValueType, bits: int, of_types: tuple[Hash, Hash, Hash]) -> Function:
    """A function of any number of values."""

    def result(use: Use) -> ValueType | None:
        fits = all(one.is_ordered and (one.family is not Family.OTHER) for one in use.types)
        return type_ if fits and VOID not in use.types else None

    def build(use: Use) -> Compute:
        parts = [hash_of(one, *of_types) for one in use.types]

        def compute(*values: Value) -> int:
            found = SEED
            for part, value in zip(parts, values, strict=True):
                found = part(value, found)
            return wrap(found, bits)

        return compute

    return Function((None,), result, build, takes_nulls=True, repeats=True)


HASHES: Mapping[str, Function] = {
    "HASH": hashing(INT, 32, (murmur_int, murmur_long, murmur_bytes)),
    "XXHASH64": hashing(BIGINT, 64, (xx_int, xx_long, xx_bytes)),
}
