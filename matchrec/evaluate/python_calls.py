"""What Python computes while a kernel searches: formulas, and the lists that aggregates are over.

A kernel calls back for one thing or the other: to compute a formula of the values on top of its
stack, or to append a row to a list.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from matchrec.conditions.functions.function import AnsiError, FunctionError, Value
from matchrec.conditions.run_condition import Call, Collect
from matchrec.evaluate.calculations import REASONS
from matchrec.evaluate.formulas import Read, build
from matchrec.evaluate.instructions import FUNCTION_FAILED, OVERFLOW, VALUE
from matchrec.evaluate.kernels.conditions import Input, push_values
from matchrec.evaluate.link import LinkedConditions
from matchrec.evaluate.lists import Listing, Lists
from matchrec.evaluate.mathematics.functions import mathematics_of
from matchrec.evaluate.meanings import Listed
from matchrec.evaluate.values import (
    Decode,
    IntArray,
    Source,
    decoder,
    encoder,
    ranked_column,
    ranked_values,
)
from matchrec.jit.callbacks import NO_CALLBACK, callback


class PythonCalls:
    """What a kernel calls: see `answer`. stack: on which conditions are evaluated.

    begins: what tells searches apart whose runs share nothing. registers, match_number: of all
    runs, and of the match that is tried, which the search knows. failure: what ended the last call.
    """

    def __init__(
        self, linked: LinkedConditions, source: Source, begins: Callable[[], object]
    ) -> None:
        self.stack: IntArray = np.zeros((2, linked.depth), np.int64)
        self.top = 0
        self.begins = begins
        self.begun: object = None
        self.failure: Exception | None = None
        self.registers: Callable[[], IntArray] = lambda: self.stack[:0]
        self.match_number: Callable[[], int] = lambda: 1
        self.listed = [place for place, one in linked.meanings if isinstance(one, Listed)]
        self.linked = linked
        self.source = source
        self.lists = Lists(linked.forms, source, self.live_lists, self.value_of_row)
        self.computed = [build(one.formula, self.arguments(one, source)) for one in linked.computed]
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

    def failed(self) -> FunctionError:
        """Why the last call has failed. Raises what is no failure of a function."""
        assert self.failure is not None
        if isinstance(self.failure, FunctionError):
            return self.failure
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

    def value_of_row(self, place: int, row: int) -> Value:
        """What is computed of a row that is appended to a list. Raises FunctionError."""
        linked, (columns, valid) = self.linked, (self.source.columns, self.source.valid)
        begin, end = linked.computed_code[place]
        functions, before = mathematics_of(linked), np.array([self.match_number() - 1])
        given = Input(columns, valid, functions, self.pointer, 0, columns.shape[1], before)
        status = push_values(linked.instructions, begin, end, row, given, self.stack)
        if status == FUNCTION_FAILED:
            raise self.failed()
        if status in REASONS:
            raise AnsiError(REASONS[status])
        self.top = 0
        return self.computed[place]()

    def live_lists(self) -> list[int]:
        """The lists that runs may have: a place without a run may still hold what one had."""
        found: list[int] = np.unique(self.registers()[:, self.listed]).tolist()
        return found

    def arguments(self, call: Call, source: Source) -> tuple[Read, ...]:
        """What reads the arguments of a call from the stack."""
        parts = zip(call.arguments, call.types, strict=True)
        return tuple(
            self.list_at(place)
            if isinstance(argument, Collect)
            else self.value_at(
                place, decoder(type_, ranked_values(source, ranked_column(argument)))
            )
            for place, (argument, type_) in enumerate(parts)
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
