"""What a query compiles to: all of its clauses, as text and as HTML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from textwrap import indent

from matchrec.arguments import TEXT, Kind, all_of, can, instance_of
from matchrec.dataclass import dataclass
from matchrec.explanation.clause import ExplainedClause
from matchrec.explanation.selection import selection_lines
from matchrec.pictures.html import folded, paragraph, preformatted, wide

COVERAGE = "\nhow far its starting rows come, and what ends them: matchrec.coverage(spark, query)"
NO_CLAUSE = "no MATCH_RECOGNIZE clause: the query is Spark's alone"
CLAUSES = Kind(
    "what has been explained",
    lambda given: isinstance(given, tuple) and all_of(instance_of(ExplainedClause), given),
    "write matchrec.explain(spark, query)",
)
COUNTERS = Kind("Counters", can("values", "observe"), "write matchrec.Counters()").or_none()


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
        text = self._clauses()
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
        """A drawing of each clause's program.

        >>> large = matchrec.Pattern.begin("large").where("id > 1")
        >>> print(matchrec.explain_pattern(spark.range(3), large, order_by="id").svg()[0])
        <svg ...
        """
        return [clause.svg for clause in self.clauses]

    def diagrams(self) -> list[str]:
        """A railroad diagram of each clause's row pattern, as SVG.

        >>> large = matchrec.Pattern.begin("large").where("id > 1")
        >>> print(matchrec.explain_pattern(spark.range(3), large, order_by="id").diagrams()[0])
        <svg ...
        """
        return [clause.diagram for clause in self.clauses]

    def _repr_html_(self) -> str:
        return "".join(self._html())

    def _html(self) -> Iterator[str]:
        """The row patterns; folded, the programs and the text."""
        for clause in self.clauses:
            yield wide(clause.diagram)
            yield from (paragraph(line) for line in selection_lines(clause.plan))
            yield folded("automaton", wide(clause.svg))
        yield folded("all stages", preformatted(self._clauses()))
        if self.counters is not None:
            yield getattr(self.counters, "_repr_html_", self.counters.__str__)()
