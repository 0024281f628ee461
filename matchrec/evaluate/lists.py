"""The lists of rows that aggregates are over, which Python keeps for the runs of a search.

Lists share what they have in common, and equal lists have equal numbers, so that runs with equal
lists merge. Values are kept as the bits that the columns have; what is computed of a row and that
Python alone can hold, as it is.

    list 0 = ()     list 7 = list 0 and row a     list 8 = list 7 and row b
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from matchrec.conditions.functions.function import FunctionError, Value
from matchrec.conditions.types import is_ranked
from matchrec.dataclass import dataclass
from matchrec.evaluate.meanings import ListedColumn, ListedValue, RowForm
from matchrec.evaluate.values import Decode, Source, decoder, encoder, ranked_values

MOST_ROWS = 1 << 18  # that lists have before those of no run are dropped

Row = tuple[Value, ...]  # the list before, its layout, and the bits of the values
Compute = Callable[[int, int], Value]  # what is computed of a row: by its place, and the row


@dataclass(frozen=True, slots=True)
class Listing:
    """A list by its number. before: the list without its last row, whose values are `last`."""

    number: int
    lists: Lists

    @property
    def before(self) -> int:
        return self.lists.before(self.number)

    @property
    def last(self) -> tuple[Value, ...]:
        return self.lists.values(self.number)

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        """The values of all rows, the first row first."""
        found = []
        number = self.number
        while number:
            found.append(number)
            number = self.lists.before(number)
        return map(self.lists.values, reversed(found))


def decoder_of(one: ListedColumn | ListedValue, source: Source) -> Decode:
    """How a value is made of what is kept of it."""
    if isinstance(one, ListedColumn):
        return decoder(one.type, ranked_values(source, one.column))
    return (lambda kept: kept) if is_ranked(one.type) else decoder(one.type, None)


def encoder_of(one: ListedValue) -> Callable[[Value], Value]:
    """What is kept of a value that is computed."""
    if is_ranked(one.type):
        return lambda value: value
    encode = encoder(one.type)
    return lambda value: None if value is None else encode(value)


class Lists:
    """All lists that live runs have. forms: of their rows, see `meanings.Listed`.

    compute: raises FunctionError for a row without such a value. The row then has the error, which
    is raised by who looks at the row.

    A layout is what forms have in common whose values are of the same types. rows: by the number of
    the list that they are the last one of.
    """

    def __init__(
        self,
        forms: Sequence[RowForm],
        source: Source,
        live: Callable[[], Iterable[int]],
        compute: Compute,
    ) -> None:
        self.rows: dict[int, Row] = {}
        self.numbers: dict[Row, int] = {}
        self.last = 0
        self.most = MOST_ROWS
        self.live = live
        self.columns = source.columns
        self.valid = source.valid
        self.forms = [[self.reader(one, compute) for one in form] for form in forms]
        types = [tuple(one.type for one in form[1:]) for form in forms]
        self.layouts = [types.index(one) for one in types]
        self.decoders = [[decoder_of(one, source) for one in form[1:]] for form in forms]

    def append(self, number: int, form: int, row: int) -> int:
        """The number of a list with one more row; the same where the row does not count."""
        condition, *values = self.forms[form]
        try:
            if not condition(row):
                return number
            key = (number, self.layouts[form], *[value(row) for value in values])
        except FunctionError as error:
            key = (number, self.layouts[form], error)
        found = self.numbers.get(key)
        if found is None:
            if len(self.rows) >= self.most:
                self.drop_dead_lists(number)
            found = self.numbers[key] = self.last = self.last + 1
            self.rows[found] = key
        return found

    def reader(self, one: ListedColumn | ListedValue, compute: Compute) -> Callable[[int], Value]:
        """What reads a value of a row as it is kept, None where it is NULL."""
        if isinstance(one, ListedValue):
            encode = encoder_of(one)
            return lambda row: encode(compute(one.place, row))
        columns, valid, column = self.columns, self.valid, one.column
        return lambda row: columns.item(column, row) if valid.item(column, row) else None

    def before(self, number: int) -> int:
        """The list without its last row."""
        before: int = self.rows[number][0]
        return before

    def values(self, number: int) -> tuple[Value, ...]:
        """The values of a list's last row."""
        _, layout, *bits = self.rows[number]
        if bits and isinstance(bits[0], FunctionError):
            raise bits[0]
        found = zip(self.decoders[layout], bits, strict=True)
        return tuple(None if one is None else decode(one) for decode, one in found)

    def drop_dead_lists(self, number: int) -> None:
        """Keep a list and those that runs have, with what they are made of; others are forgotten.

        A number is never given again: what is known of it elsewhere may stay.
        """
        kept: dict[int, Row] = {}
        for live in (number, *self.live()):
            one = live
            while one in self.rows and one not in kept:
                kept[one] = self.rows[one]
                one = self.before(one)
        self.rows = kept
        self.numbers = {row: one for one, row in kept.items()}
        self.most = max(MOST_ROWS, 2 * len(kept))

    def clear(self) -> None:
        """No run lives any more."""
        self.rows.clear()
        self.numbers.clear()
