"""The rows of a table in order: which row comes when, and which begin a partition.

The columns that sort a table become words: the codes of columns, packed in 64 bits. A column
becomes parts, signed numbers that compare, one part after the other, as its values do. A code is
how far a number is from the least, in the greatest unit of which all are whole numbers, such as
the microseconds of a second. Codes are packed from the last column to the first, so that words
compare as rows do, the first word first.

Rows are sorted by as many bits of a word at a time as leave room for the place of a row: such
numbers are all different, so NumPy's fastest sort keeps rows with equal words as they are. Where
one word sorts them at once, columns that are in it are read from the sorted words, which lie one
after the other, and are not looked up row by row.

Where partitions may come in any order, a hash of as many bits brings the rows of a key together:
keys of 64 bits would be sorted twice. Keys with the same hash lie among each other then. They are
few, and are sorted once more.
Source: Knuth, The Art of Computer Programming, volume 3, 6.4, on multiplicative hashing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import gcd

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from matchrec.conditions.types import NARROW_DIGITS
from matchrec.search.partitions import BoolArray, IntArray, WordArray
from matchrec.shortcuts import taken
from matchrec.worker import arrays, wire
from matchrec.worker.wire import CountsTies, SortColumn, Sorting

LONG = 64  # bytes of texts that are sorted by their bytes, if most differ; others are ranked
SAMPLE, FEW = 1 << 14, 8
FAR = 1 << 44  # so that numbers and the places of their rows take a second sort
BYTES = 8  # of a number
OF_LENGTH = np.array([(1 << 64) - (1 << (64 - 8 * one)) for one in range(BYTES + 1)], np.uint64)
FIRST_BIT = np.int64(np.iinfo(np.int64).min)
ALL = (1 << 64) - 1
BITS = 64
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio
LEAST_OF_HASH = 28  # bits, beside which an order is sorted at once


def words_of(codes: Iterable[SortCode]) -> list[Word]:
    """The words of rows, the last first; none where all rows are equal."""
    words: list[Word] = []
    for code in codes:
        if words and words[-1].bits + code.bits <= BITS:
            words[-1] = words[-1].add(code)
        else:
            words.append(no_word(0).add(code))
    return words


@dataclass(frozen=True, slots=True)
class Word:
    """uint64[n], how many bits are used, and which of them are of keys. columns: whose values are
    in it, with their codes and the bits at which these begin.
    """

    values: WordArray
    bits: int
    of_keys: int
    columns: dict[str, tuple[SortCode, int]] = field(default_factory=dict)

    def add(self, code: SortCode) -> Word:
        """The word with a further code, which decides before the others."""
        values = code.codes(self.bits)
        if self.bits:
            values |= self.values
        of_keys = self.of_keys | (code.all_bits << self.bits if code.of_key else 0)
        columns = {**self.columns, code.column: (code, self.bits)} if code.column else self.columns
        return Word(values, self.bits + code.bits, of_keys, columns)


def codes_of(table: pa.Table, sorting: Sorting) -> Iterator[SortCode]:
    """The codes of columns that are not the same in all rows, the last first."""
    keys = len(sorting.keys)
    for place, item in reversed([*enumerate(sorting.columns)]):
        for code in codes_of_column(arrays.column(table, item.name), item, of_key=place < keys):
            if code.bits:
                yield code


def codes_of_column(values: pa.Array, item: SortColumn, *, of_key: bool) -> Iterator[SortCode]:
    """The codes of a column, the last first; before its values decides whether there is one."""
    parts, are_values = parts_of(values)
    known = arrays.validity(values) if values.null_count else None
    if known is not None:
        most = np.iinfo(np.int64).max
        parts = [np.where(known, part, part[known].min(initial=most)) for part in parts]
    for part in reversed(parts):
        code = code_of(part, falling=item.descending, of_key=of_key)
        yield replace(code, column=item.name) if are_values and known is None else code
    if known is not None:
        yield code_of(1 - known.astype(np.int64), falling=item.nulls_first, of_key=of_key)


@dataclass(frozen=True, slots=True)
class SortCode:
    """The codes of numbers: how many units each is from the least, in so many bits. falling: codes
    are inverted. column: that has these values, if any.
    """

    values: IntArray
    least: int
    unit: int
    bits: int
    falling: bool
    of_key: bool
    column: str | None = None

    @property
    def all_bits(self) -> int:
        return (1 << self.bits) - 1

    def codes(self, place: int) -> WordArray:
        """The codes, in words at bit `place`."""
        codes: WordArray = self.values.view(np.uint64) - np.uint64(self.least & ALL)
        if self.unit > 1:
            codes //= np.uint64(self.unit)
        if place:
            codes <<= np.uint64(place)
        if self.falling:
            codes ^= np.uint64(self.all_bits << place)
        return codes

    def read_from(self, word: WordArray, place: int) -> IntArray:
        """The numbers, of words that have their codes at bit `place`."""
        codes = word >> np.uint64(place)
        codes &= np.uint64(self.all_bits)
        if self.falling:
            codes ^= np.uint64(self.all_bits)
        if self.unit > 1:
            codes *= np.uint64(self.unit)
        codes += np.uint64(self.least & ALL)
        return np.asarray(codes.view(np.int64))


def code_of(values: IntArray, *, falling: bool, of_key: bool) -> SortCode:
    """The codes of numbers, at least one; they have no bits where all are equal."""
    least, most = int(values.min()), int(values.max())
    # the first ones mostly say that there is no greater unit than one
    unit = gcd(most - least, *(one - least for one in values[:FEW].tolist())) or 1
    distances = values[: len(values) if unit > 1 else 0].view(np.uint64) - np.uint64(least & ALL)
    while (rest := distances % np.uint64(unit)).any():
        unit = gcd(unit, *rest[rest > 0][:FEW].tolist())
    return SortCode(values, least, unit, ((most - least) // unit).bit_length(), falling, of_key)


def parts_of(values: pa.Array) -> tuple[list[IntArray], bool]:
    """int64[n] each, the first one decides; what they hold where a value is NULL has no meaning.
    And whether the one part is the values themselves, which are whole numbers.
    """
    kind = values.type
    if pa.types.is_decimal(kind) and kind.precision > NARROW_DIGITS:
        words = arrays.decimal_words(values)
        return [np.ascontiguousarray(words[:, 1]), words[:, 0] ^ FIRST_BIT], False
    if arrays.is_text(kind):
        lengths = arrays.as_integers(pc.binary_length(values))
        longest = int(lengths.max())
        if longest <= LONG and most_differ(values):
            return [*byte_parts(values, longest), lengths], False
        return [arrays.as_integers(arrays.ranks_of_repeated(values))], False
    numbers = arrays.sort_keys(values)
    is_wide = int(numbers.max()) - int(numbers.min()) >= FAR
    if is_wide and not most_differ(arrays.arrow_of(numbers)):  # as hashes for keys
        return [arrays.as_integers(arrays.ranks_of_repeated(arrays.arrow_of(numbers)))], False
    return [numbers], arrays.is_whole(kind)


def most_differ(values: pa.Array) -> bool:
    """Whether a quarter of the first values or more differ, so that looking each up takes long."""
    some = values.slice(0, SAMPLE)
    return 4 * len(pc.unique(some)) > len(some)


def byte_parts(values: pa.Array, longest: int) -> Iterator[IntArray]:
    """Eight bytes each, as a number that rises with them; where a text ends, zeros follow."""
    _, offsets, content = values.buffers()
    large = pa.types.is_large_binary(values.type) or pa.types.is_large_string(values.type)
    ends = np.frombuffer(offsets, np.int64 if large else np.int32)
    ends = ends[values.offset : values.offset + len(values) + 1]
    held = np.append(np.frombuffer(content, np.uint8), np.zeros(BYTES, np.uint8))
    from_byte: npt.NDArray[np.uint64] = np.ndarray(len(held) - BYTES + 1, ">u8", held, strides=(1,))
    for skipped in range(0, longest, BYTES):
        begins = np.minimum(ends[:-1] + skipped, ends[1:])
        numbers = from_byte[begins].astype(np.uint64)
        numbers &= OF_LENGTH[np.minimum(ends[1:] - begins, BYTES)]
        yield numbers.view(np.int64) ^ FIRST_BIT  # signed numbers compare alike


@dataclass(frozen=True, slots=True)
class Order:
    """The rows of a table in order. rows: their numbers, None where they are in order as they are.
    begins: bool[n], of the rows in order, which are the first of a partition. word: of the rows in
    order, where one sorts at once. words: of the rows as they came, the last first.
    """

    rows: IntArray | None
    begins: BoolArray
    word: Word | None = None
    words: list[Word] = field(default_factory=list)

    def ties(self) -> IntArray:
        """Return the numbers of the rows, in order, that equal the row before."""
        if not self.words:  # all rows are equal
            return np.arange(1, len(self.begins))
        return find_ties(self.words, self.rows, self.word)


def order_of(table: pa.Table, sorting: Sorting, *, in_any_order: bool = False) -> Order:
    """The order of a table's rows; rows that are equal in all columns keep theirs. in_any_order:
    whether partitions may come as they like.
    """
    count = table.num_rows
    codes = [*codes_of(table, sorting)]
    words = words_of(codes)
    stay = are_in_order(words)
    if in_any_order and not stay and (hashed := hashed_keys(codes, words, count)):
        return order_by_hash(codes, words, hashed)
    rows, word = (None, None) if stay else sort(words, count)
    return Order(rows, first_of_keys(words, count, rows, word), word, words)


def first_of_keys(
    words: list[Word], count: int, rows: IntArray | None, ordered: Word | None = None
) -> BoolArray:
    """bool[n], of rows in order: those whose keys differ from those of the row before. rows: as of
    `Order`. ordered: the one word of the rows in order, where it is known.
    """
    begins = np.zeros(count, np.bool_)
    begins[0] = True
    if ordered is not None:
        words, rows = [ordered], None
    for word in words:
        if word.of_keys:
            keys = word.values if rows is None else word.values.take(rows)
            keys = keys & np.uint64(word.of_keys)
            begins[1:] |= keys[1:] != keys[:-1]
    return begins


def find_ties(words: Sequence[Word], rows: IntArray | None, ordered: Word | None) -> IntArray:
    """Return the numbers of the rows, in order, that equal the row before in all words.

    Args:
        words: of the rows as they came, at least one.
        rows: the numbers of the rows in order, None if they came in order.
        ordered: the one word of the rows in order, where it is known.
    """
    if ordered is not None:
        words, rows = [ordered], None
    first, *others = words
    values = first.values if rows is None else first.values.take(rows)
    ties = np.flatnonzero(values[1:] == values[:-1]) + 1
    for word in others:
        here, before = (ties, ties - 1) if rows is None else (rows[ties], rows[ties - 1])
        ties = ties[word.values[here] == word.values[before]]
    return ties


def are_in_order(words: list[Word]) -> bool:
    """Whether no row comes before the one before it; the first mostly say so. words: last first."""
    for size in SAMPLE, None:
        in_order: BoolArray = np.ones(1, np.bool_)
        for word in words:
            before, here = word.values[:size][:-1], word.values[:size][1:]
            in_order = (before < here) | ((before == here) & in_order)
        if not in_order.all():
            return False
    return True


def sort(words: list[Word], count: int) -> tuple[IntArray, Word | None]:
    """The numbers of rows in order, equal ones as they are; and the one word that sorts at once."""
    places, place_bits = np.arange(count, dtype=np.uint64), count.bit_length()
    rows: IntArray | None = None
    for word in words:
        for shift in range(0, word.bits, BITS - place_bits):
            digits = word.values >> np.uint64(shift) if shift else word.values
            digits = digits if rows is None else digits.take(rows)
            digits = digits << np.uint64(place_bits)  # the bits that come later go
            digits |= places
            digits.sort()
            ordered = (digits & np.uint64((1 << place_bits) - 1)).view(np.int64)
            rows = ordered if rows is None else rows.take(ordered)
    assert rows is not None
    if len(words) > 1 or words[0].bits > BITS - place_bits:
        return rows, None
    return rows, replace(words[0], values=digits >> np.uint64(place_bits))


def hashed_keys(codes: list[SortCode], words: list[Word], count: int) -> list[Word]:
    """The words of the order and a hash of the keys, the last first; none where rows are sorted no
    fewer times by them than by `words`.
    """
    keys, room = [code for code in codes if code.of_key], BITS - count.bit_length()
    if not keys or count < taken().hashed_rows or sorts(words, room) == 1:
        return []
    *before, last = words_of(code for code in codes if not code.of_key) or [no_word(count)]
    if last.bits > room - LEAST_OF_HASH:
        before, last = [*before, last], no_word(count)
    if sorts(before, room) + 1 >= sorts(words, room):
        return []
    bits = room - last.bits
    hashes = hash_of(keys) >> np.uint64(BITS - bits)
    hashes <<= np.uint64(last.bits)
    hashes |= last.values
    return [*before, Word(hashes, room, (1 << bits) - 1 << last.bits, last.columns)]


def no_word(count: int) -> Word:
    return Word(np.zeros(count, np.uint64), 0, 0)


def sorts(words: list[Word], room: int) -> int:
    """How often rows are sorted by words, so many bits at a time."""
    return sum(-(-word.bits // room) for word in words)


def hash_of(keys: list[SortCode]) -> WordArray:
    """uint64[n], the same for equal keys, whose first bits differ where keys do, mostly."""
    found = np.zeros(len(keys[0].values), np.uint64)
    for key in keys:
        found ^= found >> np.uint64(BITS // 2)
        found += key.values.view(np.uint64)
        found *= GOLDEN
    return found


def order_by_hash(codes: list[SortCode], words: list[Word], hashed: list[Word]) -> Order:
    """The order of rows by `hashed`. words: of all codes."""
    count = len(words[0].values)
    rows, word = sort(hashed, count)
    begins = first_of_keys(words, count, rows)
    starts = first_of_keys(hashed, count, rows, word)
    mixed = begins & ~starts
    if mixed.any():
        word = None
        group = np.cumsum(starts, dtype=np.int64)
        places = np.flatnonzero(np.isin(group, group[mixed]))
        some = rows[places]
        apart = code_of(group[places], falling=False, of_key=True)
        again = [code_of(c.values[some], falling=c.falling, of_key=c.of_key) for c in codes]
        rows[places] = some[sort(words_of([*again, apart]), len(some))[0]]
        begins = first_of_keys(words, count, rows)
    return Order(rows, begins, word, words)


def sort_table(
    table: pa.Table,
    sorting: Sorting,
    *,
    in_any_order: bool = False,
    watch: CountsTies | None = None,
) -> pa.Table:
    """The rows of a table of contiguous columns in order; bit 0 of the first bits says which are
    the first of a partition. in_any_order: as of `order_of`. watch: counts the ties.
    """
    if not table.num_rows:
        return table
    order = order_of(table, sorting, in_any_order=in_any_order)
    table = in_order(table, order, sorting)
    if watch is not None:
        watch.count(table, order.ties())
    if wire.FIRST_BITS not in table.column_names:
        return table.append_column(wire.FIRST_BITS, arrays.arrow_of(order.begins.astype(np.int8)))
    place = table.column_names.index(wire.FIRST_BITS)
    marked = arrays.numbers_of(arrays.column(table, wire.FIRST_BITS)) & ~1
    marked |= order.begins
    return table.set_column(place, table.schema.field(place), arrays.arrow_of(marked))


def in_order(table: pa.Table, order: Order, sorting: Sorting) -> pa.Table:
    if order.rows is None:
        return table
    columns, starts = [], np.flatnonzero(order.begins)
    ends = np.append(starts[1:], table.num_rows)
    for name in table.column_names:
        values = arrays.column(table, name)
        if order.word is not None and name in order.word.columns:
            code, place = order.word.columns[name]
            values = arrays.as_type(code.read_from(order.word.values, place), values.type)
        elif name in sorting.keys and has_one_form(values.type):
            values = arrays.repeated(take(values, order.rows[starts]), ends)  # once for each
        else:
            values = take(values, order.rows)
        columns.append(values)
    return pa.Table.from_arrays(columns, schema=table.schema)


def has_one_form(kind: pa.DataType) -> bool:
    """Whether equal values of a type are the same, as 0.0 and -0.0 are not."""
    return arrays.is_text(kind) or arrays.is_whole(kind)


def take(values: pa.Array, rows: npt.NDArray[np.signedinteger]) -> pa.Array:
    return pc.take(values, arrays.arrow_of(rows), boundscheck=False)
