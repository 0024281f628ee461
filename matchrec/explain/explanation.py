"""Explain how a query runs: all of its clauses, or all rules of a set, as text and as HTML."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import indent
from typing import TYPE_CHECKING

from matchrec.compile.compiled_query import Sorter
from matchrec.compile.rule_set import RuleSet
from matchrec.compile.steps import SplitQuery
from matchrec.conditions.row_column import show_column
from matchrec.explain.clause import ExplainedClause, describe_partitions
from matchrec.explain.layout import join_clauses, join_sections
from matchrec.explain.pictures.html import (
    make_data_frame,
    wrap_in_details,
    wrap_in_scroll_block,
    write_paragraph,
    write_preformatted,
)
from matchrec.explain.restrictions import describe_selection
from matchrec.plan.match_plan import MatchPlan
from matchrec.source import replace_control_characters

if TYPE_CHECKING:
    import pandas as pd

# The line below the counters of an execution.
COVERAGE_ADVICE = "coverage() of the query shows how far starting rows get, and what stops them"

# The text of a query without a clause.
NO_CLAUSE = "no MATCH_RECOGNIZE clause: the engine runs the whole query"


@dataclass(frozen=True, repr=False)
class Explanation:
    """How a query runs, from `Query.explain`.

    It prints as text. A notebook shows it as pictures.

    Attributes:
        clauses: the explanation of each clause in the order of evaluation, or of each rule.
        counters: the `Counters` of an execution of the query, or None.
        advice: what would make the query faster.
        rules: the names of the rules of a rule set.
        shared: what the engine computes once for all rules.

    >>> large = matchrec.Pattern.begin("large").where("id > 1")
    >>> matchrec.query(spark.range(3), large, order_by="id").explain()
    <Explanation: `large` (...)>
    """

    clauses: tuple[ExplainedClause, ...]
    counters: object | None = None
    advice: str = ""
    rules: tuple[str, ...] = ()
    shared: str = ""

    def __repr__(self) -> str:
        """Return the row pattern and the algorithm of each clause."""
        summaries = "; ".join(clause.summary for clause in self.clauses)
        return f"<Explanation: {summaries or NO_CLAUSE}>"

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    @property
    def text(self) -> str:
        """The text that `print` shows: all steps of each clause, and the counters, if any."""
        text = replace_control_characters(self._join_clauses())
        if self.counters is None:
            return text
        lines = [text, "counters of the last execution", indent(str(self.counters), "  ")]
        if not any(clause.plan.needs_event_selection for clause in self.clauses):
            lines.append(COVERAGE_ADVICE)
        if self.advice:
            lines.append(self.advice)
        return "\n".join(lines)

    def _join_clauses(self) -> str:
        """Return the texts of all clauses or rules."""
        if not self.clauses:
            return NO_CLAUSE
        if self.rules:
            named = zip(self.rules, self.clauses, strict=True)
            rules = (f"\n\nrule {name}\n{indent(str(clause), '  ')}" for name, clause in named)
            return self.shared + "".join(rules)
        return join_clauses(dict(enumerate(map(str, self.clauses), 1)))

    def dot(self) -> str:
        """Return the programs of all clauses in Graphviz's language, one graph after the other.

        >>> large = matchrec.Pattern.begin("large").where("id > 1")
        >>> print(matchrec.query(spark.range(3), large, order_by="id").explain().dot())
        digraph ...
        """
        return "\n".join(clause.dot for clause in self.clauses)

    def svg(self) -> str:
        """Return a railroad diagram of each clause's row pattern, one after the other.

        >>> large = matchrec.Pattern.begin("large").where("id > 1")
        >>> print(matchrec.query(spark.range(3), large, order_by="id").explain().svg())
        <svg ...
        """
        return "\n".join(clause.svg for clause in self.clauses)

    def toPandas(self) -> pd.DataFrame:  # noqa: N802 -- as PySpark calls it
        """Return a pandas DataFrame with one row for each line of the text.

        The column `clause` has the number of the clause, from 1. The column `part` has the title
        above the line.

        >>> large = matchrec.Pattern.begin("large").where("id > 1")
        >>> explained = matchrec.query(spark.range(3), large, order_by="id").explain().toPandas()
        >>> explained.iloc[0].to_dict()
        {'clause': 1, 'part': 'row pattern', 'line': '`large`'}
        """
        rows = []
        for clause_number, clause in enumerate(self.clauses, 1):
            for title, lines in clause.describe_sections():
                text = replace_control_characters("\n".join(lines))
                rows += [(clause_number, title, line) for line in text.splitlines()]
        return make_data_frame(("clause", "part", "line"), rows)

    def _repr_html_(self) -> str:
        """Return the row patterns as pictures, the text to be unfolded, and the counters."""
        blocks = []
        for clause in self.clauses:
            blocks.append(wrap_in_scroll_block(clause.svg))
            blocks += [write_paragraph(line) for line in describe_selection(clause.plan)]
        blocks.append(wrap_in_details("all steps", write_preformatted(self._join_clauses())))
        if self.counters is not None:
            show_counters = getattr(self.counters, "_repr_html_", self.counters.__str__)
            blocks.append(show_counters())
        return "".join(blocks)


# What the stream of a rule set keeps between two micro-batches.
STATE_OF_RULES = (
    "one state for each partition: the rows that the watermark has not passed, the rows that",
    "some rule still needs (each stored once), and how far the search of each rule has got",
)


def explain_rules(
    rules: RuleSet, queries: Mapping[str, SplitQuery], sorter: Sorter | None
) -> Explanation:
    """Return the explanation of a rule set: what all rules share, then each rule.

    Args:
        rules: the rules, compiled.
        queries: the query of each rule, by its name.
        sorter: who sorts the rows; None for a stream.
    """
    first_plan = next(iter(queries.values())).plan
    plan = MatchPlan(first_plan.pattern, first_plan.partition_by, first_plan.order_by)
    shared = {
        "partitions and order of all rules": describe_partitions(
            plan, key_filters=(), sorter=sorter
        ),
        "computed by the engine before the search, once for all rules": describe_shared_work(
            rules, sorter
        ),
        "stream, once for all rules": iter(STATE_OF_RULES if sorter is None else ()),
    }
    clauses = []
    for rule in rules.rules:
        query = queries[rule.name]
        clause = ExplainedClause(
            query.plan,
            # Rows are left out for all rules together, which the shared lines say.
            replace(rule.compiled_query, row_filters=()),
            is_stream=sorter is None,
            written_plan=query.written_plan,
        )
        clauses.append(clause)
    names = tuple(rule.name for rule in rules.rules)
    return Explanation(tuple(clauses), rules=names, shared=join_sections(shared.items()))


def describe_shared_work(rules: RuleSet, sorter: Sorter | None) -> Iterator[str]:
    """Yield the columns and conditions that the engine computes, each with the rules that need it.

    Then yield what the workers hold, and which rows they get.

    Args:
        rules: the rules, compiled.
        sorter: who sorts the rows; None for a stream.
    """
    for number, column in enumerate(rules.columns):
        users = [
            rule.name for rule in rules.rules if number in rule.compiled_query.sent_columns.used
        ]
        yield f"c{number} = {show_column(column)}{name_users(users)}"
    for number, condition in enumerate(rules.row_conditions):
        users = [rule.name for rule in rules.rules if number in rule.compiled_query.used_bits]
        yield f"bit {number} = {show_column(condition)}{name_users(users)}"
    if sorter is not None:
        yield "the workers hold a whole partition, and search it for one rule after the other"
    if rules.row_filters:
        tests = " or ".join(show_column(column) for column in rules.row_filters)
        yield f"only rows with {tests} are sent to the workers: no other row can change a match"


def name_users(users: Sequence[str]) -> str:
    """Return the text after a column or condition: `, for` and the rules that need it, if any."""
    return f", for {', '.join(users)}" if users else ""
