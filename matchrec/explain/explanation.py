"""What `explain` returns: how a query or a rule set runs, as text, pictures, HTML and a table.

An `Explanation` puts together the explanations of clauses, which `clause` makes. `rule_set` makes
the explanation of a rule set.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import indent
from typing import TYPE_CHECKING, Protocol

from matchrec.explain.clause import ExplainedClause
from matchrec.explain.layout import join_clauses
from matchrec.explain.pictures.html import make_data_frame, wrap_in_details, write_preformatted
from matchrec.public_names import public
from matchrec.source import replace_control_characters

if TYPE_CHECKING:
    import pandas as pd

# The line below the counters of an execution. Queries with event selection have no coverage.
COVERAGE_ADVICE = "coverage() of the query shows how far starting rows get, and what stops them"

# The text of a query without a clause.
NO_CLAUSE = "no MATCH_RECOGNIZE clause: the engine runs the whole query"


class ShownCounters(Protocol):
    """The part of an execution's `Counters` that an explanation needs: the text and the HTML."""

    def _repr_html_(self) -> str:
        """Return the counters as a table."""
        ...


@public
@dataclass(frozen=True, repr=False, match_args=False)
class Explanation:
    """How a query runs, from `Query.explain`.

    It prints as text. A notebook shows it as pictures.

    Attributes:
        clauses: the explanation of each clause, by its number in the query, from 1; or of each
            rule, if this explains a rule set.
        counters: the `Counters` of an execution of the query; None if it was not executed.
        advice: what would make the query faster. Shown only below the counters.
        rules: the names of the rules of a rule set, in the order of `clauses`; else empty.
        shared: the text about the steps that all rules of a rule set share; else empty.

    >>> large = matchrec.Pattern.begin("large").where("id > 1")
    >>> matchrec.query(spark.range(3), large, order_by="id").explain()
    <Explanation: `large` (...)>
    """

    clauses: dict[int, ExplainedClause]
    counters: ShownCounters | None = None
    advice: str = ""
    rules: tuple[str, ...] = ()
    shared: str = ""

    def __repr__(self) -> str:
        """Return the row pattern and the algorithm of each clause."""
        summaries = "; ".join(clause.summary for clause in self.clauses.values())
        return f"<Explanation: {summaries or NO_CLAUSE}>"

    def __str__(self) -> str:
        """Return the text."""
        return self.text

    @property
    def text(self) -> str:
        """The text that `print` shows: the steps of each clause, then counters and advice."""
        text = replace_control_characters(self._join_clauses())
        if self.counters is None:
            return text
        lines = [text, "counters of the last execution", indent(str(self.counters), "  ")]
        if not any(clause._plan.needs_event_selection for clause in self.clauses.values()):
            lines.append(COVERAGE_ADVICE)
        if self.advice:
            lines.append(self.advice)
        return "\n".join(lines)

    def _join_clauses(self) -> str:
        """Return the texts of all clauses, each below its number. See also `_join_rules`.

        Control characters of the query are still in it.
        """
        if not self.clauses:
            return NO_CLAUSE
        if self.rules:
            return self._join_rules()
        numbered = {number: str(clause) for number, clause in self.clauses.items()}
        return join_clauses(numbered)

    def _join_rules(self) -> str:
        """Return the text about the shared steps, then the text of each rule below its name."""
        texts = [self.shared]
        for name, explained_rule in zip(self.rules, self.clauses.values(), strict=True):
            texts.append(f"rule {name}\n{indent(str(explained_rule), '  ')}")
        return "\n\n".join(texts)

    def dot(self) -> str:
        """Return the automaton of each clause in Graphviz's language, one graph after the other.

        >>> large = matchrec.Pattern.begin("large").where("id > 1")
        >>> print(matchrec.query(spark.range(3), large, order_by="id").explain().dot())
        digraph ...
        """
        return "\n".join(clause.dot() for clause in self.clauses.values())

    def svg(self) -> str:
        """Return a railroad diagram of each clause's row pattern, one after the other.

        >>> large = matchrec.Pattern.begin("large").where("id > 1")
        >>> print(matchrec.query(spark.range(3), large, order_by="id").explain().svg())
        <svg ...
        """
        return "\n".join(clause.svg() for clause in self.clauses.values())

    def toPandas(self) -> pd.DataFrame:  # noqa: N802 -- as PySpark calls it
        """Return a pandas DataFrame with one row for each line of the text.

        The column `clause` has the number of the clause, or of the rule, from 1. The column `part`
        has the title above the line. The steps that all rules share and the counters have no rows.

        >>> large = matchrec.Pattern.begin("large").where("id > 1")
        >>> explained = matchrec.query(spark.range(3), large, order_by="id").explain().toPandas()
        >>> explained.iloc[0].to_dict()
        {'clause': 1, 'part': 'row pattern', 'line': '`large`'}
        """
        rows = []
        for clause_number, clause in self.clauses.items():
            for title, lines in clause._list_sections():
                text = replace_control_characters("\n".join(lines))
                rows += [(clause_number, title, line) for line in text.splitlines()]
        return make_data_frame(("clause", "part", "line"), rows)

    def _repr_html_(self) -> str:
        """Return the row pattern of each clause as a picture, then the text and the counters.

        The text is folded up until one clicks on it.
        """
        blocks = []
        for clause in self.clauses.values():
            blocks += clause._list_picture_blocks()
        blocks.append(wrap_in_details("all steps", write_preformatted(self._join_clauses())))
        if self.counters is not None:
            blocks.append(self.counters._repr_html_())
        return "".join(blocks)
