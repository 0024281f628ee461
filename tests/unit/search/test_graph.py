"""The graph of all matches is the buffer of the paper, and versions lead to every match."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from matchrec.conditions.run_condition import Reduction
from matchrec.plan.clauses import EventSelection, MatchOutput
from matchrec.plan.pattern import Quantified, RowPattern, Variable, make_concatenation
from matchrec.search.matches import Matches
from matchrec.search.strategies import SearchAlgorithm
from matchrec.search.task import Capacity
from matchrec.spark.after.graphs import list_paths
from tests.properties.test_selection import STOCK, make_rising_query
from tests.quick.scale import examples
from tests.references.event_selection import SelectionQuery
from tests.tasks.contiguous import Rows, search
from tests.tasks.selection import WindowedRows, build_task, run_algorithm

CAPACITY = Capacity()


@dataclass(frozen=True)
class Pointer:
    """A row of the graph, without its event."""

    state: str
    row: int
    version: tuple[int, ...]
    previous_state: str | None
    previous_row: int | None
    completes: bool


def find_pointers(
    query: SelectionQuery, rows: WindowedRows, capacity: Capacity = CAPACITY
) -> list[list[Pointer]]:
    """Return the pointers of each partition; rows are numbered over all partitions."""
    task = build_task(replace(query, output=MatchOutput.GRAPH))
    partitions = rows.partitions(query.variables)
    (matches,) = search(SearchAlgorithm("breadth_first", capacity), task, partitions)
    all_pointers = list(list_pointers(matches, query.variables))
    count = len(partitions.starts) - 1
    return [
        [
            pointer
            for pointer, index in zip(all_pointers, matches.partition, strict=True)
            if index == partition
        ]
        for partition in range(count)
    ]


def list_pointers(matches: Matches, names: tuple[str, ...]) -> list[Pointer]:
    """Return the pointers of the graph, with the names of states."""
    assert matches.pointers is not None
    assert matches.rows is not None
    entries = [
        (names[state], int(row))
        for state, row in zip(matches.classifiers, matches.rows, strict=True)
    ]
    before = matches.pointers.previous_pointers
    offsets = matches.pointers.offsets
    return [
        Pointer(
            *entry,
            tuple(matches.pointers.digits[offsets[i] : offsets[i + 1]].tolist()),
            *(entries[before[i]] if before[i] >= 0 else (None, None)),
            bool(matches.pointers.completes[i]),
        )
        for i, entry in enumerate(entries)
    ]


# The table of "Example (merged buffer of R1, R2, R3)": e1 to e8 are rows 0 to 7, A, C and B are the
# stacks a[1], a[i] and b.
TABLE = """
e1 A 1
e3 A 2
e2 C 1.0 e1 A
e3 C 1.0 e2 C
e4 C 1.0 e3 C
e5 C 1.0 e4 C
e4 C 2.0 e3 A
e6 B 1.0.0 e5 C
e6 B 2.0.0 e4 C
e6 C 1.1 e5 C
e7 C 1.1 e6 C
e8 B 1.1.0 e7 C
"""


def test_the_graph_is_the_merged_buffer_of_the_paper() -> None:
    (pointers,) = find_pointers(make_rising_query(Reduction.AVG), STOCK)
    lines = []
    for pointer in pointers:
        version = ".".join(map(str, pointer.version))
        line = f"e{pointer.row + 1} {pointer.state} {version}"
        if pointer.previous_row is not None:
            line += f" e{pointer.previous_row + 1} {pointer.previous_state}"
        lines.append(line)
    assert sorted(lines) == sorted(TABLE.split("\n")[1:-1])


@st.composite
def linear_cases(draw: st.DrawFn) -> tuple[SelectionQuery, WindowedRows]:
    """Draw a sequence of components, some of them a Kleene plus, and partitions of a few rows."""
    parts: list[RowPattern] = []
    names = []
    for number, kleene in enumerate(draw(st.lists(st.booleans(), min_size=1, max_size=4))):
        names.append(chr(ord("A") + 2 * number))
        parts.append(Variable(names[-1]))
        if kleene:
            names.append(chr(ord("B") + 2 * number))
            parts.append(Quantified(Variable(names[-1]), 0, None))
    row = st.frozensets(st.sampled_from(names))
    partition = st.lists(row, min_size=1, max_size=8).map(tuple)
    words = draw(st.lists(partition, min_size=1, max_size=3).map(tuple))
    query = SelectionQuery(make_concatenation(parts), draw(st.sampled_from(EventSelection)))
    return query, WindowedRows(Rows(words))


@settings(max_examples=examples(100), deadline=None, database=None)
@given(
    linear_cases(), st.sampled_from([CAPACITY, Capacity(mapped_rows=3, matches=2, initial_rows=1)])
)
def test_every_match_is_unwound_by_version(
    case: tuple[SelectionQuery, WindowedRows], capacity: Capacity
) -> None:
    query, rows = case
    unwound = [
        tuple((pointers[index].row, pointers[index].state) for index in path)
        for pointers in find_pointers(query, rows, capacity)
        for path in list_paths(pointers)
    ]
    expected = run_algorithm(SearchAlgorithm("breadth_first"), query, rows)
    assert sorted(unwound) == sorted(mapped for _, _, _, mapped in expected)
