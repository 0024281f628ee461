"""Turns one variable's run condition into instructions in post-order over a stack.

AND and OR evaluate from left to right and stop at the operand that decides, as Spark does: in
`b <> 0 AND a / b > 1` no row divides by zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from typing_extensions import assert_never

from matchrec.conditions.evaluate import instructions as op
from matchrec.conditions.evaluate.registers import (
    ListedValue,
    Meaning,
    Members,
    Reduced,
    Registers,
    RowOf,
    VariableOfRow,
)
from matchrec.conditions.run_condition import (
    Aggregated,
    Apply,
    Arithmetic,
    ArithmeticOperator,
    Basic,
    Call,
    Collected,
    Comparison,
    Constant,
    MathFunction,
    Operate,
    Operator,
    ReadClassifier,
    ReadValue,
    Reduce,
    Reduction,
    RunExpression,
    TriedMatchNumber,
    arguments_of,
    kind_of,
    parts_of,
)
from matchrec.conditions.types import Kind
from matchrec.jit.bits import bits_of
from matchrec.plan.expression import Navigation

Instruction = tuple[int, int, int, int, int]

_OPERATORS = tuple(ArithmeticOperator)
_MATH_FUNCTIONS = tuple(MathFunction)
_COMPARE = {Kind.INTEGER: op.COMPARE_INTEGER, Kind.FLOATING: op.COMPARE_FLOAT}
_NARROW = {Kind.INTEGER: op.NARROW_INTEGER, Kind.FLOATING: op.NARROW}
_OF_ONE = {Basic.WIDEN: op.WIDEN, Basic.NOT: op.NOT, Basic.IS_NULL: op.IS_NULL}
_CONNECTED = {Basic.AND: (op.JUMP_IF_FALSE, op.AND), Basic.OR: (op.JUMP_IF_TRUE, op.OR)}


@dataclass(frozen=True, slots=True)
class ConditionCompiler:
    """Writes the code of the condition of `variable`.

    members: variable ids by name. integers: how many integer columns there are; floating ones are
    numbered after them. calls, code: of all variables; jumps go to places in `code`. reads: the
    registers that the code of this variable reads.
    """

    variable: int
    members: Mapping[str, Members]
    registers: Registers
    integers: int
    calls: list[Call]
    code: list[Instruction]
    reads: set[int] = field(default_factory=set)

    def add(self, expression: RunExpression) -> None:
        match expression:
            case Constant(int() | float() as value, kind):
                self._emit(op.CONSTANT, int(value) if kind is Kind.INTEGER else bits_of(value))
            case Constant():
                self._emit(op.NULL_CONSTANT)
            case ReadValue():
                self._read(expression)
            case ReadClassifier(navigation):
                self._read_classifier(navigation)
            case TriedMatchNumber():
                self._emit(op.MATCH_NUMBER)
            case Reduce():
                self._reduce(expression)
            case Arithmetic():
                mode = op.TRIES if expression.tries else op.ANSI * expression.ansi
                width = expression.bits if expression.kind is Kind.INTEGER else 0
                function = op.ARITHMETIC + _OPERATORS.index(expression.operator) + mode
                self._operands(expression.parts)
                self._emit(op.MATHEMATICS, function + op.BITS * width, len(expression.parts))
            case Operate(operator, parts):
                self._operate(operator, parts)
            case Apply() | Aggregated():
                self._call(expression)
            case _:
                assert_never(expression)

    def _emit(self, operation: int, a: int = 0, b: int = 0, c: int = 0) -> None:
        self.code.append((operation, a, b, c, 0))

    def _operate(self, operator: Operator, parts: tuple[RunExpression, ...]) -> None:
        if operator in _CONNECTED:
            return self._connect(parts, *_CONNECTED[operator])
        if operator is Basic.CHOOSE:
            return self._choose(*parts)
        kind = self._operands(parts)
        if operator in _OF_ONE:
            return self._emit(_OF_ONE[operator])
        if isinstance(operator, Comparison):
            return self._emit(_COMPARE[kind], op.COMPARISONS[operator])
        is_function = isinstance(operator, MathFunction)
        function = _MATH_FUNCTIONS.index(operator) if is_function else _NARROW[kind]
        return self._emit(op.MATHEMATICS, function, len(parts))

    def _operands(self, parts: tuple[RunExpression, ...]) -> Kind:
        (kind,) = set(map(kind_of, parts))
        for part in parts:
            self.add(part)
        return kind

    def _connect(self, parts: tuple[RunExpression, ...], jump: int, connect: int) -> None:
        """Operands of AND or OR; what decides jumps after the last of them."""
        assert parts
        self.add(parts[0])
        jumps = []
        for part in parts[1:]:
            jumps.append(len(self.code))
            self._emit(jump)
            self.add(part)
            self._emit(connect)
        for place in jumps:
            self.code[place] = (jump, len(self.code), 0, 0, 0)

    def _choose(
        self, condition: RunExpression, then: RunExpression, otherwise: RunExpression
    ) -> None:
        """The condition jumps to `otherwise`, and `then` jumps after it."""
        assert kind_of(then) is kind_of(otherwise), condition
        self.add(condition)
        unless = len(self.code)
        self._emit(op.JUMP_UNLESS)
        self.add(then)
        jump = len(self.code)
        self._emit(op.JUMP)
        self.code[unless] = (op.JUMP_UNLESS, len(self.code), 0, 0, 0)
        self.add(otherwise)
        self.code[jump] = (op.JUMP, len(self.code), 0, 0, 0)

    def _call(self, call: Call) -> None:
        """What Python is to know, then the call; arguments may have calls of their own."""
        arguments = tuple(arguments_of(call, call.type))
        for argument, _ in arguments:
            if isinstance(argument, Aggregated):
                self._emit(op.REGISTER, self._list(argument))
            else:
                self.add(argument)
        self._emit(op.CALL, len(self.calls), len(arguments))
        self.calls.append(call)

    def _list(self, collect: Aggregated) -> int:
        forms = tuple(tuple(map(self._listed, row)) for row in collect.columns)
        members = self._members(collect.variable)
        return self._register(
            Reduced(Reduction.COUNT, members, None, so_far=collect.so_far, forms=forms)
        )

    def _listed(self, collected: Collected) -> ListedValue:
        reads = (one for one in parts_of(collected.expression) if isinstance(one, ReadValue))
        columns = tuple(self._column(one.column, one.kind) for one in reads)
        return ListedValue(collected.expression, collected.type, columns)

    def _members(self, name: str | None) -> Members:
        return self.registers.every if name is None else self.members[name]

    def _column(self, column: int, kind: Kind) -> int:
        return column if kind is Kind.INTEGER else self.integers + column

    def _register(self, meaning: Meaning) -> int:
        number = self.registers.number(meaning)
        self.reads.add(number)
        return number

    def _is_current(self, navigation: Navigation) -> bool:
        """Whether the logical part of the navigation finds the candidate row itself."""
        return navigation.is_last and self.variable in self._members(navigation.variable)

    def _row_of(self, navigation: Navigation) -> RowOf:
        members = self._members(navigation.variable)
        return RowOf(navigation.end, members, navigation.logical_offset)

    def _read(self, expression: ReadValue) -> None:
        column = self._column(expression.column, expression.kind)
        navigation = expression.navigation
        if navigation is None:
            self._emit(op.READ, column, -1)
            return
        register = -1
        if not self._is_current(navigation):
            register = self._register(self._row_of(navigation))
        self._emit(op.READ, column, register, navigation.physical_offset)

    def _read_classifier(self, navigation: Navigation) -> None:
        if self._is_current(navigation) and navigation.physical_offset == 0:
            self._emit(op.CONSTANT, self.variable)
            return
        meaning = VariableOfRow(self._row_of(navigation), navigation.physical_offset)
        self._emit(op.VARIABLE, self._register(meaning))

    def _reduce(self, expression: Reduce) -> None:
        members, place = self._members(expression.variable), expression.column
        column = None if place is None else self._column(place, expression.kind)
        count = Reduced(Reduction.COUNT, members, column, so_far=expression.so_far)
        if expression.function is Reduction.COUNT:
            self._emit(op.REGISTER, self._register(count))
            return
        assert column is not None
        function = Reduction.SUM if expression.function is Reduction.AVG else expression.function
        reduced = Reduced(function, members, column, expression.kind, expression.so_far)
        value = self._register(reduced)
        self.reads.add(value + 1)
        if expression.function is Reduction.AVG:
            assert expression.kind is Kind.FLOATING
            self._emit(op.AVERAGE, self._register(count), value)
        else:
            self._emit(op.REDUCED, value)
