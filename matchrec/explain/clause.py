"""The sections of an explanation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from textwrap import indent

from typing_extensions import assert_never

from matchrec.compile.executable import Executable, Sorter
from matchrec.compile.negation import find_negation_tests
from matchrec.compile.pruning.irrelevant_rows import fails
from matchrec.conditions.row_column import show_column
from matchrec.conditions.run_condition import Aggregated, Apply, parts_of
from matchrec.explain.formulas import (
    absence_lines,
    conditions_of,
    few,
    formulas,
    nondeterminism_lines,
    selection_lines,
    vector_lines,
    window_lines,
)
from matchrec.output.measure_reader import AggregatePlace, SqlPiece
from matchrec.output.reads import ReadTotal
from matchrec.plan.clauses import ONE_OF_A_ROW
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import negations
from matchrec.plan.show import show_reference, show_scalar
from matchrec.plan.text import quoted
from matchrec.search.strategies import classify_time

# What is kept of each partition of a stream between two micro-batches.


def stream_lines(executable: Executable) -> Iterator[str]:
    yield "kept of each partition: rows that the watermark has not passed, and"
    if executable.task.selects:
        yield "the runs that have begun, with the rows that they lead to"
    else:
        before = executable.lookaround.before if executable.lookaround else 0
        beside = f", and {before} before it" * bool(before)
        yield f"the rows from the first undecided starting row on{beside}"
    yield bound_line(executable)


def bound_line(executable: Executable) -> str:
    longest = executable.task.pattern.longest
    if executable.window_rows is not None:
        return f"bounded by the window: a run ends after {executable.window_rows:,} rows"
    if executable.task.windowed:
        return "bounded by the window: a run ends when the watermark passes its end"
    if executable.is_bounded:
        return f"bounded by the length of a match: at most {longest:,} rows"
    return "without a bound: a run may wait for any number of rows"


@dataclass(frozen=True)
class ExplainedClause:
    """The explanation of one clause, or of one SASE+ query or Pattern."""

    plan: MatchPlan  # as it runs
    executable: Executable
    keys: tuple[str, ...] = ()  # tests of partition columns by the query around the clause
    warnings: tuple[str, ...] = ()  # what is probably not meant, with its place
    is_stream: bool = False
    written: MatchPlan | None = None  # the plan as the user wrote it; None if it is `plan`
    sorter: Sorter | None = None  # who sorts the rows; None for a stream, or if nobody asks
    built: str = ""  # why each match is built although only aggregates over all are needed
    ranges: str = ""  # whether partitions are cut into ranges, as a sentence

    def __str__(self) -> str:
        return titled(self.sections())

    def sections(self) -> Iterator[tuple[str, Iterator[str]]]:
        """Titles and lines, in the order of the stages; one without lines does not appear."""
        plan, executable = self.plan, self.executable
        program, written = executable.task.pattern.program, formulas(plan, executable.task)
        states = (program.text_of(state, written) for state in range(len(program.states)))
        yield "row pattern", iter((executable.pattern,))
        lines = partition_lines(plan, self.keys, self.sorter)
        needed = needed_lines(executable, self.sorter)
        ranges = (self.ranges,) if self.ranges else ()
        yield "partitions and order", chain(lines, ranges, needed)
        yield "event selection", selection_lines(plan)
        yield "window", window_lines(plan)
        yield "what must not be there, and what a whole match must be", absence_lines(plan)
        yield "computed by Spark before the match", before_lines(executable)
        yield "computed in the worker before the match", nearby_lines(executable)
        yield "conditions", condition_lines(plan, executable)
        more = "more states, all of which dot() of the explanation has"
        yield "program (NFA^b; edges in preferment order)", few(states, more)
        yield "value vector V, and where it is still needed (bitmask M)", vector_lines(executable)
        yield "nondeterminism", nondeterminism_lines(executable)
        yield "algorithm", algorithm_lines(executable)
        yield "stream", stream_lines(executable) if self.is_stream else iter(())
        yield "aggregates over all matches", total_lines(plan, executable, self.built)
        yield "rows", row_lines(plan)
        yield "computed by Spark after the match", after_lines(executable)
        yield "warnings", iter(self.warnings)

    @property
    def dot(self) -> str:
        """The program in Graphviz's language."""
        task = self.executable.task
        return task.pattern.program.dot(formulas(self.plan, task))

    @property
    def svg(self) -> str:
        """A railroad diagram of the row pattern, or of the stages."""
        from matchrec.explain.pictures.diagrams import draw_row_pattern, draw_stages

        plan = self.written or self.plan
        conditions = {one.variable: show_scalar(one.condition) for one in plan.definitions}
        if plan.staging is not None:
            return draw_stages(plan.staging.steps, conditions)
        return draw_row_pattern(plan.pattern, conditions)

    @property
    def summary(self) -> str:
        """The row pattern and what searches for it, in one line."""
        strategy, task = self.executable.strategy, self.executable.task
        return f"{self.executable.pattern} ({strategy.algorithm}, {strategy.name(task)})"


def titled(sections: Iterable[tuple[str, Iterable[str]]]) -> str:
    """Sections with their titles; one without lines does not appear."""
    written = ((title, "\n".join(lines)) for title, lines in sections)
    return "\n".join(f"{title}\n{indent(text, '  ')}" for title, text in written if text)


def numbered(clauses: Mapping[int, str]) -> str:
    """The texts of clauses by their numbers, of which a single one needs none."""
    if len(clauses) == 1:
        return next(iter(clauses.values()))
    texts = (f"clause {number}\n{indent(text, '  ')}" for number, text in clauses.items())
    return "\n\n".join(texts)


def partition_lines(
    plan: MatchPlan, tests: tuple[str, ...], sorter: Sorter | None
) -> Iterator[str]:
    """Yield how rows are divided and ordered, and who sorts them, if that is known."""
    written = ((key.text, key.name) for key in plan.partition_by)
    keys = ", ".join(f"{text} AS {quoted(name)}" if name else text for text, name in written)
    yield f"partition by {keys}" if keys else "all rows form one partition"
    if plan.equal:
        equal = ", ".join(part.text for part in plan.equal)
        yield f"divided by equivalence tests: equal {equal}, which is not NULL"
    if tests:
        yield f"only those that the query around the clause keeps: {' AND '.join(tests)}"
    orders = [
        item.expression.text
        + (" DESC" if item.descending else "")
        + ("" if item.nulls_first is None else f" NULLS {'FIRST' if item.nulls_first else 'LAST'}")
        for item in plan.order_by
    ]
    yield f"order by {', '.join(orders)}" if orders else "no order: the result may differ each time"
    if sorter is not None:
        yield f"sorted by {sorter}"


def needed_lines(executable: Executable, sorter: Sorter | None) -> Iterator[str]:
    """Yield which partitions the workers leave out before they sort."""
    if executable.needed and sorter is not None and sorter.is_worker:
        tests = (show_column(executable.conditions[one]) for one in executable.needed)
        yield f"left out before the sort: partitions without a row for {', or for '.join(tests)}"


def before_lines(executable: Executable) -> Iterator[str]:
    for place in executable.crossing.used:
        yield f"c{place} = {show_column(executable.crossing.columns[place])}"
    for bit in executable.used_bits:
        yield f"bit {bit} = {show_column(executable.conditions[bit])}"
    if not executable.crossing.used and not executable.used_bits:
        yield "nothing"
    if executable.relevant:
        bits = {condition: f"bit {index}" for index, condition in enumerate(executable.conditions)}
        bits |= {fails(one): f"not {bit}" for one, bit in bits.items() if one.looks_at_one_row}
        tests = " or ".join(bits[column] for column in executable.relevant)
        yield f"only of rows with {tests}: without all others the matches are the same"


def nearby_lines(executable: Executable) -> Iterator[str]:
    for condition in executable.nearby:
        also = "" if condition.row_condition is None else f"bit {condition.row_condition} AND "
        yield f"bit {condition.bit} = {also}{show_column(condition.column)}"


def condition_lines(plan: MatchPlan, executable: Executable) -> Iterator[str]:
    task = executable.task
    written = conditions_of(plan, (test.definition for test in find_negation_tests(plan)))
    for variable, condition in zip(task.variables, task.conditions, strict=True):
        if negations(plan.pattern) and variable in plan.forbidden:
            yield f"{variable}, which must not follow: {written.get(variable, 'true')}"
        elif plan.staging is None or variable in written:
            bit, run = condition.row_condition, condition.run_condition
            known = [] if bit is None else [f"bit {bit}"]
            known += [] if run is None else [f"on the run: {written[variable]}"]
            yield f"{variable.removeprefix(':')}: {', and '.join(known) or 'true'}"
    on = "data only" if task.looks_only_at_data else "run"
    yield f"they depend on the {on}"
    on_runs = [one.run_condition for one in task.conditions if one.run_condition]
    parts = (part for one in on_runs for part in parts_of(one))
    names = [part.name for part in parts if isinstance(part, Apply | Aggregated)]
    if names:
        shown = (name.removeprefix("TIME ").lower() for name in names)
        yield f"computed in Python, slower: {', '.join(dict.fromkeys(shown))}"


def algorithm_lines(executable: Executable) -> Iterator[str]:
    strategy = executable.strategy
    yield f"{strategy.algorithm}, {strategy.name(executable.task)}: {executable.reason}"
    if not executable.task.selects:
        yield f"time: {classify_time(executable.task, executable.strategy.algorithm)}"
    lookaround = executable.lookaround
    if lookaround is None:
        why = "event selection" if executable.task.selects else "runs that are no matches"
        yield f"memory: each partition as a whole, because of {why}"
        return
    beside = [f"{lookaround.before} before it"] * bool(lookaround.before)
    beside += [f"{lookaround.after} behind a match"] * bool(lookaround.after)
    seen = f", and rows that are looked at: {' and '.join(beside)}" if beside else ""
    yield f"memory: a partition from the first row on whose match is undecided{seen}"


def total_lines(plan: MatchPlan, executable: Executable, built: str) -> Iterator[str]:
    """What the search adds up in place of matches, or why it does not."""
    if built:
        yield f"by Spark: each match is built, because {built}"
    if plan.totals is not None:
        yield f"by the search, which builds no match: a row for {plan.totals.grouped.meaning}"
        columns = [show_column(column) for column in executable.crossing.columns]
        for read in executable.reads:
            if isinstance(read, ReadTotal):
                yield read.show(columns)


def row_lines(plan: MatchPlan) -> Iterator[str]:
    partial = f" {plan.partial.words}" if plan.partial else ""
    yield f"{plan.rows_per_match.value}{partial}"
    if plan.output in ONE_OF_A_ROW:
        yield plan.after_match.words


def after_lines(executable: Executable) -> Iterator[str]:
    columns = [show_column(column) for column in executable.crossing.columns]
    for output in executable.outputs:
        text = "".join(show_piece(piece, executable, columns) for piece in output.pieces)
        yield f"{output.name} = {text}"


def show_piece(piece: SqlPiece, executable: Executable, columns: list[str]) -> str:
    """A piece of text, or a read or an aggregate as one would write it."""
    match piece:
        case str():
            return piece
        case int():
            return executable.reads[piece].show(columns)
        case AggregatePlace(index):
            call = executable.aggregates[index].call
            return f"{call.semantics.value} {show_reference(call)} over the match's rows"
        case _:
            assert_never(piece)
