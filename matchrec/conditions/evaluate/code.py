"""Compile the run condition of a variable to instructions over a stack.

The instructions of an operation come after those of its operands, whose values they replace on the
stack by the result. AND and OR evaluate from left to right and stop at the operand that decides, as
Spark does. So in `b <> 0 AND a / b > 1`, no row divides by zero:

    0  READ b               4  READ a
    1  CONSTANT 0           5  READ b
    2  COMPARE_INTEGER <>   6  MATHEMATICS /, two values
    3  JUMP_IF_FALSE 10     7  CONSTANT 1
                            8  COMPARE_INTEGER >
                            9  AND
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from typing_extensions import assert_never

from matchrec.conditions.evaluate import instructions as op
from matchrec.conditions.evaluate.registers import (
    AggregateRegister,
    ListedValue,
    ListRegister,
    Meaning,
    Members,
    Registers,
    RowRegister,
    VariableRegister,
)
from matchrec.conditions.run_condition import (
    Arithmetic,
    BasicOperator,
    Comparison,
    Constant,
    ListItem,
    MathFunction,
    Operator,
    PythonAggregate,
    PythonCall,
    PythonExpression,
    ReadClassifier,
    ReadValue,
    Reduction,
    RunAggregate,
    RunExpression,
    RunOperation,
    TriedMatchNumber,
    find_kind,
    find_python_arguments,
    walk_expression,
)
from matchrec.conditions.types import Kind
from matchrec.jit.bits import float_to_bits
from matchrec.plan.expression import Navigation


class Instruction(NamedTuple):
    """A row of the array of instructions: an operation and its arguments, see `instructions`."""

    operation: int
    a: int = 0
    b: int = 0
    c: int = 0
    # Only steps have a fourth argument.
    d: int = 0


# The instruction that compares two values, and the function that rounds a value to 32 bits, by the
# kind of the values.
_COMPARING_OPERATIONS = {Kind.INTEGER: op.COMPARE_INTEGER, Kind.FLOATING: op.COMPARE_FLOAT}
_NARROWING_FUNCTIONS = {Kind.INTEGER: op.NARROW_INTEGER, Kind.FLOATING: op.NARROW}
# The instructions of operators with one operand.
_UNARY_OPERATIONS = {
    BasicOperator.WIDEN: op.WIDEN,
    BasicOperator.NOT: op.NOT,
    BasicOperator.IS_NULL: op.IS_NULL,
}


class _Connective(NamedTuple):
    """The instructions of AND or OR."""

    jump_operation: int  # jumps if the operand on top of the stack decides the result
    connecting_operation: int  # replaces the two operands on top of the stack by their AND or OR


_CONNECTIVES = {
    BasicOperator.AND: _Connective(op.JUMP_IF_FALSE, op.AND),
    BasicOperator.OR: _Connective(op.JUMP_IF_TRUE, op.OR),
}


@dataclass(frozen=True, slots=True)
class ConditionCompiler:
    """A compiler of the condition of one variable.

    `compile` appends the condition's code to `code`. The compilers of all conditions share
    `registers`, `calls` and `code`, and each adds to them.
    """

    # The variable to which the candidate row is mapped; None for the values of a list, which read
    # only the listed row.
    variable: int | None
    # For the name of each variable, the ids of its primary variables.
    members: Mapping[str, Members]
    # The registers of all conditions. `compile` adds the registers that this condition needs.
    registers: Registers
    # The number of integer columns. Floating columns are numbered after them.
    integer_count: int
    # The calls of Python in the code of all variables. `compile` adds the calls of this condition.
    calls: list[PythonExpression]
    # The code of all variables. Jumps go to indices in it.
    code: list[Instruction]
    # The registers that the code of this variable reads.
    registers_read: set[int] = field(default_factory=set)

    def compile(self, expression: RunExpression) -> None:
        """Append the code that pushes the value of an expression."""
        match expression:
            case Constant(int() | float() as value, kind):
                self._emit(
                    op.CONSTANT, int(value) if kind is Kind.INTEGER else float_to_bits(value)
                )
            case Constant():
                self._emit(op.NULL_CONSTANT)
            case ReadValue():
                self._emit_read(expression)
            case ReadClassifier(navigation):
                self._emit_classifier(navigation)
            case TriedMatchNumber():
                self._emit(op.MATCH_NUMBER)
            case RunAggregate():
                self._emit_aggregate(expression)
            case Arithmetic():
                self._emit_arithmetic(expression)
            case RunOperation(operator, operands):
                self._emit_operation(operator, operands)
            case PythonCall() | PythonAggregate():
                self._emit_call(expression)
            case _:
                assert_never(expression)

    def _emit(self, operation: int, a: int = 0, b: int = 0, c: int = 0) -> None:
        """Append an instruction."""
        self.code.append(Instruction(operation, a, b, c))

    def _emit_jump(self, operation: int) -> int:
        """Append a jump whose target is not known yet, and return its index in `code`."""
        self._emit(operation)
        return len(self.code) - 1

    def _land_jump(self, index: int) -> None:
        """Let the jump with this index in `code` lead to the next instruction that is appended."""
        self.code[index] = self.code[index]._replace(a=len(self.code))

    def _emit_arithmetic(self, expression: Arithmetic) -> None:
        """Append an arithmetic operation."""
        bits = expression.bits if expression.kind is Kind.INTEGER else 0
        function = op.number_arithmetic(expression.operator, expression.on_error, bits)
        self._compile_operands(expression.operands)
        self._emit(op.MATHEMATICS, function, len(expression.operands))

    def _emit_operation(self, operator: Operator, operands: tuple[RunExpression, ...]) -> None:
        """Append an operation that has no options: a comparison, logic or a function."""
        if operator is BasicOperator.AND or operator is BasicOperator.OR:
            self._emit_connective(operator, operands)
            return
        if operator is BasicOperator.CHOOSE:
            self._emit_choice(*operands)
            return
        kind = self._compile_operands(operands)
        if isinstance(operator, Comparison):
            self._emit(_COMPARING_OPERATIONS[kind], op.COMPARISON_MASKS[operator])
        elif isinstance(operator, MathFunction):
            self._emit(op.MATHEMATICS, op.FUNCTION_NUMBERS[operator], len(operands))
        elif operator is BasicOperator.NARROW:
            self._emit(op.MATHEMATICS, _NARROWING_FUNCTIONS[kind], len(operands))
        else:
            self._emit(_UNARY_OPERATIONS[operator])

    def _compile_operands(self, operands: tuple[RunExpression, ...]) -> Kind:
        """Append the code of operands, which are all of one kind, and return the kind."""
        kind = find_kind(operands[0])
        for operand in operands:
            assert find_kind(operand) is kind, operands
            self.compile(operand)
        return kind

    def _emit_connective(
        self, operator: BasicOperator, operands: tuple[RunExpression, ...]
    ) -> None:
        """Append AND or OR. After an operand that decides the result, a jump skips the others."""
        connective = _CONNECTIVES[operator]
        first_operand, *other_operands = operands
        self.compile(first_operand)
        jumps = []
        for operand in other_operands:
            jumps.append(self._emit_jump(connective.jump_operation))
            self.compile(operand)
            self._emit(connective.connecting_operation)
        for jump in jumps:
            self._land_jump(jump)

    def _emit_choice(
        self, condition: RunExpression, then: RunExpression, otherwise: RunExpression
    ) -> None:
        """Append a conditional expression.

        If the condition is not true, a jump leads to `otherwise`. After `then`, another jump leads
        behind `otherwise`.
        """
        assert find_kind(then) is find_kind(otherwise), condition
        self.compile(condition)
        jump_to_otherwise = self._emit_jump(op.JUMP_UNLESS)
        self.compile(then)
        jump_to_end = self._emit_jump(op.JUMP)
        self._land_jump(jump_to_otherwise)
        self.compile(otherwise)
        self._land_jump(jump_to_end)

    def _emit_call(self, call: PythonExpression) -> None:
        """Append the arguments of a call of Python, and the call.

        Calls within a call are not instructions of their own: Python computes all of them at once.
        But an argument that the kernel computes can contain a call, which then comes first.
        """
        arguments = tuple(find_python_arguments(call, call.type))
        for argument, _ in arguments:
            if isinstance(argument, PythonAggregate):
                self._emit(op.REGISTER, self._find_list_register(argument))
            else:
                self.compile(argument)
        self._emit(op.CALL, len(self.calls), len(arguments))
        self.calls.append(call)

    def _find_list_register(self, aggregate: PythonAggregate) -> int:
        """Return the register of the list that an aggregate is over."""
        forms = tuple(
            tuple(self._make_listed_value(item) for item in items)
            for items in aggregate.items_by_variable
        )
        members = self._find_members(aggregate.variable)
        self._check_current_row(aggregate, members)
        return self._use_register(ListRegister(members, forms, aggregate.excludes_current_row))

    def _check_current_row(
        self, aggregate: RunAggregate | PythonAggregate, members: Members
    ) -> None:
        """Check that an aggregate without the current row is read while this row is a member.

        Its registers always lack the last member, whether that is the current row or not.
        """
        assert not aggregate.excludes_current_row or self.variable in members, aggregate

    def _make_listed_value(self, item: ListItem) -> ListedValue:
        """Return a value of a list with the columns that it reads."""
        columns = tuple(
            self._number_column(part.column, part.kind)
            for part in walk_expression(item.expression)
            if isinstance(part, ReadValue)
        )
        return ListedValue(item.expression, item.type, columns)

    def _find_members(self, name: str | None) -> Members:
        """Return the primary variables of a variable; None is the universal one."""
        return self.registers.all_variables if name is None else self.members[name]

    def _number_column(self, column: int, kind: Kind) -> int:
        """Return the number of a column among all columns."""
        return column if kind is Kind.INTEGER else self.integer_count + column

    def _use_register(self, meaning: Meaning) -> int:
        """Return the number of the register with a meaning, and note that this condition reads it.

        If no condition has needed the register yet, it is added to `registers`. If the meaning has
        two registers, this is the number of the first one, and only the first one is noted.
        """
        number = self.registers.find_or_add_register(meaning)
        self.registers_read.add(number)
        return number

    def _is_current(self, navigation: Navigation) -> bool:
        """Return whether the logical step of a navigation finds the candidate row itself."""
        return navigation.is_last and self.variable in self._find_members(navigation.variable)

    def _make_row_meaning(self, navigation: Navigation) -> RowRegister:
        """Return the meaning of the register with the row to which the logical step leads."""
        members = self._find_members(navigation.variable)
        return RowRegister(navigation.end, members, navigation.logical_offset)

    def _emit_read(self, expression: ReadValue) -> None:
        """Append the read of a column."""
        column = self._number_column(expression.column, expression.kind)
        navigation = expression.navigation
        if navigation is None:
            self._emit(op.READ, column, op.CURRENT_ROW)
            return
        register = op.CURRENT_ROW
        if not self._is_current(navigation):
            register = self._use_register(self._make_row_meaning(navigation))
        self._emit(op.READ, column, register, navigation.physical_offset)

    def _emit_classifier(self, navigation: Navigation) -> None:
        """Append the read of a row's variable."""
        if self._is_current(navigation) and navigation.physical_offset == 0:
            assert self.variable is not None
            self._emit(op.CONSTANT, self.variable)
            return
        meaning = VariableRegister(self._make_row_meaning(navigation), navigation.physical_offset)
        self._emit(op.VARIABLE, self._use_register(meaning))

    def _emit_aggregate(self, expression: RunAggregate) -> None:
        """Append the read of an aggregate. AVG is computed from a sum and a count."""
        members = self._find_members(expression.variable)
        self._check_current_row(expression, members)
        column = None
        if expression.column is not None:
            column = self._number_column(expression.column, expression.kind)
        count = AggregateRegister(
            Reduction.COUNT, members, column, excludes_current_row=expression.excludes_current_row
        )
        if expression.function is Reduction.COUNT:
            self._emit(op.REGISTER, self._use_register(count))
            return
        assert column is not None
        function = Reduction.SUM if expression.function is Reduction.AVG else expression.function
        reduced = AggregateRegister(
            function=function,
            members=members,
            column=column,
            kind=expression.kind,
            excludes_current_row=expression.excludes_current_row,
        )
        flag = self._use_register(reduced)
        self.registers_read.add(flag + 1)  # the register of the value
        if expression.function is Reduction.AVG:
            assert expression.kind is Kind.FLOATING
            self._emit(op.AVERAGE, self._use_register(count), flag)
        else:
            self._emit(op.REDUCED, flag)


# An operation that can overflow or divide by zero during a search.
FailingOperation = Arithmetic | RunAggregate


def list_failing_operations(expression: RunExpression) -> list[FailingOperation]:
    """Return the operations of a condition that can fail, in the order of their instructions.

    These are arithmetic, and aggregates that the search updates, apart from counts. An operation
    comes after the operations in its operands, as in the code.
    """
    operations: list[FailingOperation] = []
    match expression:
        case PythonCall() | PythonAggregate():
            for argument, _ in find_python_arguments(expression, expression.type):
                if not isinstance(argument, PythonAggregate):
                    operations += list_failing_operations(argument)
        case RunOperation() | Arithmetic():
            for operand in expression.operands:
                operations += list_failing_operations(operand)
        case RunAggregate() if expression.function is not Reduction.COUNT:
            operations.append(expression)
    if isinstance(expression, Arithmetic):
        operations.append(expression)
    return operations
