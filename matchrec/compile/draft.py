"""A resolved plan, its row pattern compiled and its conditions split, before types are known."""

from __future__ import annotations

from dataclasses import replace

from matchrec.compile.columns import key_columns, output_row_columns, step_columns
from matchrec.conditions.residual import Nearby, SplitCondition
from matchrec.conditions.row_column import EVERYWHERE, Neighbours, RowColumn, show_column
from matchrec.conditions.split import Scope
from matchrec.conditions.within import gap_columns, near_columns, window_columns
from matchrec.dataclass import dataclass
from matchrec.engine.interface import Optimisations
from matchrec.nfa.compiled_pattern import CompiledPattern
from matchrec.output.schema import OutputColumn
from matchrec.plan.match_plan import MatchPlan
from matchrec.pruning.irrelevant_rows import find_relevance_tests
from matchrec.pruning.neighbours import find_neighbour_tests


@dataclass(frozen=True, slots=True)
class Draft:
    """A query before the types of its columns are known.

    optimisations: those of event selection. relevant, neighbours: as in `Executable`, once it is
    pruned. observed: truth values that are no variable's condition, Spark's or the worker's.
    asked: the plan as it was written, if `plan` has other windows. scope: of conditions that Spark
    computes.
    """

    plan: MatchPlan
    pattern: CompiledPattern
    conditions: tuple[SplitCondition, ...]
    outputs: tuple[OutputColumn, ...]
    optimisations: Optimisations
    relevant: tuple[RowColumn, ...] = ()
    neighbours: tuple[Neighbours, ...] = ()
    observed: tuple[RowColumn | Nearby, ...] = ()
    asked: MatchPlan | None = None
    scope: Scope = Scope.NEIGHBOURS

    @property
    def written(self) -> MatchPlan:
        """The plan as it was written."""
        return self.plan if self.asked is None else self.asked

    @property
    def row_conditions(self) -> tuple[RowColumn, ...]:
        """The truth values that Spark computes before the match, each once.

        Not that of a stage without a condition: other passes may ask a TRUE that was written.
        """
        conditions = (one.before for one in self.conditions if one.before is not None)
        if self.plan.staging is not None:
            conditions = (one for one in conditions if one != EVERYWHERE)
        observed = (one for one in self.observed if isinstance(one, RowColumn))
        return tuple(dict.fromkeys((*conditions, *observed)))

    def columns(self) -> tuple[RowColumn, ...]:
        """Every column whose type the link needs, each once."""
        found: dict[RowColumn, None] = {}
        for output in self.outputs:
            found.update(dict.fromkeys(output_row_columns(output)))
        for condition in self.conditions:
            if condition.during is not None:
                found.update(dict.fromkeys(step_columns(condition.during)))
            if condition.nearby is not None:
                found.update(dict.fromkeys(step_columns(condition.nearby.step)))
        for one in self.observed:
            if isinstance(one, Nearby):
                found.update(dict.fromkeys(step_columns(one.step)))
        for columns_of_ends in (window_columns, gap_columns, near_columns):
            found.update(dict.fromkeys(columns_of_ends(self.plan)))
        found.update(dict.fromkeys(key_columns(self.plan)))
        return tuple(found)

    @property
    def needs_spark(self) -> str | None:
        """Why Spark must sort the rows: what it computes of several of them; None if nothing."""
        columns = (*self.row_conditions, *self.columns())
        several = (show_column(one) for one in columns if not one.looks_at_one_row)
        first = next(several, None)
        return None if first is None else f"only Spark computes {first}, which is of several rows"

    def prune(self) -> Draft:
        """The same with the tests of rows that need not cross."""
        relevant = find_relevance_tests(self.plan, self.pattern, self.conditions)
        if relevant or self.scope is Scope.SORTED:
            return replace(self, relevant=relevant, neighbours=())
        tests = find_neighbour_tests(self.plan, self.pattern, self.conditions, self.row_conditions)
        return replace(self, relevant=(), neighbours=tests)

    def narrow(self, outputs: tuple[OutputColumn, ...]) -> Draft:
        """The same with these outputs only, so that more rows may be left out."""
        measures = tuple(one for one in self.plan.measures if one in outputs)
        plan, asked = (replace(one, measures=measures) for one in (self.plan, self.written))
        return replace(self, plan=plan, asked=asked, outputs=outputs).prune()
