"""A resolved plan, split: what Spark computes of conditions, before types are known."""

from __future__ import annotations

from dataclasses import dataclass

from matchrec.compile.columns import key_columns, output_row_columns, step_columns
from matchrec.conditions.residual import SplitCondition
from matchrec.conditions.row_column import Neighbours, RowColumn
from matchrec.conditions.split import split
from matchrec.conditions.within import near_columns, window_columns
from matchrec.output.schema import OutputColumn
from matchrec.plan.match_plan import MatchPlan
from matchrec.pruning.irrelevant_rows import relevant_rows
from matchrec.pruning.neighbours import neighbours


@dataclass(frozen=True, slots=True)
class Draft:
    """A resolved plan, split, before the types of its columns are known.

    relevant, neighbours: as in `Executable`.
    """

    plan: MatchPlan
    conditions: tuple[SplitCondition, ...]
    outputs: tuple[OutputColumn, ...]
    relevant: tuple[RowColumn, ...]
    neighbours: tuple[Neighbours, ...]

    @property
    def row_conditions(self) -> tuple[RowColumn, ...]:
        """The conditions that Spark evaluates before the match, each once."""
        return row_conditions(self.conditions)

    def columns(self) -> tuple[RowColumn, ...]:
        """Every column whose type the link needs, each once."""
        found: dict[RowColumn, None] = {}
        for output in self.outputs:
            found.update(dict.fromkeys(output_row_columns(output)))
        for condition in self.conditions:
            if condition.during is not None:
                found.update(dict.fromkeys(step_columns(condition.during)))
        found.update(dict.fromkeys((*window_columns(self.plan), *near_columns(self.plan))))
        found.update(dict.fromkeys(key_columns(self.plan)))
        return tuple(found)


def draft(plan: MatchPlan, outputs: tuple[OutputColumn, ...]) -> Draft:
    """Splits the conditions of a resolved plan."""
    conditions = split(plan)
    relevant = relevant_rows(plan, conditions)
    bits = row_conditions(conditions)
    beside = () if relevant else neighbours(plan, conditions, bits)
    return Draft(plan, conditions, outputs, relevant, beside)


def row_conditions(conditions: tuple[SplitCondition, ...]) -> tuple[RowColumn, ...]:
    """What Spark evaluates of conditions before the match, each once."""
    return tuple(dict.fromkeys(one.before for one in conditions if one.before is not None))
