"""The compressed form: what a plan asks for when the graph of all matches comes out.

Each pointer stands as a match of one row, so its event and its state are read as any measure is.
"""

from __future__ import annotations

from dataclasses import replace

from matchrec.plan.clauses import MatchOutput, Measure
from matchrec.plan.expression import Classifier, ColumnReference, Navigation, Semantics, Term
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.pattern import variable_names
from matchrec.source import Span


def as_graph(plan: MatchPlan) -> MatchPlan:
    """The plan with the columns of a graph, all that divides partitions among them."""
    if plan.output is not MatchOutput.GRAPH:
        return plan
    here, nowhere = Navigation(semantics=Semantics.FINAL), Span(0, 0)
    state = Term((Classifier(here),), nowhere)
    event = Term((ColumnReference(here, "struct(*)"),), nowhere)
    measures = (Measure("state", state), Measure("event", event))
    return replace(plan, partition_by=plan.keys, equal=(), measures=measures)


def states_of_variables(plan: MatchPlan) -> dict[str, list[str]]:
    """For each variable of a query the states whose events are its own, in the pattern's order."""
    unions = {member: subset for subset in plan.subsets for member in subset.members}
    found: dict[str, list[str]] = {}
    for state in variable_names(plan.pattern):
        found.setdefault(unions[state].name if state in unions else state, []).append(state)
    return found
