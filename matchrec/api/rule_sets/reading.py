"""The rules of a set, each read in its language: texts and Patterns → plans over one DataFrame."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from matchrec.api.dialects import parse_clause_of
from matchrec.api.inputs import streams_of
from matchrec.api.patterns import PatternCall, with_conditions
from matchrec.dataclass import dataclass
from matchrec.errors import MatchRecognizeError
from matchrec.errors.kinds import shown_in
from matchrec.errors.language import PATTERN_CALLS, SASE
from matchrec.errors.run.rule_sets import alike_but_for_case, clause_of_its_own, no_rules, of_rule
from matchrec.frontends.pattern import AfterMatch, Pattern, textual
from matchrec.frontends.pattern.measures import measure
from matchrec.frontends.sase import compile_sase
from matchrec.frontends.sql import MatchRecognize
from matchrec.frontends.sql.clause.nodes import ExpressionText, PartitionKey, SortKey
from matchrec.frontends.sql.lower import lower
from matchrec.plan.clauses import RowsPerMatch
from matchrec.plan.expression import MatchNumber
from matchrec.source import Source, Span
from matchrec.spark.errors.diagnose import check_type_column
from matchrec.spark.rule_sets.asked import Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

IS_SASE = re.compile(r"(\s|--[^\n]*\n|/\*([^*]|\*(?!/))*\*/)*PATTERN\s+SEQ\b", re.IGNORECASE)
"""How a SASE+ text begins; in a clause of SQL a parenthesis follows PATTERN."""

Asked = Mapping[str, "str | Pattern"]


@dataclass(frozen=True)
class Reading:
    """What all rules of a call share. skip: of Patterns. type_column: of SASE+. dialect: of SQL."""

    df: DataFrame
    order_by: tuple[str, ...]
    partition_by: tuple[str, ...]
    skip: AfterMatch
    type_column: str
    dialect: str

    @classmethod
    def of(
        cls,
        df: DataFrame,
        streams: tuple[str | Sequence[str], str | Sequence[str]],
        skip: AfterMatch,
        type_column: str,
        dialect: str,
    ) -> Reading:
        """streams: what rows are sorted by and partitioned by, as a call has it."""
        order_by, partition_by = streams
        texts = streams_of(df, order_by, partition_by)
        return cls(df, *texts, skip, type_column, dialect)

    def rules(self, asked: Asked) -> tuple[tuple[Rule, ...], DataFrame]:
        """The rules, and the rows with the Columns that are conditions of Patterns."""
        check_names(asked)
        frame, found = self.df, []
        for name, one in asked.items():
            with naming(name):
                if isinstance(one, Pattern):
                    frame, rule = self.pattern(name, one, frame)
                elif IS_SASE.match(one):
                    rule = self.sase(name, one)
                else:
                    rule = self.clause(name, one)
            found.append(rule)
        return tuple(found), frame

    def clause(self, name: str, text: str) -> Rule:
        """A clause of SQL."""
        node, source = parse_clause_of(self.df, text, self.dialect)
        with shown_in(source):
            refuse_streams(node)
            plan = lower(self.with_streams(node))
        if plan.rows_per_match is RowsPerMatch.ONE_ROW and not (plan.measures or plan.partition_by):
            number = measure("match_number", MatchNumber())  # a result has a column
            plan = replace(plan, measures=(number,))
        return Rule(name, plan, source)

    def with_streams(self, node: MatchRecognize) -> MatchRecognize:
        """The clause with the partitions and the order of all rules."""

        def written(text: str) -> ExpressionText:
            return ExpressionText(text, Span(0, 0))

        return replace(
            node,
            partition_by=tuple(PartitionKey(written(text)) for text in self.partition_by),
            order_by=tuple(SortKey(written(text)) for text in self.order_by),
        )

    def sase(self, name: str, text: str) -> Rule:
        """A SASE+ query."""
        with shown_in(Source(text), SASE):
            plan = compile_sase(text, self.order_by, self.partition_by, self.type_column)
            check_type_column(self.df, self.type_column, plan)
        return Rule(name, plan, Source(text), SASE)

    def pattern(self, name: str, pattern: Pattern, frame: DataFrame) -> tuple[DataFrame, Rule]:
        """A Pattern; rows with a column for each of its conditions that is a Column."""
        taken = len(frame.columns) - len(self.df.columns)
        stages, columns = textual(pattern.stages, taken)
        named = Pattern(stages)
        streams = self.order_by, self.partition_by
        lowered = PatternCall(self.df, named, *streams, self.skip, "matches", False).lowered()
        with shown_in(lowered.source, PATTERN_CALLS):
            wider = with_conditions(frame, columns)
        return wider, Rule(name, lowered.plan, lowered.source, PATTERN_CALLS)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Errors raised inside name the rule."""
    try:
        yield
    except MatchRecognizeError as error:
        raise of_rule(name, error) from error.__cause__


def refuse_streams(node: MatchRecognize) -> None:
    """Raises where a clause has partitions or an order of its own."""
    for clause, written in (("PARTITION BY", node.partition_by), ("ORDER BY", node.order_by)):
        if written:
            raise clause_of_its_own(clause, written[0].span)


def check_names(asked: Asked) -> None:
    """Raises where there is no rule, or two have one name."""
    if not asked:
        raise no_rules()
    seen: dict[str, str] = {}
    for name in asked:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise alike_but_for_case(other, name)
