"""A rule set as text: what Spark computes for all rules together, then each rule by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from textwrap import indent

from matchrec.compile.draft import Draft
from matchrec.compile.executable import Executable
from matchrec.compile.rule_set import RuleSet
from matchrec.conditions.row_column import RowColumn, show_column
from matchrec.dataclass import dataclass
from matchrec.explanation.clause import ExplainedClause, partition_lines
from matchrec.plan.match_plan import MatchPlan

KEPT = (
    "kept of each partition in one state: rows that the watermark has not passed, the rows that",
    "some rule looks at again, each once, and how far the search of each rule is",
)


@dataclass(frozen=True)
class ExplainedRules:
    """A rule set. drafts, executables: of each rule by itself, by name.

    sorts: who sorts the rows, empty of a stream, whose rows come little by little.
    """

    rule_set: RuleSet
    drafts: Mapping[str, Draft]
    executables: Mapping[str, Executable]
    sorts: str

    def __str__(self) -> str:
        written = ((title, "\n".join(lines)) for title, lines in self._shared())
        shared = (f"{title}\n{indent(text, '  ')}" for title, text in written)
        return "\n".join((*shared, *self._rules()))

    def _shared(self) -> Iterator[tuple[str, Iterator[str]]]:
        first = next(iter(self.drafts.values())).plan
        plan = MatchPlan(first.pattern, first.partition_by, first.order_by)
        sorts = (f"sorted by {self.sorts}",) if self.sorts else ()
        yield "partitions and order of all rules", chain(partition_lines(plan, ()), sorts)
        yield "computed by Spark before the match, once for all rules", self._columns()
        if not self.sorts:
            yield "stream, once for all rules", iter(KEPT)

    def _columns(self) -> Iterator[str]:
        rules = self.rule_set
        for number, column in enumerate(rules.columns):
            yield f"c{number} = {show_column(column)}{self._users(column)}"
        early, late = rules.conditions
        for number, condition in enumerate((*early, *late)):
            when = ", before the sort" if number < len(early) else ", after it"
            said = when if self.sorts else ""
            yield f"bit {number} = {show_column(condition)}{said}{self._users(condition)}"
        if self.sorts:
            yield "the workers hold each partition as a whole, and search it rule after rule"
        if rules.relevant:
            tests = " or ".join(map(show_column, rules.relevant))
            yield f"only of rows with {tests}: without all others the matches are the same"

    def _users(self, column: RowColumn) -> str:
        users = self.rule_set.users(column)
        return f", for {', '.join(users)}" if users else ""

    def _rules(self) -> Iterator[str]:
        for name, executable in self.executables.items():
            own = replace(executable, relevant=())  # rows stay behind for all rules or for none
            drafted = self.drafts[name]
            clause = ExplainedClause(
                drafted.plan, own, is_stream=not self.sorts, written=drafted.written
            )
            yield f"\nrule {name}\n{indent(str(clause), '  ')}"
