"""The query of a SASE+ text over events, which `match_sase` runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from typing_extensions import override

from matchrec.api.clause import Clause
from matchrec.api.evaluate import ClauseQuery, EvaluatedClauses, ParsedQuery
from matchrec.api.event_input import EventFrontEnd, Events
from matchrec.api.front_end import resolve_options
from matchrec.api.inputs import build_relation
from matchrec.api.parameters import reject_values_without_parameters
from matchrec.api.query import Query
from matchrec.arguments import NamedArguments, SaseOutput
from matchrec.errors.language import SASE
from matchrec.plan.clauses import MatchOutput
from matchrec.plan.match_plan import MatchPlan, build_graph_plan
from matchrec.source import Source
from matchrec.spark.after.graphs import mark_graph
from matchrec.spark.request import Options

if TYPE_CHECKING:
    from matchrec.dialects.writing.convert import Conversion

# The matches that a plan finds for each value of `output`, and their form.
SASE_OUTPUTS = {
    "matches": MatchOutput.ALL,
    "non_overlapping": MatchOutput.NON_OVERLAPPING,
    "graph": MatchOutput.GRAPH,
}


def build_sase_query(  # noqa: PLR0913 -- the arguments of `match_sase`
    events: Events,
    text: str,
    args: NamedArguments | None,
    type_column: str,
    output: SaseOutput,
    *,
    options: Options | None,
) -> Query:
    """Return the query of a SASE+ text, given the arguments of `match_sase`."""
    reject_values_without_parameters(text, args)
    front_end = SaseFrontEnd(
        events=events, text=text, args=args, type_column=type_column, output=output
    )
    return Query(
        text=text,
        language="SASE+",
        dialect="spark",
        options=resolve_options("match_sase", options),
        _front_end=front_end,
    )


@dataclass(frozen=True)
class SaseFrontEnd(EventFrontEnd):
    """A SASE+ text, its events and the other arguments of `match_sase`."""

    text: str
    args: NamedArguments | None
    type_column: str
    output: SaseOutput

    @override
    def parse(self, dialect: str, options: Options) -> ParsedQuery:
        """Return the query of the SASE+ text. SASE+ has no dialects, so `dialect` is ignored."""
        source = Source(self.text)
        plan = self.events.lower_sase(source, self.type_column, SASE_OUTPUTS[self.output])
        clause = Clause(
            plan=build_graph_plan(plan),
            relation=build_relation(self.events.df, self.args),
            options=options,
            source=source,
            language=SASE,
            # `why` and `coverage` explain all matches, whatever the output.
            explained_plan=replace(plan, output=MatchOutput.ALL),
        )
        if self.output == "graph":
            return GraphQuery(clause, written_plan=plan)
        return ClauseQuery(clause)

    @override
    def convert(self, dialect: str, write: str, events: str) -> Conversion:
        """Write the SASE+ text in the SQL of a product. `dialect` is ignored."""
        from matchrec.api.transpile import ConversionRequest, convert_query

        request = ConversionRequest(
            query=self.text,
            read="sase",
            write=write,
            events=events,
            order_by=self.events.order_by,
            partition_by=self.events.partition_by,
            type_column=self.type_column,
            output=self.output,
        )
        return convert_query(request)


@dataclass(frozen=True)
class GraphQuery(ClauseQuery):
    """A SASE+ query whose result is the graph of all matches."""

    # The plan of the user's text. The plan of the clause finds the pointers of the graph instead.
    written_plan: MatchPlan

    @override
    def build_result(self, clauses: EvaluatedClauses) -> DataFrame:
        """Return the graph with the metadata that `unwind_graph` needs."""
        return mark_graph(super().build_result(clauses), self.written_plan)
