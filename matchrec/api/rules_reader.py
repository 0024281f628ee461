"""Parse the rules of a call of `match_rules`, and find their matches.

`RulesReader.read_rule` turns each rule into a plan over the same rows, with the same keys and
order. `RulesReader.build_rules` compiles all plans together, to one search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from pyspark.sql import DataFrame

from matchrec.api.dialects import parse_clause_in_dialect
from matchrec.api.event_input import Events
from matchrec.api.inputs import build_relation, find_quote_dialect
from matchrec.api.parameters import fill_parameters
from matchrec.api.pattern_query import add_condition_columns, lower_over_events
from matchrec.api.rule_matches import RejectedRules
from matchrec.api.rule_versions import WrittenRule
from matchrec.api.text_kinds import SASE_START
from matchrec.arguments import OnError
from matchrec.errors import MatchRecognizeError
from matchrec.errors import rule_sets as errors
from matchrec.errors.kinds import locate_errors
from matchrec.errors.language import PATTERN_CALLS, SASE
from matchrec.errors.warn_caller import warn_caller
from matchrec.errors.warnings import rejected_rule
from matchrec.patterns.stages.builder import Pattern
from matchrec.patterns.stages.lower import make_measure
from matchrec.patterns.stages.tree import name_column_conditions
from matchrec.plan.clauses import MatchOutput
from matchrec.plan.expression import MATCH_NUMBER
from matchrec.source import Source
from matchrec.spark.relation import Relation
from matchrec.spark.request import (
    MatchRequest,
    Options,
    Rule,
    find_input_columns,
    name_rule_in_errors,
)
from matchrec.spark.rule_sets.build import BuiltRuleSet, build_rule_set, check_results
from matchrec.syntax.lower import lower_clause
from matchrec.syntax.nodes import MatchRecognize, PartitionKey, SortKey
from matchrec.syntax.tokenize import read_tokens
from matchrec.syntax.tokens import QuoteDialect


@dataclass(frozen=True)
class RulesReader:
    """A reader of rules, with the arguments of `match_rules` that all rules share."""

    # The rows that the rules search, with the keys and the order of all rules.
    events: Events
    # The same rows as a `Relation`, from which requests are built.
    relation: Relation
    # The column with the types of events, for SASE+.
    type_column: str
    # The product whose SQL the clauses are written in.
    dialect: str
    # What happens if a rule fails in a partition: "raise" or "continue".
    on_error: OnError
    # The columns that the events of matches have; None for all columns of the input.
    event_columns: Sequence[str] | None
    # How the search runs.
    options: Options

    def build(self, written_rules: Sequence[WrittenRule]) -> BuiltRuleSet:
        """Read the rules, build a set of them, and check the result of each rule.

        Raises:
            MatchRecognizeError: a rule has a mistake. The error names the rule.
        """
        quotes = self.find_quotes(written_rules)
        frame = self.events.df
        rules = []
        for written_rule in written_rules:
            rule, frame = self.read_rule(written_rule, quotes, frame)
            rules.append(rule)
        return self.build_rules(rules, frame)

    def build_rules(self, rules: Sequence[Rule], frame: DataFrame) -> BuiltRuleSet:
        """Build a set of rules that have been read, and check the result of each rule.

        Args:
            rules: the rules.
            frame: the rows, with a column for each condition that is a Column.

        Raises:
            MatchRecognizeError: a rule has a mistake.
        """
        relation = self.relation if frame is self.events.df else build_relation(frame)
        # The columns of conditions are left out, because no rule may name them.
        columns = find_input_columns(relation, names=self.events.df.columns)
        request = MatchRequest.build(
            rules,
            relation,
            columns,
            self.options,
            event_columns=self.choose_event_columns(),
            on_error=self.on_error,
        )
        built_set = build_rule_set(request)
        check_results(built_set)
        return built_set

    def build_valid_rules(
        self, written_rules: Sequence[WrittenRule]
    ) -> tuple[BuiltRuleSet, RejectedRules]:
        """Build a set of all rules that have no mistake. Warn about each rule that is left out.

        First every rule is read, and rules that cannot be read are left out. Then the set is built.
        Its error names only one rule, so this rule is left out and the set is built again, until no
        rule has a mistake. To build each rule by itself would cost more, unless many rules are
        wrong: 100 rules took 0.8 s of CPU time together, and 4.4 s one by one (Sail, 2026-11-30).

        Args:
            written_rules: the rules. Each is a text, not a Pattern.

        Returns:
            The set, and the errors of the rules that were left out.

        Raises:
            MatchRecognizeError: all rules have a mistake, or the mistake is not in a rule.
        """
        rules, rejected = self.read_valid_rules(written_rules)
        while True:
            rules = [rule for rule in rules if rule.name not in rejected]
            try:
                built_set = self.build_rules(rules, self.events.df)
            except MatchRecognizeError as error:
                if error.rule is None or error.rule in rejected or len(rules) == 1:
                    raise
                rejected[error.rule] = error
            else:
                warn_caller(*(rejected_rule(error=str(error)) for error in rejected.values()))
                return built_set, rejected

    def read_valid_rules(
        self, written_rules: Sequence[WrittenRule]
    ) -> tuple[list[Rule], RejectedRules]:
        """Read all rules that can be read.

        Args:
            written_rules: the rules. Each is a text, not a Pattern.

        Returns:
            The rules, and the errors of the rules that cannot be read.

        Raises:
            MatchRecognizeError: no rule can be read. This is the error of the last one.
        """
        rules = []
        rejected: RejectedRules = {}
        quotes = self.find_quotes(written_rules)
        for written_rule in written_rules:
            are_all_others_rejected = len(rejected) + 1 == len(written_rules)
            try:
                rule, _ = self.read_rule(written_rule, quotes, self.events.df)
            except MatchRecognizeError as error:
                if are_all_others_rejected:
                    raise
                rejected[written_rule.name] = error
            else:
                rules.append(rule)
        return rules, rejected

    def choose_event_columns(self) -> tuple[str, ...]:
        """Return the columns of the input that the events of matches have, each once.

        Raises:
            MatchRecognizePlanError: the input has no column with one of the names, or several.
        """
        input_names = self.events.df.columns
        names = input_names if self.event_columns is None else self.event_columns
        for name in names:
            if name not in input_names:
                raise errors.unknown_event_column(name=name, columns=input_names)
            if input_names.count(name) > 1:
                raise errors.duplicate_input_column(name=name)
        return tuple(dict.fromkeys(names))

    def find_quotes(self, written_rules: Sequence[WrittenRule]) -> QuoteDialect:
        """Return what double quotes mean in the texts of rules."""
        texts = [rule.content for rule in written_rules if isinstance(rule.content, str)]
        return find_quote_dialect(self.events.df.sparkSession, *texts)

    def read_rule(
        self, written_rule: WrittenRule, quotes: QuoteDialect, frame: DataFrame
    ) -> tuple[Rule, DataFrame]:
        """Return a rule, and the rows with a column for each condition that is a Column.

        Args:
            written_rule: the rule as the user wrote it.
            quotes: what double quotes mean in the session.
            frame: the rows, with the columns of the rules before this one.

        Raises:
            MatchRecognizeError: the rule has a mistake. The error names the rule.
        """
        content = written_rule.content
        with name_rule_in_errors(written_rule.name):
            if isinstance(content, Pattern):
                return self.read_pattern(written_rule, content, frame)
            if SASE_START.match(content):
                return self.read_sase(written_rule, content), frame
            return self.read_clause(written_rule, content, quotes), frame

    def read_sase(self, written_rule: WrittenRule, text: str) -> Rule:
        """Return the rule of a SASE+ text.

        Args:
            written_rule: the rule as the user wrote it.
            text: its text.
        """
        source = fill_parameters(Source(text), written_rule.values)
        plan = self.events.lower_sase(source, self.type_column, MatchOutput.ALL)
        return Rule(written_rule.name, plan, source, language=SASE, version=written_rule.version)

    def read_clause(self, written_rule: WrittenRule, text: str, quotes: QuoteDialect) -> Rule:
        """Return the rule of a clause of SQL.

        Args:
            written_rule: the rule as the user wrote it.
            text: the clause.
            quotes: what double quotes mean in the session.
        """
        node, source = parse_clause_in_dialect(
            self.events.df, text, self.dialect, quotes, written_rule.values
        )
        with locate_errors(source):
            reject_keys_and_order(node)
            plan = lower_clause(self.add_keys_and_order(node))
        summarizes_matches = plan.rows_per_match.summarizes_matches
        if summarizes_matches and not plan.measures and not plan.partition_by:
            # A DataFrame needs a column.
            plan = replace(plan, measures=(make_measure("match_number", MATCH_NUMBER),))
        return Rule(written_rule.name, plan, source, version=written_rule.version)

    def add_keys_and_order(self, node: MatchRecognize) -> MatchRecognize:
        """Return a clause with the PARTITION BY and ORDER BY that all rules share."""
        keys = [PartitionKey(read_tokens(text)) for text in self.events.partition_by]
        order = [SortKey(read_tokens(text)) for text in self.events.order_by]
        return replace(node, partition_by=tuple(keys), order_by=tuple(order))

    def read_pattern(
        self, written_rule: WrittenRule, pattern: Pattern, frame: DataFrame
    ) -> tuple[Rule, DataFrame]:
        """Return the rule of a Pattern, and the rows with a column for each condition as a Column.

        Args:
            written_rule: the rule as the user wrote it.
            pattern: its Pattern.
            frame: the rows, with the columns of the rules before this one.
        """
        # Each rule has its own prefix, so that the columns of several rules have different names. A
        # hash of the name, unlike a number, stays the same if the user adds or removes other rules.
        prefix = f"{sha256(written_rule.name.encode()).hexdigest()[:8]}_"
        stages, conditions = name_column_conditions(pattern._stages, prefix)
        lowered = lower_over_events(replace(pattern, _stages=stages), self.events)
        with locate_errors(lowered.source, PATTERN_CALLS):
            frame = add_condition_columns(frame, conditions)
        column_texts = tuple(str(column) for column in conditions.values())
        rule = Rule(
            name=written_rule.name,
            plan=lowered.plan,
            source=lowered.source,
            language=PATTERN_CALLS,
            version=written_rule.version,
            condition_columns=column_texts,
        )
        return rule, frame


def reject_keys_and_order(node: MatchRecognize) -> None:
    """Check that the clause of a rule has no PARTITION BY and no ORDER BY.

    Every rule uses the PARTITION BY and ORDER BY of the call.

    Raises:
        MatchRecognizePlanError: the clause has PARTITION BY or ORDER BY.
    """
    if node.partition_by:
        raise errors.keys_in_rule(
            node.partition_by[0].span,
            clause="PARTITION BY",
            argument="partition_by",
            keys=[key.expression.text for key in node.partition_by],
        )
    if node.order_by:
        raise errors.keys_in_rule(
            node.order_by[0].span,
            clause="ORDER BY",
            argument="order_by",
            keys=[
                f"{key.expression.text} DESC" if key.is_descending else key.expression.text
                for key in node.order_by
            ],
        )
