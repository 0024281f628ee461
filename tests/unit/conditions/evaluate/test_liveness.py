"""Which registers are live after each move, and which steps are useful."""

from random import Random

from matchrec.conditions.evaluate import instructions as op
from matchrec.conditions.evaluate.link import (
    Move,
    compute_live_registers,
    find_dependencies,
    select_useful_steps,
)
from matchrec.conditions.evaluate.registers import Registers, RegisterStep, RowRegister
from matchrec.plan.expression import End

A, B = 0, 1


def test_a_register_is_live_from_where_it_is_set_to_where_it_is_read_last() -> None:
    # In A B C, C reads register 0, the row of A. Nothing is live before A and after C.
    moves = [Move(0, 0, 1, 0), Move(1, 1, 2, 1), Move(2, 2, 3, 2)]
    steps = [(RegisterStep(op.SET_ROW, 0),), (), ()]
    live = compute_live_registers(
        moves, steps, [frozenset(), frozenset(), frozenset({0})], [()] * 4
    )
    assert live == [frozenset(), frozenset({0}), frozenset({0}), frozenset()]


def test_in_a_loop_a_count_is_live_all_the_time() -> None:
    moves = [Move(0, A, 1, A), Move(1, A, 1, A), Move(1, B, 2, B)]
    steps = [(RegisterStep(op.ADD_ONE, 0),), ()]
    live = compute_live_registers(moves, steps, [frozenset({0}), frozenset()], [()] * 3)
    assert live == [frozenset({0}), frozenset({0}), frozenset()]


def test_steps_that_nothing_depends_on_are_dropped() -> None:
    steps = (RegisterStep(op.COPY, 1, 0), RegisterStep(op.SET_ROW, 0), RegisterStep(op.ADD_ONE, 2))
    assert select_useful_steps(steps, frozenset({1})) == (RegisterStep(op.COPY, 1, 0),)
    assert select_useful_steps(steps, frozenset({0})) == (RegisterStep(op.SET_ROW, 0),)
    assert find_dependencies(steps) == {1: {0}, 0: frozenset(), 2: {2}}


def test_registers_that_some_path_reads_are_live() -> None:
    """The expected sets are found naively: reads move to earlier states until nothing changes.

    There are four states and three variables.
    """
    for seed in range(300):
        random = Random(seed)
        steps = [tuple(draw_step(random) for _ in range(random.randrange(6))) for _ in range(3)]
        moves = [Move(*(random.randrange(n) for n in (4, 3, 4, 3))) for _ in range(8)]
        reads = [frozenset(random.sample(range(8), random.randrange(3))) for _ in range(3)]
        # For each state, the variables whose conditions are evaluated in it.
        questions = [random.sample(range(3), random.randrange(2)) for _ in range(4)]
        live: list[set[int]] = [
            set().union(*(reads[variable] for variable in variables)) for variables in questions
        ]
        for move in moves * 64:  # more often than the sets can change
            needed = reads[move.tested_variable] | live[move.target]
            for step in reversed(steps[move.variable]):
                if not needed.isdisjoint(step.registers_written):
                    needed = needed.difference(step.registers_written).union(step.registers_read)
            live[move.source] |= needed
        assert compute_live_registers(moves, steps, reads, questions) == live, seed


def draw_step(random: Random) -> RegisterStep:
    """Draw a step over a few registers."""
    operation = random.choice(
        [op.SET_ROW, op.COPY, op.COPY_AT, op.SET_AT, op.ADD_ONE, op.SUM_INTEGER]
    )
    a, b, c = (random.randrange(7) for _ in range(3))
    return RegisterStep(operation, a, b, c)


def test_last_rows_shift_from_the_far_end() -> None:
    registers = Registers(frozenset({A, B}))
    far = registers.find_or_add_register(RowRegister(End.LAST, frozenset({A}), 2))
    of_a, of_b = registers.build_steps(2)
    assert [step.operation for step in of_a] == [op.COPY, op.COPY, op.SET_ROW]
    assert of_a[0].a == far
    assert of_b == ()


def test_first_rows_count_down_to_their_row() -> None:
    registers = Registers(frozenset({A, B}))
    first = registers.find_or_add_register(RowRegister(End.FIRST, frozenset({A}), 3))
    assert registers.initial_values[first] == -4
    assert registers.find_or_add_register(RowRegister(End.FIRST, frozenset({A}), 3)) == first
