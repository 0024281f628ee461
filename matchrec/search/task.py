"""The input of a search apart from the rows: the task, and the limits on its memory.

A `Task` is a compiled query without columns, SQL or Spark: a row pattern, numbered conditions and
the options of the clause. `compile.build_query` builds it, and it is pickled and sent to the
workers. `strategies.choose_algorithm_and_strategy` returns the strategy that searches it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from matchrec.automaton.compiled_pattern import CompiledPattern
from matchrec.conditions.row_column import RowColumn
from matchrec.conditions.run_condition import (
    PythonExpression,
    ReadValue,
    RunExpression,
    walk_expression,
)
from matchrec.plan import clauses

if TYPE_CHECKING:
    from matchrec.plan.stages import Skip


# The names of the algorithms, by which users choose them.
BACKTRACKING = "backtracking"
BREADTH_FIRST = "breadth_first"


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition of a variable: both parts must be true. A missing part is true."""

    # The index of the bit in `Partitions.condition_bits` of the part that depends on the row only.
    row_bit: int | None = None
    # The part that depends on the run: on the rows mapped so far.
    run_condition: RunExpression | None = None


@dataclass(frozen=True, slots=True)
class NearbyCondition:
    """A row condition that reads rows at a fixed distance, such as `price > PREV(price)`.

    The worker computes it for all rows before the search: see `search.nearby`.
    """

    # The condition, which reads columns of run conditions. It has only physical navigations, from
    # the row itself.
    expression: RunExpression
    # The bit of the part that Spark computes, which must hold as well; None without such a part.
    spark_bit: int | None
    # The column that Spark would compute if the worker did not compute the condition.
    column: RowColumn
    # The bit of `Partitions.condition_bits` in which the result is stored.
    bit: int
    # What messages call the condition: the first variable that has it, or its text if no variable
    # has it.
    name: str

    @property
    def offsets(self) -> Iterator[int]:
        """Yield the distance of each row that the condition reads; PREV is negative."""
        for part in walk_expression(self.expression):
            if isinstance(part, ReadValue) and part.navigation is not None:
                yield part.navigation.physical_offset


@dataclass(frozen=True, slots=True)
class AbsenceCondition:
    """A negation: no row in one part of a match is allowed to satisfy the condition of a variable.

    The part is between two rows of the match, or before or after the match in a window:

        PATTERN (A NOT C B)   variables_before={A}, variables_after={B}
            no C between the last A and the first B
        PATTERN (NOT C A B)   variables_before=None, variables_after={A}
            no C in a window that ends with the match
        PATTERN (A B NOT C)   variables_before={B}, variables_after=None
            no C after the match in its window
    """

    # Id of the variable.
    variable: int
    # Ids of the variables whose last row comes just before the part. None: the part consists of the
    # rows before the match whose window contains the last row of the match.
    variables_before: frozenset[int] | None
    # Ids of the variables whose first row comes just after the part. None: the part consists of the
    # rows after the match that are in its window.
    variables_after: frozenset[int] | None

    @property
    def is_between_rows(self) -> bool:
        """Return whether the part is between two rows of the match."""
        return self.variables_before is not None and self.variables_after is not None


@dataclass(frozen=True, slots=True)
class StageOptions:
    """The options of a task over a pattern of stages: see `plan.stages.Staging`."""

    # Which matches are left out; None keeps all.
    skip: Skip | None = None
    # Whether runs whose window ends are output as well.
    outputs_timeouts: bool = False


class TotalFunction(Enum):
    """A function by which an aggregate over all matches is computed: see `Total`."""

    COUNT = "count"
    SUM = "sum"
    MIN = "min"
    MAX = "max"
    # The value on the first or last row. Only the inner function can be one of these.
    FIRST = "first"
    LAST = "last"


@dataclass(frozen=True, slots=True)
class Total:
    """An aggregate over all matches, of a value that is computed for each match.

    For `sum(FIRST(A.price))` over all matches, the outer function is SUM, the inner function is
    FIRST, and the members are {A}.
    """

    # The function that aggregates the values of all matches.
    outer_function: TotalFunction
    # The function that computes the value of a match from its rows mapped to `members`.
    inner_function: TotalFunction
    # Ids of the variables whose rows are read.
    members: frozenset[int]
    # Index of the column that is read, among the columns that only totals read; None for a count of
    # rows.
    column: int | None
    # Whether the column holds the bits of doubles.
    is_float: bool

    @property
    def is_row_value(self) -> bool:
        """Return whether the result is the value of one row, so that this row can be named."""
        is_extreme = self.outer_function in (TotalFunction.MIN, TotalFunction.MAX)
        return is_extreme and self.inner_function not in (TotalFunction.COUNT, TotalFunction.SUM)


@dataclass(frozen=True, slots=True)
class TaskTotals:
    """The aggregates over all matches, for a task that outputs aggregates instead of matches."""

    aggregates: tuple[Total, ...]
    # What the matches of one group have in common.
    grouping: clauses.Grouping


@dataclass(frozen=True, slots=True)
class Task:
    """A compiled query in the form that a search reads. It can be pickled."""

    # The row pattern.
    pattern: CompiledPattern
    # The condition of each variable, by its id.
    conditions: tuple[Condition, ...]
    # For each variable name, primary or union, the ids of its primary variables.
    members: dict[str, frozenset[int]]
    # AFTER MATCH SKIP: the row at which the search goes on after a match.
    after_match: clauses.AfterMatchSkip = clauses.AfterMatchSkip()
    # Which rows a run can skip.
    selection: clauses.EventSelection = clauses.EventSelection.STRICT_CONTIGUITY
    # Which of the matches that begin with a row are output.
    output: clauses.MatchOutput = clauses.MatchOutput.PREFERRED
    # The negations: in which parts of a match no row is allowed to satisfy a condition.
    absences: tuple[AbsenceCondition, ...] = ()
    # Id of the variable whose condition must hold for the whole match. It is evaluated after the
    # last row has been mapped.
    closing_condition: int | None = None
    # Whether a match must fit into the window of its first row: see `Partitions.window_end`.
    has_window: bool = False
    # Set for a pattern of stages. The pattern itself then says which rows can be skipped, and the
    # condition on a row is evaluated before the row is mapped.
    stages: StageOptions | None = None
    # Which runs are output in addition to the matches.
    partial: clauses.PartialMatches | None = None
    # How often conditions on the run are evaluated in a partition at most; None for no limit.
    # Searches with event selection ignore the limit.
    max_steps: int | None = None
    # Whether matches that share rows can be returned as chains: see `matches.Chains`. Strategies
    # that do not build chains ignore this.
    wants_chains: bool = False
    # Aggregates over all matches. If set, no match is output.
    totals: TaskTotals | None = None
    # At most this many matches of a partition are output, those with the lowest numbers; None for
    # all.
    max_matches: int | None = None

    def __hash__(self) -> int:
        """Hash the parts that tell most tasks apart; `members` is a dict and has no hash."""
        return hash((self.pattern, self.conditions, self.after_match, self.output))

    @property
    def variables(self) -> tuple[str, ...]:
        """Return the names of the variables, by id."""
        return self.pattern.program.variables

    @property
    def needs_event_selection(self) -> bool:
        """Return whether the task needs a search with event selection.

        A task without event selection asks for at most one match of each starting row, whose rows
        are consecutive, and has neither negations nor a closing condition.
        """
        return clauses.needs_event_selection(
            self.selection, self.output, self.absences, self.closing_condition
        )

    @property
    def skip(self) -> Skip | None:
        """Return the skip strategy of a pattern of stages; None if it leaves out no match."""
        return None if self.stages is None else self.stages.skip

    @property
    def states_after_skip(self) -> tuple[int | None, ...]:
        """Return, for each state, the state in which a run waits after it skips a row.

        The entry is None for a state in which no row can be skipped.
        """
        folding = self.pattern.folding
        if self.stages is not None:
            return folding.states_after_skip
        is_strict = self.selection is clauses.EventSelection.STRICT_CONTIGUITY
        return tuple(None if is_strict else state for state in range(len(folding.choices)))

    @property
    def reads_only_data(self) -> bool:
        """Return whether no condition depends on the run."""
        return all(condition.run_condition is None for condition in self.conditions)

    def find_python_expressions(self) -> Iterator[PythonExpression]:
        """Yield the parts of conditions on the run that Python computes."""
        for condition in self.conditions:
            if condition.run_condition is not None:
                for part in walk_expression(condition.run_condition):
                    if isinstance(part, PythonExpression):
                        yield part

    @property
    def can_share_rows(self) -> bool:
        """Return whether overlapping matches can share their rows, and may have common rows.

        Matches can share rows if the way in which a match goes on from a row does not depend on its
        starting row. They may have common rows if two runs that begin with different rows can be
        in the same state at the same row.
        """
        is_preferred = self.output is clauses.MatchOutput.PREFERRED
        depends_on_start = (
            not self.reads_only_data
            or self.has_window
            or self.needs_event_selection
            or self.partial is not None
        )
        if not is_preferred or depends_on_start:
            return False
        return self.can_share_several_rows and self.pattern.has_shared_states

    @property
    def can_share_several_rows(self) -> bool:
        """Return whether two matches can have more than one row in common.

        If the search goes on at the last row of each match, two matches share at most this row. For
        example, AFTER MATCH SKIP TO LAST B does so for PATTERN (A+ B+).
        """
        match self.after_match.to:
            case clauses.SkipTo.PAST_LAST_ROW:
                return False
            case clauses.SkipTo.LAST:
                assert self.after_match.variable is not None
                return not self.pattern.follow_sets.last <= self.members[self.after_match.variable]
        return True


# The most bytes that one array of all live runs, or the matches that one row completes, are allowed
# to take in a stream.
MAX_STREAM_BYTES = 1 << 27


@dataclass(frozen=True, slots=True)
class Capacity:
    """The limits on what a search is allowed to hold in memory."""

    # The most mapped rows in one `Matches`.
    mapped_rows: int = 1 << 20
    # The most matches in one `Matches`.
    matches: int = 1 << 18
    # The number of rows for which the working arrays have room at first, a power of two. They grow
    # as needed.
    initial_rows: int = 1 << 10
    # The most bytes that an array of a search over a stream is allowed to take: see
    # `memory.can_take`. None if the search is not over a stream.
    max_bytes: int | None = None

    def limit_output(self, largest: Capacity) -> Capacity:
        """Return the capacity with at most as many mapped rows and matches as `largest`."""
        return replace(
            self,
            mapped_rows=min(self.mapped_rows, largest.mapped_rows),
            matches=min(self.matches, largest.matches),
        )
