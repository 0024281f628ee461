"""What a query compiles to: all of its clauses, as text and as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from textwrap import indent

from matchrec.arguments import TEXT, ArgumentKind, all_of, can, instance_of
from matchrec.compile.executable import Executable
from matchrec.compile.path import Draft
from matchrec.compile.rule_set import RuleSet
from matchrec.conditions.row_column import RowColumn, show_column
from matchrec.dataclass import dataclass
from matchrec.explanation.clause import ExplainedClause, partition_lines
from matchrec.explanation.formulas import selection_lines
from matchrec.pictures.html import folded, paragraph, preformatted, wide
from matchrec.plan.match_plan import MatchPlan
from matchrec.source import printable

COVERAGE = "\nhow far its starting rows come, and what ends them: matchrec.coverage(spark, query)"
NO_CLAUSE = "no MATCH_RECOGNIZE clause: the query is Spark's alone"
CLAUSES = ArgumentKind(
    "what has been explained",
    lambda given: isinstance(given, tuple) and all_of(instance_of(ExplainedClause), given),
    "write matchrec.explain(spark, query)",
)
COUNTERS = ArgumentKind("Counters", can("values", "observe"), "write matchrec.Counters()").or_none()


@dataclass(frozen=True, repr=False)
class Explanation:
    """What a query compiles to; prints as text, shows as pictures in a notebook.

    counters: those of a run of the query, if any. advice: what would make another one faster.

    >>> large = matchrec.Pattern.begin("large").where("id > 1")
    >>> matchrec.explain_pattern(spark.range(3), large, order_by="id")
    <Explanation: `large` (...)>
    """

    clauses: tuple[ExplainedClause, ...]
    counters: object | None = None
    advice: str = ""

    def __post_init__(self) -> None:
        CLAUSES.check("Explanation", "clauses", self.clauses)
        COUNTERS.check("Explanation", "counters", self.counters)
        TEXT.check("Explanation", "advice", self.advice)

    def with_counters(self, counters: object, advice: str = "") -> Explanation:
        """The same with what `counters` say of the query's last run, once they have values.

        advice: what would make another run faster.

        >>> large = matchrec.Pattern.begin("large").where("id > 1")
        >>> counters = matchrec.Counters()
        >>> found = matchrec.detect(spark.range(3), large, order_by="id", counters=counters)
        >>> rows = found.collect()
        >>> explained = matchrec.explain_pattern(spark.range(3), large, order_by="id")
        >>> print(explained.with_counters(counters))
        row pattern
        ...
        counters of the last run
        ...
        """
        return replace(self, counters=counters, advice=advice)

    def __repr__(self) -> str:
        found = "; ".join(clause.summary for clause in self.clauses) or NO_CLAUSE
        return f"<Explanation: {found}>"

    def __str__(self) -> str:
        text = printable(self._clauses())
        if self.counters is None:
            return text
        selects = any(clause.plan.selects for clause in self.clauses)
        counted = indent(str(self.counters), "  ") + ("" if selects else COVERAGE)
        advice = f"\n{self.advice}" if self.advice else ""
        return f"{text}\ncounters of the last run\n{counted}{advice}"

    def _clauses(self) -> str:
        if not self.clauses:
            return NO_CLAUSE
        if len(self.clauses) == 1:
            return str(self.clauses[0])
        numbered = enumerate(self.clauses, 1)
        return "\n\n".join(f"clause {number}\n{indent(str(one), '  ')}" for number, one in numbered)

    @property
    def dot(self) -> str:
        """The programs of all clauses in Graphviz's language, one graph after the other.

        >>> large = matchrec.Pattern.begin("large").where("id > 1")
        >>> print(matchrec.explain_pattern(spark.range(3), large, order_by="id").dot)
        digraph ...
        """
        return "\n".join(clause.dot for clause in self.clauses)

    def svg(self) -> list[str]:
        """A railroad diagram of each clause's row pattern.

        >>> large = matchrec.Pattern.begin("large").where("id > 1")
        >>> print(matchrec.explain_pattern(spark.range(3), large, order_by="id").svg()[0])
        <svg ...
        """
        return [clause.svg for clause in self.clauses]

    def _repr_html_(self) -> str:
        return "".join(self._html())

    def _html(self) -> Iterator[str]:
        """The row patterns; folded, the text."""
        for clause in self.clauses:
            yield wide(clause.svg)
            yield from (paragraph(line) for line in selection_lines(clause.plan))
        yield folded("all stages", preformatted(self._clauses()))
        if self.counters is not None:
            yield getattr(self.counters, "_repr_html_", self.counters.__str__)()


# A rule set as text: what Spark computes for all rules together, then each rule by itself.

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
        return printable("\n".join((*shared, *self._rules())))

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
        for number, condition in enumerate(rules.conditions):
            yield f"bit {number} = {show_column(condition)}{self._users(condition)}"
        if self.sorts:
            yield "the workers hold each partition as a whole, and search it rule after rule"
        if rules.relevant:
            tests = " or ".join(map(show_column, rules.relevant))
            yield f"only of rows with {tests}: without all others the matches are the same"

    def _users(self, column: RowColumn) -> str:
        users = [
            name
            for name, one in self.executables.items()
            if column in (*one.crossing.columns, *one.conditions)
        ]
        return f", for {', '.join(users)}" if users else ""

    def _rules(self) -> Iterator[str]:
        for name, executable in self.executables.items():
            own = replace(executable, relevant=())  # rows stay behind for all rules or for none
            drafted = self.drafts[name]
            clause = ExplainedClause(
                drafted.plan, own, is_stream=not self.sorts, written=drafted.written
            )
            yield f"\nrule {name}\n{indent(str(clause), '  ')}"
