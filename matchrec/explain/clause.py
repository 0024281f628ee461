"""Explain one clause: the sections of its explanation, in the order in which a query runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from typing_extensions import assert_never

from matchrec.automaton.compile import compile_pattern
from matchrec.automaton.dot import draw_dot
from matchrec.compile.compiled_query import CompiledQuery, Sorter
from matchrec.compile.negation import NegationTest, find_negation_tests
from matchrec.compile.pruning.irrelevant_rows import negate_test
from matchrec.conditions.row_column import show_column
from matchrec.conditions.run_condition import PythonAggregate, PythonCall, walk_expression
from matchrec.errors.wording import show_count
from matchrec.explain.condition_texts import show_conditions
from matchrec.explain.formulas import write_formulas
from matchrec.explain.layout import join_sections, limit_lines
from matchrec.explain.nondeterminism import describe_nondeterminism
from matchrec.explain.restrictions import describe_absences, describe_selection, describe_windows
from matchrec.explain.run_values import describe_registers
from matchrec.output.measure_sql import AggregateInSql, ReadInSql, SqlPiece
from matchrec.output.reads import ReadTotal
from matchrec.plan.clauses import ONE_MATCH_PER_START, RowExpression, SortItem
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import list_negations
from matchrec.plan.show import show_reference, show_scalar
from matchrec.plan.text import quote_name
from matchrec.plan.totals import MATCH_NAME, is_name_of_totals
from matchrec.search.strategies import classify_time

# The rows that a search keeps in memory while it reads a partition in chunks.
UNFINISHED_ROWS = "the rows that the search has not finished with"


def describe_stream(compiled_query: CompiledQuery) -> Iterator[str]:
    """Yield lines about the state of a stream: what it keeps between two micro-batches.

    The last line says what bounds the number of rows that it keeps of a partition.
    """
    yield "state of each partition: the rows that the watermark has not passed, and"
    if compiled_query.task.needs_event_selection:
        yield "the unfinished runs with their rows"
    else:
        before = compiled_query.lookaround.before if compiled_query.lookaround else 0
        rows_before = f", and {show_count(before, 'row')} before them" if before else ""
        yield f"{UNFINISHED_ROWS}{rows_before}"
    yield describe_row_bound(compiled_query)


def describe_row_bound(compiled_query: CompiledQuery) -> str:
    """Return what bounds the number of rows that a stream keeps."""
    longest = compiled_query.task.pattern.longest
    if compiled_query.window_rows is not None:
        return f"bounded by the window: a run ends after {compiled_query.window_rows:,} rows"
    if compiled_query.task.has_window:
        return "bounded by the window: a run ends when the watermark passes its end"
    if compiled_query.is_bounded:
        return f"bounded by the length of a match: at most {longest:,} rows"
    return "unbounded: a run can wait for any number of rows"


@dataclass(frozen=True)
class ExplainedClause:
    """The explanation of one clause, or of one SASE+ query or Pattern.

    It is one of `Explanation.clauses`, and prints as text. `svg` is its railroad diagram and `dot`
    its automaton, as texts. `summary` is the row pattern and the search for it in one line.

    >>> explained = matchrec.query(spark.range(3), "ORDER BY id PATTERN (A B+)").explain()
    >>> explained.clauses[0].summary
    'A B+ (backtracking, memoised)'
    """

    # The plan as it runs.
    plan: MatchPlan
    # The compiled clause.
    compiled_query: CompiledQuery
    # Tests of partition columns in the query around the clause, as SQL. Partitions that fail one
    # are not searched.
    keys: tuple[str, ...] = ()
    # The warnings about the clause, each with its location.
    warnings: tuple[str, ...] = ()
    # Whether the clause runs over a stream.
    is_stream: bool = False
    # The plan as the user wrote it; None if it is `plan`.
    written_plan: MatchPlan | None = None
    # Who sorts the rows; None for a stream, and for a rule of a rule set.
    sorter: Sorter | None = None
    # Why each match is built although only aggregates over all matches are needed. None if no
    # match is built, or if matches are needed.
    reason_for_building_matches: str | None = None
    # A sentence about whether partitions are cut into ranges.
    ranges: str = ""

    def __str__(self) -> str:
        """Return all sections that have lines, with their titles."""
        return join_sections(self.describe_sections())

    def describe_sections(self) -> Iterator[tuple[str, Iterator[str]]]:
        """Yield the title and the lines of each section, in the order in which a query runs."""
        plan, compiled_query = self.plan, self.compiled_query
        program = compiled_query.task.pattern.program
        edge_formulas = write_formulas(plan, compiled_query.task)
        states = (
            program.describe_state(state, edge_formulas) for state in range(len(program.states))
        )
        yield "row pattern", iter((compiled_query.pattern,))
        yield (
            "partitions and order",
            chain(
                describe_partitions(plan, self.keys, self.sorter),
                (self.ranges,) if self.ranges else (),
                describe_needed_partitions(compiled_query, self.sorter),
            ),
        )
        yield "event selection", describe_selection(plan)
        yield "window", describe_windows(plan)
        yield "negation and conditions on the whole match", describe_absences(plan)
        yield "computed by the engine before the search", describe_work_before(compiled_query)
        yield (
            "computed by the workers before the search",
            describe_nearby_conditions(compiled_query),
        )
        yield "conditions", describe_conditions(plan, compiled_query)
        advice = "more states; dot() of the explanation has all of them"
        yield "program (NFA^b; edges in preferment order)", limit_lines(states, advice)
        yield (
            "value vector V of a run, and what each state needs (bitmask M)",
            describe_registers(compiled_query),
        )
        yield "nondeterminism", describe_nondeterminism(compiled_query)
        yield "algorithm", describe_algorithm(compiled_query)
        yield "stream", describe_stream(compiled_query) if self.is_stream else iter(())
        yield (
            "aggregates over all matches",
            describe_totals(plan, compiled_query, self.reason_for_building_matches),
        )
        yield "output rows", describe_output_rows(plan)
        yield "computed by the engine after the search", describe_output_columns(compiled_query)
        yield "warnings", iter(self.warnings)

    @property
    def dot(self) -> str:
        """The program in Graphviz's language."""
        task = self.compiled_query.task
        return draw_dot(task.pattern.program, write_formulas(self.plan, task))

    @property
    def svg(self) -> str:
        """A railroad diagram of the row pattern, or of the stages."""
        from matchrec.explain.pictures.diagrams import draw_row_pattern, draw_stages

        plan = self.written_plan or self.plan
        conditions = {
            definition.variable: show_scalar(definition.condition)
            for definition in plan.definitions
        }
        if plan.staging is not None:
            return draw_stages(plan.staging.steps, conditions)
        return draw_row_pattern(plan.pattern, conditions)

    @property
    def summary(self) -> str:
        """The row pattern and the search for it, in one line."""
        strategy, task = self.compiled_query.strategy, self.compiled_query.task
        return f"{self.compiled_query.pattern} ({strategy.algorithm}, {strategy.name(task)})"


def describe_partitions(
    plan: MatchPlan, key_filters: tuple[str, ...], sorter: Sorter | None
) -> Iterator[str]:
    """Yield lines about how rows are divided and ordered, and about who sorts them.

    Args:
        plan: the plan.
        key_filters: see `ExplainedClause.keys`.
        sorter: who sorts the rows; None for a stream.
    """
    keys = ", ".join(show_partition_key(key) for key in plan.partition_by)
    yield f"partition by {keys}" if keys else "all rows form one partition"
    if plan.equivalence_keys:
        texts = ", ".join(expression.text for expression in plan.equivalence_keys)
        yield f"equivalence tests: all rows of a match have the same non-NULL {texts}"
    if key_filters:
        tests = " AND ".join(key_filters)
        yield f"only partitions with {tests}, which the outer query requires"
    orders = ", ".join(show_sort_item(item) for item in plan.order_by)
    yield f"order by {orders}" if orders else "no ORDER BY: the result can differ from run to run"
    if sorter is not None:
        yield f"sorted by {sorter}"


def show_partition_key(key: RowExpression) -> str:
    """Return a key of PARTITION BY as it is written in a query."""
    return f"{key.text} AS {quote_name(key.name)}" if key.name else key.text


def show_sort_item(item: SortItem) -> str:
    """Return an item of ORDER BY as it is written in a query."""
    text = item.expression.text
    if item.descending:
        text += " DESC"
    if item.nulls_first is not None:
        text += " NULLS FIRST" if item.nulls_first else " NULLS LAST"
    return text


def describe_needed_partitions(
    compiled_query: CompiledQuery, sorter: Sorter | None
) -> Iterator[str]:
    """Yield a line about the partitions that the workers drop before they sort."""
    if compiled_query.needed and sorter is not None and sorter.is_worker:
        tests = (show_column(compiled_query.row_conditions[bit]) for bit in compiled_query.needed)
        conditions = ", or without a row for ".join(tests)
        yield f"skipped before the sort: partitions without a row for {conditions}"


def describe_work_before(compiled_query: CompiledQuery) -> Iterator[str]:
    """Yield the columns and conditions that the engine computes, and which rows it sends."""
    for index in compiled_query.sent_columns.used:
        yield f"c{index} = {show_column(compiled_query.sent_columns.columns[index])}"
    for bit in compiled_query.used_bits:
        yield f"bit {bit} = {show_column(compiled_query.row_conditions[bit])}"
    if not compiled_query.sent_columns.used and not compiled_query.used_bits:
        yield "nothing"
    if compiled_query.row_filters:
        names = {}
        for bit, condition in enumerate(compiled_query.row_conditions):
            names[condition] = f"bit {bit}"
        # A filter is a condition that is also sent as a bit, or the negation of one.
        for bit, condition in enumerate(compiled_query.row_conditions):
            if condition.reads_one_row:
                names[negate_test(condition)] = f"not bit {bit}"
        tests = " or ".join(names[column] for column in compiled_query.row_filters)
        yield f"only rows with {tests} are sent to the workers: no other row can change a match"


def describe_nearby_conditions(compiled_query: CompiledQuery) -> Iterator[str]:
    """Yield the conditions on neighbouring rows that the workers compute."""
    for condition in compiled_query.nearby:
        row_test = "" if condition.row_condition is None else f"bit {condition.row_condition} AND "
        yield f"bit {condition.bit} = {row_test}{show_column(condition.column)}"


def describe_conditions(plan: MatchPlan, compiled_query: CompiledQuery) -> Iterator[str]:
    """Yield how the condition of each variable is tested, then what the conditions depend on."""
    task = compiled_query.task
    negation_tests: tuple[NegationTest, ...] = ()
    if list_negations(plan.pattern):
        # The compiled query has tests instead of NOTs. It cannot tell which test belongs to which
        # NOT.
        negation_tests = find_negation_tests(plan, compile_pattern(plan))
    texts = show_conditions(plan, (test.definition for test in negation_tests))
    for variable, condition in zip(task.variables, task.conditions, strict=True):
        if list_negations(plan.pattern) and variable in plan.forbidden:
            yield f"{variable} (must not follow): {texts.get(variable, 'true')}"
        elif plan.staging is None or variable in texts:
            tests = []
            if condition.row_condition is not None:
                tests.append(f"bit {condition.row_condition}")
            if condition.run_condition is not None:
                tests.append(f"during the search: {texts[variable]}")
            yield f"{variable.removeprefix(':')}: {', and '.join(tests) or 'true'}"
    source = "data only" if task.reads_only_data else "run"
    yield f"the conditions depend on the {source}"
    yield from describe_python_functions(compiled_query)


def describe_python_functions(compiled_query: CompiledQuery) -> Iterator[str]:
    """Yield a line with the functions that Python computes during the search, if there are any."""
    names = [
        call.name
        for condition in compiled_query.task.conditions
        if condition.run_condition
        for call in walk_expression(condition.run_condition)
        if isinstance(call, PythonCall | PythonAggregate)
    ]
    if names:
        functions = dict.fromkeys(name.removeprefix("TIME ").lower() for name in names)
        yield f"computed in Python, which is slower: {', '.join(functions)}"


def describe_algorithm(compiled_query: CompiledQuery) -> Iterator[str]:
    """Yield lines about the algorithm: why it was chosen, and how much time and memory it needs."""
    strategy = compiled_query.strategy
    yield f"{strategy.algorithm}, {strategy.name(compiled_query.task)}: {compiled_query.reason}"
    if not compiled_query.task.needs_event_selection:
        yield f"time: {classify_time(compiled_query.task, compiled_query.strategy.algorithm)}"
    lookaround = compiled_query.lookaround
    if lookaround is None:
        reason = "unfinished runs are output"
        if compiled_query.task.needs_event_selection:
            reason = "event selection is used"
        yield f"memory: whole partitions, because {reason}"
        return
    rows_around = []
    if lookaround.before:
        rows_around.append(f"{show_count(lookaround.before, 'row')} before them")
    if lookaround.after:
        rows_around.append(f"{show_count(lookaround.after, 'row')} after a match")
    more = f", and {' and '.join(rows_around)}" if rows_around else ""
    yield f"memory: {UNFINISHED_ROWS}{more}"


def describe_totals(
    plan: MatchPlan, compiled_query: CompiledQuery, reason_for_building_matches: str | None
) -> Iterator[str]:
    """Yield the aggregates that the search computes instead of matches, or why it builds matches.

    Args:
        plan: the plan.
        compiled_query: the compiled query.
        reason_for_building_matches: see `ExplainedClause`.
    """
    if reason_for_building_matches is not None:
        yield f"computed by the engine from all matches, because {reason_for_building_matches}"
    if plan.totals is not None:
        rows = f"a row for {plan.totals.grouped.meaning}"
        yield f"computed by the search, which builds no matches: {rows}"
        columns = [show_column(column) for column in compiled_query.sent_columns.columns]
        for read in compiled_query.reads:
            if isinstance(read, ReadTotal):
                yield read.show(columns)


def describe_output_rows(plan: MatchPlan) -> Iterator[str]:
    """Yield which rows of a match are output, and where the search goes on after a match."""
    partial = f" {plan.partial.words}" if plan.partial else ""
    yield f"{plan.rows_per_match.value}{partial}"
    if plan.output in ONE_MATCH_PER_START:
        yield plan.after_match.words


def describe_output_columns(compiled_query: CompiledQuery) -> Iterator[str]:
    """Yield each output column, as SQL over what the workers return."""
    columns = [show_column(column) for column in compiled_query.sent_columns.columns]
    for output in compiled_query.outputs:
        text = "".join(show_piece(piece, compiled_query, columns) for piece in output.pieces)
        if output.name == MATCH_NAME:
            yield "a row for each match, which is only counted"
        else:
            yield text if is_name_of_totals(output.name) else f"{output.name} = {text}"


def show_piece(piece: SqlPiece, compiled_query: CompiledQuery, columns: list[str]) -> str:
    """Return a piece of an output column's SQL: text, or a read or aggregate as a query has it.

    Args:
        piece: the piece.
        compiled_query: the compiled query, which has the reads and aggregates.
        columns: the texts of the columns that Spark computes before the match.
    """
    match piece:
        case str():
            return piece
        case ReadInSql(index):
            return compiled_query.reads[index].show(columns)
        case AggregateInSql(index):
            call = compiled_query.aggregates[index].call
            return f"{call.semantics.value} {show_reference(call)} over the rows of the match"
        case _:
            assert_never(piece)
