"""What Python computes while a kernel searches: formulas, and the lists that aggregates are over.

A kernel calls back for one thing or the other: to compute a formula of the values on top of its
stack, or to append a row to a list. Lists share what they have in common, and equal lists have
equal numbers, so that runs with equal lists merge. Values are kept as the bits that the columns
have; what is computed of a row and that Python alone can hold, as it is.

    list 0 = ()     list 7 = list 0 and row a     list 8 = list 7 and row b
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace

import numpy as np

from matchrec.conditions.evaluate.formulas import (
    Decode,
    Evaluate,
    RowValues,
    build,
    decoder,
    encoder,
)
from matchrec.conditions.evaluate.instructions import (
    DIVISION_BY_ZERO,
    FUNCTION_FAILED,
    OVERFLOW,
    VALUE,
)
from matchrec.conditions.evaluate.kernels.functions import mathematics_of
from matchrec.conditions.evaluate.kernels.machine import Input, IntArray, holds
from matchrec.conditions.evaluate.link import CodedForm, LinkedConditions, Range
from matchrec.conditions.evaluate.registers import ListedValue, Reduced
from matchrec.conditions.functions.function import AnsiError, FunctionError, Value
from matchrec.conditions.run_condition import Aggregated, Call, arguments_of
from matchrec.conditions.types import is_ranked
from matchrec.jit.callbacks import NO_CALLBACK, callback

MOST_ROWS = 1 << 18  # that lists have before those of no run are dropped

Row = tuple[Value, ...]  # the list before, its layout, and the bits of the values

HELD = 2  # of a value on the stack: it is not NULL, and Python holds it

REASONS: Mapping[int, str] = {
    OVERFLOW: "a number is too large for its type",
    DIVISION_BY_ZERO: "division by zero",
}
NO_REGISTERS = np.empty(0, np.int64)


def decoder_of(value: ListedValue, source: RowValues) -> Decode:
    if is_kept_as_it_is(value):
        return lambda kept: kept
    return decoder(value.type, value.expression, source)


def is_kept_as_it_is(value: ListedValue) -> bool:
    """Whether Python alone can hold it, as it has computed it."""
    return value.column is None and is_ranked(value.type)


class Lists:
    """All lists that live runs have. forms: of their rows, see `registers.Reduced`.

    computer: what computes a value of a row as it is kept, and raises FunctionError. A row of which
    a value cannot be computed has the error instead, which is raised by who looks at the row.

    A layout is what forms have in common whose values are of the same types and kept alike. rows:
    by the number of the list that they are the last one of.
    """

    def __init__(
        self,
        forms: Sequence[CodedForm],
        source: RowValues,
        live: Callable[[], Iterable[int]],
        computer: Callable[[ListedValue, Range], Callable[[int], Value]],
    ) -> None:
        self.rows: dict[int, Row] = {}
        self.numbers: dict[Row, int] = {}
        self.last = 0
        self.most = MOST_ROWS
        self.live = live
        self.source = source
        self.forms = [
            [
                computer(value, code) if value.column is None else self.bits_of(value.column)
                for value, code in form
            ]
            for form in forms
        ]
        added = [[value for value, _ in form[1:]] for form in forms]
        types = [[(one.type, is_kept_as_it_is(one)) for one in form] for form in added]
        self.layouts = [types.index(type_) for type_ in types]
        self.decoders = [[decoder_of(value, source) for value in form] for form in added]

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

    def bits_of(self, column: int) -> Callable[[int], int | None]:
        columns, valid = self.source.columns, self.source.valid
        return lambda row: columns.item(column, row) if valid.item(column, row) else None

    def before(self, number: int) -> int:
        before: int = self.rows[number][0]
        return before

    def values(self, number: int) -> tuple[Value, ...]:
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
        self.rows.clear()
        self.numbers.clear()


class PythonCalls:
    """What a kernel calls: see `answer`. stack: on which conditions are evaluated.

    begins: what tells searches apart whose runs share nothing. registers, match_number: of all
    runs, and of the match that is tried, which the search knows. failure: what ended a call; Ctrl-C
    during any call, which a kernel lets go on, ends the next one that computes.
    """

    def __init__(self, linked: LinkedConditions, source: RowValues) -> None:
        self.stack: IntArray = np.zeros((2, linked.depth), np.int64)
        self.top = 0
        self.begins: Callable[[], object] = lambda: None
        self.begun: object = None
        self.failure: BaseException | None = None
        self.registers: Callable[[], IntArray] = lambda: self.stack[:0]
        self.match_number: Callable[[], int] = lambda: 1
        self.listed = [
            place for place, one in linked.meanings if isinstance(one, Reduced) and one.forms
        ]
        self.source = source
        self.code = linked.instructions
        self.mathematics = mathematics_of(linked)
        self.objects: list[Value] = [None] * linked.depth
        self.lists = Lists(linked.forms, source, self.live_lists, self.computer)
        self.formulas = [self.compiled(call) for call in linked.calls]
        self.is_held = [is_ranked(call.type) for call in linked.calls]
        self.encoders = [encoder(call.type) for call in linked.calls]
        self.pointer = callback(self.answer) if linked.calls else NO_CALLBACK

    def answer(self, what: int, place: int, row: int) -> int:
        """Of `what` >= 0: compute that formula over the stack from `place` on; how it went.

        Otherwise: the number of list `place` with `row`, of form -1 - `what`.
        """
        try:
            if what < 0:
                return self.append(-1 - what, place, row)
            if self.failure is not None and not isinstance(self.failure, FunctionError):
                return FUNCTION_FAILED
            return self.compute(what, place)
        except OverflowError:
            return OVERFLOW
        except BaseException as error:  # noqa: BLE001 -- a kernel lets nothing through
            self.failure = error
            return FUNCTION_FAILED if what >= 0 else place

    def failed(self) -> FunctionError:
        """Why the last call has failed. Raises what is no failure of a function."""
        assert self.failure is not None
        if isinstance(self.failure, FunctionError):
            return self.failure
        raise self.failure

    def compute(self, formula: int, top: int) -> int:
        self.top = top
        value = self.formulas[formula]()
        if value is not None and self.is_held[formula]:
            self.objects[top] = value
            self.stack[1, top] = HELD
            return VALUE
        self.stack[1, top] = value is not None
        if value is not None:
            self.stack[0, top] = self.encoders[formula](value)
        return VALUE

    def append(self, form: int, number: int, row: int) -> int:
        if number == 0 and (begun := self.begins()) != self.begun:
            self.begun = begun
            self.lists.clear()
        return self.lists.append(number, form, row)

    def computer(self, value: ListedValue, code: Range) -> Callable[[int], Value]:
        """What computes a value of a row as a list keeps it. Raises FunctionError."""
        decode = decoder(value.type, value.expression, self.source)
        read = self.value_at(0, decode if is_kept_as_it_is(value) else int)
        columns, valid, mathematics = self.source.columns, self.source.valid, self.mathematics

        def computed(row: int) -> Value:
            own = SimpleNamespace(lower=0, upper=columns.shape[1], number=self.match_number() - 1)
            values = Input(columns, valid, mathematics, self.answer, own)
            status = holds(self.code, *code, NO_REGISTERS, row, values, self.stack)
            if status in REASONS:
                raise AnsiError(REASONS[status])
            if status == FUNCTION_FAILED:
                raise self.failed()
            self.top = 0
            return read()

        return computed

    def live_lists(self) -> list[int]:
        """The lists that runs may have: a place without a run may still hold what one had."""
        found: list[int] = np.unique(self.registers()[:, self.listed]).tolist()
        return found

    def compiled(self, call: Call) -> Evaluate:
        readers = [
            self.list_at(place)
            if isinstance(one, Aggregated)
            else self.value_at(place, decoder(own, one, self.source))
            for place, (one, own) in enumerate(arguments_of(call, call.type))
        ]
        return build(call, iter(readers))

    def list_at(self, place: int) -> Evaluate:
        stack = self.stack
        return lambda: (stack.item(0, self.top + place), self.lists)

    def value_at(self, place: int, decode: Decode) -> Evaluate:
        stack = self.stack

        def read() -> Value:
            at = self.top + place
            known = stack.item(1, at)
            if known == HELD:
                return self.objects[at]
            return decode(stack.item(0, at)) if known else None

        return read
