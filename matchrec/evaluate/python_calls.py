"""What Python computes while a kernel searches: formulas, and the lists that aggregates are over.

A kernel calls back for one thing or the other: to compute a formula of the values on top of its
stack, or to append a row to a list. Lists share what they have in common, and equal lists have
equal numbers, so that runs with equal lists merge.

    list 0 = ()     list 7 = list 0 and row a     list 8 = list 7 and row b
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import numpy.typing as npt

from matchrec.conditions.functions.formula import Read, build
from matchrec.conditions.functions.function import FunctionError, Value
from matchrec.conditions.run_condition import Call, Collect
from matchrec.conditions.types import Family, ValueType, is_ranked
from matchrec.evaluate.arithmetic import VALUE
from matchrec.evaluate.instructions import FUNCTION_FAILED, OVERFLOW
from matchrec.evaluate.link import LinkedConditions
from matchrec.evaluate.registers import RowForm
from matchrec.jit.callbacks import NO_CALLBACK, callback

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Decode = Callable[[int], Value]
Ranked = Mapping[int, Sequence[Value]]


@dataclass(frozen=True, slots=True)
class Source:
    """The rows. columns, valid: see `evaluate.kernels`.

    ranked: by integer column, the values in the order of their ranks, of which the first is 1.
    """

    columns: IntArray
    valid: BoolArray
    ranked: Ranked

    def values(self, column: int | None) -> Sequence[Value] | None:
        """The values of which a column has the ranks; None of none."""
        return None if column is None else self.ranked.get(column, ())


@dataclass(frozen=True, slots=True)
class Listing:
    """A list by its number. before: the list without its last row, whose values are `last`."""

    number: int
    lists: Lists

    @property
    def before(self) -> int:
        return self.lists.rows[self.number][0]

    @property
    def last(self) -> tuple[Value, ...]:
        return self.lists.rows[self.number][1]

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        """The values of all rows, the first row first."""
        found = []
        number = self.number
        while number:
            number, values = self.lists.rows[number]
            found.append(values)
        return reversed(found)


class Lists:
    """All lists that live runs have. forms: of their rows, see `registers.Listed`."""

    def __init__(self, forms: Sequence[RowForm], source: Source) -> None:
        self.rows: dict[int, tuple[int, tuple[Value, ...]]] = {}
        self.numbers: dict[tuple[int, tuple[Value, ...]], int] = {}
        self.last = 0
        self.columns = source.columns
        self.valid = source.valid
        self.forms = [
            [
                (
                    one.column,
                    decoder(one.type, source.values(one.column if is_ranked(one.type) else None)),
                )
                for one in form
            ]
            for form in forms
        ]

    def append(self, number: int, form: int, row: int) -> int:
        """The number of a list with one more row; the same where the row does not count."""
        counts, *values = (self.value(column, decode, row) for column, decode in self.forms[form])
        if not counts:
            return number
        key = number, tuple(values)
        found = self.numbers.get(key)
        if found is None:
            found = self.numbers[key] = self.last = self.last + 1
            self.rows[found] = key
        return found

    def value(self, column: int, decode: Decode, row: int) -> Value:
        return decode(self.columns.item(column, row)) if self.valid.item(column, row) else None

    def clear(self) -> None:
        """No run lives any more. A number is never given again: what is known of it may stay."""
        self.rows.clear()
        self.numbers.clear()


class PythonCalls:
    """What a kernel calls: see `answer`. stack: on which conditions are evaluated.

    begins: what tells searches apart whose runs share nothing. failure: what ended the last call.
    """

    def __init__(
        self, linked: LinkedConditions, source: Source, begins: Callable[[], object]
    ) -> None:
        self.stack: IntArray = np.zeros((2, linked.depth), np.int64)
        self.top = 0
        self.begins = begins
        self.begun: object = None
        self.failure: Exception | None = None
        self.lists = Lists(linked.forms, source)
        self.formulas = [build(one.formula, self.arguments(one, source)) for one in linked.calls]
        self.encoders = [encoder(one.formula.type) for one in linked.calls]
        self.pointer = callback(self.answer) if linked.calls else NO_CALLBACK

    def answer(self, what: int, one: int, other: int) -> int:
        """Of `what` >= 0: compute that formula over the stack from `one` on; how it went.

        Otherwise: the number of list `one` with row `other`, of form -1 - `what`.
        """
        try:
            return self.compute(what, one) if what >= 0 else self.append(-1 - what, one, other)
        except OverflowError:
            return OVERFLOW
        except Exception as error:  # noqa: BLE001 -- a kernel lets nothing through
            self.failure = error
            return FUNCTION_FAILED if what >= 0 else one

    def reason(self) -> str:
        """Why the last call has failed. Raises what is no failure of a function."""
        assert self.failure is not None
        if isinstance(self.failure, FunctionError):
            return str(self.failure)
        raise self.failure

    def compute(self, formula: int, top: int) -> int:
        self.top = top
        value = self.formulas[formula]()
        self.stack[1, top] = value is not None
        if value is not None:
            self.stack[0, top] = self.encoders[formula](value)
        return VALUE

    def append(self, form: int, number: int, row: int) -> int:
        if number == 0 and (begun := self.begins()) != self.begun:
            self.begun = begun
            self.lists.clear()
        return self.lists.append(number, form, row)

    def arguments(self, call: Call, source: Source) -> tuple[Read, ...]:
        """What reads the arguments of a call from the stack."""
        parts = zip(call.arguments, call.types, call.ranked_by, strict=True)
        return tuple(
            self.list_at(place)
            if isinstance(argument, Collect)
            else self.value_at(place, decoder(type_, source.values(column)))
            for place, (argument, type_, column) in enumerate(parts)
        )

    def list_at(self, place: int) -> Read:
        stack = self.stack
        return lambda: Listing(stack.item(0, self.top + place), self.lists)

    def value_at(self, place: int, decode: Decode) -> Read:
        stack = self.stack

        def read() -> Value:
            at = self.top + place
            return decode(stack.item(0, at)) if stack.item(1, at) else None

        return read


def decoder(type_: ValueType, ranked: Sequence[Value] | None) -> Decode:
    """How a value of a type is made of the bits that hold it, or of its rank among values."""
    if ranked is not None:
        return lambda rank: ranked[rank - 1]
    match type_.family:
        case Family.BOOLEAN:
            return bool
        case Family.FLOATING:
            return lambda bits: struct.unpack("<d", struct.pack("<q", bits))[0]
        case Family.DECIMAL:
            return lambda bits: Decimal(bits).scaleb(-type_.scale)
        case _:
            return int


def encoder(type_: ValueType) -> Callable[[Value], int]:
    """The bits that hold a value of a type. Raises OverflowError where they cannot."""
    match type_.family:
        case Family.FLOATING:
            return lambda value: struct.unpack("<q", struct.pack("<d", value))[0]
        case Family.DECIMAL:
            return lambda value: int(value.scaleb(type_.scale))
        case _:
            return int
