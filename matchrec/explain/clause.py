"""`ExplainedClause`: how one clause runs, as sections in the order in which a query runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from matchrec.automaton.dot import draw_dot
from matchrec.compile.compiled_query import CompiledQuery, SorterChoice
from matchrec.explain.formulas import write_formulas
from matchrec.explain.layout import ExplainedSection, join_sections, limit_lines
from matchrec.explain.nondeterminism import describe_nondeterminism
from matchrec.explain.pictures.html import (
    wrap_in_details,
    wrap_in_scroll_block,
    write_paragraph,
    write_preformatted,
)
from matchrec.explain.restrictions import describe_absences, describe_selection, describe_windows
from matchrec.explain.run_values import describe_registers
from matchrec.explain.sections import (
    describe_algorithm,
    describe_conditions,
    describe_nearby_conditions,
    describe_needed_partitions,
    describe_output_columns,
    describe_output_rows,
    describe_partitions,
    describe_stream,
    describe_totals,
    describe_work_before,
)
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.show import show_scalar
from matchrec.public_names import public


@public
@dataclass(frozen=True, repr=False, match_args=False)
class ExplainedClause:
    """The explanation of one clause, or of one SASE+ query or Pattern.

    It is one of `Explanation.clauses`, and prints as text. A notebook shows it as a picture.

    >>> clause = "ORDER BY id MEASURES COUNT(*) AS n PATTERN (A B+)"
    >>> explained = matchrec.query(spark.range(3), clause).explain()
    >>> explained.clauses[1].summary
    'A B+ (backtracking, memoised)'
    """

    # Private to users. Only the modules that make an explanation pass these fields and call the
    # private methods.
    # The plan as it runs.
    _plan: MatchPlan
    # The compiled clause. A rule has no row filters here: they belong to the whole rule set.
    _compiled_query: CompiledQuery
    # Tests of partition columns in the query around the clause, as SQL. Partitions that fail one
    # are not searched.
    _key_filters: tuple[str, ...] = ()
    # The warnings about the clause, each with its location.
    _warnings: tuple[str, ...] = ()
    # Whether the clause runs over a stream.
    _is_stream: bool = False
    # The plan that pictures show, see `ResolvedQuery`; None if it is `_plan`.
    _resolved_plan: MatchPlan | None = None
    # The sorter of the rows; None for a stream, and for a rule of a rule set.
    _sorter: SorterChoice | None = None
    # The reason why the search builds matches although only aggregates over all matches are needed.
    # None if it builds none, or if matches are needed.
    _reason_for_building_matches: str | None = None
    # A line that says whether large partitions are cut into ranges; empty if there is none.
    _ranges: str = ""

    def __repr__(self) -> str:
        """Return the summary."""
        return f"<ExplainedClause: {self.summary}>"

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    @property
    def summary(self) -> str:
        """The row pattern and the search for it, in one line."""
        compiled_query = self._compiled_query
        strategy = compiled_query.strategy
        search = f"{strategy.algorithm}, {strategy.make_name(compiled_query.task)}"
        return f"{compiled_query.pattern_text} ({search})"

    @property
    def text(self) -> str:
        """The text that `print` shows: all sections that have lines, with their titles."""
        return join_sections(self._list_sections())

    def svg(self) -> str:
        """Return a railroad diagram of the row pattern, or of the stages.

        >>> large = matchrec.Pattern.begin("large").where("id > 1")
        >>> explained = matchrec.query(spark.range(3), large, order_by="id").explain()
        >>> print(explained.clauses[1].svg())
        <svg ...
        """
        from matchrec.explain.pictures.diagrams import draw_row_pattern, draw_stages

        plan = self._resolved_plan or self._plan
        conditions = {
            definition.variable: show_scalar(definition.condition)
            for definition in plan.definitions
        }
        if plan.staging is not None:
            return draw_stages(plan.staging.steps, conditions)
        return draw_row_pattern(plan.pattern, conditions)

    def dot(self) -> str:
        """Return the automaton in Graphviz's language.

        >>> large = matchrec.Pattern.begin("large").where("id > 1")
        >>> explained = matchrec.query(spark.range(3), large, order_by="id").explain()
        >>> print(explained.clauses[1].dot())
        digraph ...
        """
        task = self._compiled_query.task
        return draw_dot(task.pattern.program, write_formulas(self._plan, task))

    def _repr_html_(self) -> str:
        """Return the row pattern as a picture, then the text, folded up until one clicks on it."""
        blocks = [
            *self._list_picture_blocks(),
            wrap_in_details("all steps", write_preformatted(str(self))),
        ]
        return "".join(blocks)

    def _list_picture_blocks(self) -> list[str]:
        """Return the row pattern as a picture and the event selection, as blocks of HTML."""
        selection = [write_paragraph(line) for line in describe_selection(self._plan)]
        return [wrap_in_scroll_block(self.svg()), *selection]

    def _list_sections(self) -> list[ExplainedSection]:
        """Return all sections, in the order in which a query runs. Some of them have no lines."""
        plan, compiled_query = self._plan, self._compiled_query
        return [
            ExplainedSection("row pattern", [compiled_query.pattern_text]),
            ExplainedSection("partitions and order", self._describe_input()),
            ExplainedSection("event selection", describe_selection(plan)),
            ExplainedSection("window", describe_windows(plan)),
            ExplainedSection("negation and conditions on the whole match", describe_absences(plan)),
            ExplainedSection(
                "computed by the engine before the search", describe_work_before(compiled_query)
            ),
            ExplainedSection(
                "computed by the workers before the search",
                describe_nearby_conditions(compiled_query),
            ),
            ExplainedSection("conditions", describe_conditions(plan, compiled_query)),
            ExplainedSection(
                "states of the search (each tries its lines from top to bottom)",
                self._describe_program(),
            ),
            ExplainedSection(
                "values that a run keeps, and the states that need them",
                describe_registers(compiled_query),
            ),
            ExplainedSection(
                "states with several ways to go on", describe_nondeterminism(compiled_query)
            ),
            ExplainedSection("algorithm", describe_algorithm(compiled_query)),
            ExplainedSection("stream", describe_stream(compiled_query) if self._is_stream else ()),
            ExplainedSection(
                "aggregates over all matches",
                describe_totals(plan, compiled_query, self._reason_for_building_matches),
            ),
            ExplainedSection("output rows", describe_output_rows(plan)),
            ExplainedSection(
                "computed by the engine after the search", describe_output_columns(compiled_query)
            ),
            ExplainedSection("warnings", self._warnings),
        ]

    def _describe_input(self) -> Iterator[str]:
        """Yield lines about the partitions: their keys and order, and which ones are searched."""
        yield from describe_partitions(self._plan, self._key_filters, self._sorter)
        if self._ranges:
            yield self._ranges
        yield from describe_needed_partitions(self._compiled_query, self._sorter)

    def _describe_program(self) -> Iterator[str]:
        """Yield the first states of the program, each with its edges."""
        program = self._compiled_query.task.pattern.program
        formulas = write_formulas(self._plan, self._compiled_query.task)
        states = (program.describe_state(state, formulas) for state in range(len(program.states)))
        return limit_lines(states, "more states; dot() of the explanation has all of them")
