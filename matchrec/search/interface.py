"""What an algorithm is asked and what it promises."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matchrec.automaton.compile import CompiledPattern
from matchrec.conditions.row_column import RowColumn
from matchrec.conditions.run_condition import Call, ReadValue, RunExpression, parts_of
from matchrec.plan import clauses

if TYPE_CHECKING:
    from matchrec.plan.stages import Skip


@dataclass(frozen=True, slots=True)
class Condition:
    """When a row may be mapped to a variable: both parts must be true; an absent part is true.

    row_condition: index of a row condition (a bit of `Partitions.satisfied`).
    run_condition: what depends on the run.
    """

    row_condition: int | None = None
    run_condition: RunExpression | None = None


@dataclass(frozen=True, slots=True)
class NearbyCondition:
    """A row condition that looks at rows at a fixed distance.

    expression: over the columns of run conditions; its navigations are physical ones from each row.
    row_condition: the one of Spark's that must hold as well, or None. column: what Spark would
    compute. bit: of `Partitions.satisfied`, in which it is noted. variable: the first one whose
    condition it is, for messages; of none, it itself.
    """

    expression: RunExpression
    row_condition: int | None
    column: RowColumn
    bit: int
    variable: str

    @property
    def offsets(self) -> Iterator[int]:
        for part in parts_of(self.expression):
            if isinstance(part, ReadValue) and part.navigation is not None:
                yield part.navigation.physical_offset


@dataclass(frozen=True, slots=True)
class Absent:
    """No row in a part of a match may satisfy the condition of `variable`, an id.

    after, before: ids of the variables whose last and first row enclose that part, both exclusive.
    after None: rows before the match whose window holds the match's last row. before None: rows
    after the match that are in its window.
    """

    variable: int
    after: frozenset[int] | None
    before: frozenset[int] | None


@dataclass(frozen=True, slots=True)
class Staged:
    """What a task over stages has besides its pattern: see `plan.stages.Staging`."""

    skip: Skip | None = None
    timeouts: bool = False


@dataclass(frozen=True, slots=True)
class Total:
    """An aggregate over all matches of a number or a row that is read in each of them.

    over: count, sum, min or max. inside: one of these, or first or last, of the rows of `members`.
    values: which of the columns it reads that are there for totals, None of a count of rows.
    floats: whether these are the bits of doubles.
    """

    over: str
    inside: str
    members: frozenset[int]
    values: int | None
    floats: bool

    @property
    def is_of_a_row(self) -> bool:
        return self.over in ("min", "max") and self.inside not in ("count", "sum")


@dataclass(frozen=True, slots=True)
class TaskTotals:
    """What is asked of all matches instead of the matches, and by what these are grouped."""

    asked: tuple[Total, ...]
    grouped: clauses.Grouping


@dataclass(frozen=True, slots=True)
class Task:
    """One compiled query, as an algorithm sees it.

    pattern: its row pattern, compiled. conditions: by variable id. members: variable ids of every
    union variable and of every primary one, by name. absent: what must not be. closing: the id
    whose condition must hold of a match as a whole, when its last row has been mapped. windowed:
    whether matches keep to windows, `Partitions.window_end`. stages: of a pattern of stages, which
    say themselves what may be skipped; conditions are then asked before a row is mapped. partial:
    which runs come out beside the matches. max_steps: how often conditions on the run may be asked
    in a partition, without event selection. chained: whether matches that share rows may come as
    chains of them, see `matches.Chains`; an algorithm need not do so. totals: what is added up over
    all matches, of which none comes out then. most_matches: how many come out of a partition, those
    with the least numbers; None for all. Picklable.
    """

    pattern: CompiledPattern
    conditions: tuple[Condition, ...]
    members: dict[str, frozenset[int]]
    after_match: clauses.AfterMatchSkip = clauses.AfterMatchSkip()
    selection: clauses.EventSelection = clauses.EventSelection.STRICT_CONTIGUITY
    output: clauses.MatchOutput = clauses.MatchOutput.PREFERRED
    absent: tuple[Absent, ...] = ()
    closing: int | None = None
    windowed: bool = False
    stages: Staged | None = None
    partial: clauses.PartialMatches | None = None
    max_steps: int | None = None
    chained: bool = False
    totals: TaskTotals | None = None
    most_matches: int | None = None

    def __hash__(self) -> int:
        return hash((self.pattern, self.conditions, self.after_match, self.output))

    @property
    def variables(self) -> tuple[str, ...]:
        return self.pattern.program.variables

    @property
    def selects(self) -> bool:
        """Whether more is asked for than one match of consecutive rows for each starting row."""
        return clauses.goes_beyond_preferred(self.selection, self.output, self.absent, self.closing)

    @property
    def skip(self) -> Skip | None:
        """The skip strategy of a pattern of stages, None where it leaves no match out."""
        return None if self.stages is None else self.stages.skip

    @property
    def waits(self) -> tuple[int | None, ...]:
        """By state that in which a run waits that skips a row, None where it may not."""
        folding = self.pattern.folding
        if self.stages is not None:
            return folding.waits
        strict = self.selection is clauses.EventSelection.STRICT_CONTIGUITY
        return tuple(None if strict else state for state in range(len(folding.choices)))

    @property
    def looks_only_at_data(self) -> bool:
        return all(condition.run_condition is None for condition in self.conditions)

    def calls(self) -> Iterator[Call]:
        for condition in self.conditions:
            if condition.run_condition is not None:
                parts = parts_of(condition.run_condition)
                yield from (part for part in parts if isinstance(part, Call))

    @property
    def shares_rows(self) -> bool:
        """Whether matches overlap, and how one goes on from a row does not depend on its start."""
        overlap = self.after_match.to is not clauses.SkipTo.PAST_LAST_ROW
        plain = self.output is clauses.MatchOutput.PREFERRED and self.looks_only_at_data
        return overlap and plain and not (self.windowed or self.selects or self.partial)


# Bytes: of one array of all live runs, or of the matches that one row completes.
MOST_IN_STREAM = 1 << 27


@dataclass(frozen=True, slots=True)
class Room:
    """How much a search may hold.

    rows, matches: mapped rows and matches in one `Matches`. memory: how many rows the memory of a
    search is for at first, a power of two; it grows as needed. most: bytes that an array of a
    search over a stream may take, see `memory.may_take`; None where all rows are there at once.
    """

    rows: int = 1 << 20
    matches: int = 1 << 18
    memory: int = 1 << 10
    most: int | None = None
