"""Compiled rules, and the last step of `spark.compile`: it builds them of typed conditions.

`build_compiled_rules` lists the columns that are sent, chooses the strategy of each search with the
reason, and returns a `CompiledRule` for each rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from matchrec.compile.build_query import QueryCompiler, SearchOptions
from matchrec.compile.columns import find_dividing_columns
from matchrec.compile.compiled_query import CompiledQuery
from matchrec.compile.joined_queries import JoinedQueries
from matchrec.compile.split_query import SplitQuery
from matchrec.compile.typed_conditions import TypedConditions
from matchrec.conditions.row_column import RowColumn, show_column
from matchrec.conditions.types import COMPARED_BY_ENGINE, ValueType
from matchrec.errors.rule_sets import equivalence_test_in_rule_set
from matchrec.output.schema import check_has_columns
from matchrec.spark.preparations.preparation import KnownFields, Preparation
from matchrec.spark.request import MatchRequest, Rule


@dataclass(frozen=True)
class TypedRule:
    """A rule of a request whose conditions are typed. A clause is the only rule of its request."""

    rule: Rule
    # The plan of the rule, with its conditions divided into parts.
    query: SplitQuery
    # The parts of conditions that Spark does not compute, with their types.
    conditions: TypedConditions

    def make_compiler(self, joined: JoinedQueries) -> QueryCompiler:
        """Return the compiler of the rule's query.

        Args:
            joined: the queries of all rules of the request.
        """
        return QueryCompiler(self.query, self.conditions, joined)


@dataclass(frozen=True)
class CompiledRule(TypedRule):
    """A rule of a request, compiled."""

    # The task of the workers, and the columns of the result.
    compiled_query: CompiledQuery


@dataclass(frozen=True)
class CompiledRules:
    """The rules of a request, compiled, and the query in Spark that computes their rows."""

    request: MatchRequest
    # The query in Spark that computes the columns and bits of all rules.
    preparation: Preparation
    # The field of each column that the rules can use.
    fields: KnownFields
    # The compiled rules, in the order of the request.
    rules: tuple[CompiledRule, ...]

    @property
    def types(self) -> Mapping[RowColumn, ValueType]:
        """Return the types of the columns of all rules."""
        return self.rules[0].conditions.types


def build_compiled_rules(
    request: MatchRequest,
    preparation: Preparation,
    fields: KnownFields,
    typed_rules: Sequence[TypedRule],
) -> CompiledRules:
    """Return the compiled rules of a request.

    Args:
        request: the rules.
        preparation: the query in Spark that computes their rows.
        fields: the fields of the columns of the rules.
        typed_rules: the rules, in the order of the request.

    Raises:
        MatchRecognizeError: a type is not supported, the result would have no columns, the options
            do not allow a rule, or workers cannot divide partitions by a column of a rule.
    """
    joined = preparation.joined
    for typed_rule in typed_rules:
        with request.locate_rule_errors(typed_rule.rule):
            request.backend.check_types(typed_rule.query.resolved_plan, request.relation)
    # `translate_outputs` adds the columns that a rule needs to `indices`. So all sent columns are
    # known before the first rule is compiled.
    indices = joined.number_shared_columns()
    outputs_of_rules = []
    for typed_rule in typed_rules:
        with request.locate_rule_errors(typed_rule.rule):
            check_outputs(request, typed_rule)
            outputs_of_rules.append(typed_rule.make_compiler(joined).translate_outputs(indices))
    columns = tuple(indices)
    options = find_search_options(request)
    compiled_rules = []
    for typed_rule, outputs in zip(typed_rules, outputs_of_rules, strict=True):
        with request.locate_rule_errors(typed_rule.rule):
            compiler = typed_rule.make_compiler(joined)
            compiled_query = compiler.build_compiled_query(outputs, columns, options)
        compiled_rules.append(
            CompiledRule(
                rule=typed_rule.rule,
                query=typed_rule.query,
                conditions=typed_rule.conditions,
                compiled_query=compiled_query,
            )
        )
    return CompiledRules(
        request=request, preparation=preparation, fields=fields, rules=tuple(compiled_rules)
    )


def check_outputs(request: MatchRequest, typed_rule: TypedRule) -> None:
    """Check that a rule has output columns as its request needs them.

    Raises:
        MatchRecognizeError: the result would have no columns, or the rule belongs to a set and only
            Spark can compare the values of a column by which it divides partitions.
    """
    query = typed_rule.query
    check_has_columns(query.all_outputs, query.plan, request.use)
    if request.is_rule_set:
        check_dividing_columns(query, typed_rule.conditions)


def find_search_options(request: MatchRequest) -> SearchOptions:
    """Return those options of a request that the search has."""
    return SearchOptions(algorithm=request.options.algorithm, max_steps=request.options.max_steps)


def compile_unused_outputs(compiled: CompiledRules) -> CompiledQuery | None:
    """Compile the output columns of a clause that nobody uses, to find errors in them.

    Returns the compiled query of these columns, which never runs; None if all columns are used.

    Raises:
        MatchRecognizeError: a column is not supported.
    """
    (clause,) = compiled.rules
    if not clause.query.unused_outputs:
        return None
    joined = compiled.preparation.joined
    unused_rule = replace(clause, query=clause.query.select_unused_outputs())
    compiler = unused_rule.make_compiler(joined)
    indices = joined.number_shared_columns()
    outputs = compiler.translate_outputs(indices)
    options = find_search_options(compiled.request)
    compiled_query = compiler.build_compiled_query(outputs, tuple(indices), options)
    if compiled.request.is_stream:
        from matchrec.spark.streaming.stream_checks import check_compiled_query

        check_compiled_query(compiled_query)
    return compiled_query


def check_dividing_columns(query: SplitQuery, conditions: TypedConditions) -> None:
    """Check that the workers can compare the columns by which a rule of a set divides partitions.

    Raises:
        MatchRecognizeError: only Spark can compare the values of a column.
    """
    for column in find_dividing_columns(query.plan):
        column_type = conditions.types[column]
        if column_type.family in COMPARED_BY_ENGINE:
            raise equivalence_test_in_rule_set(
                column=show_column(column), type_name=column_type.name
            )
