"""Statements with clauses are found in messages, and replaced without a change to the rest."""

from __future__ import annotations

from typing import Any

import pytest

proto = pytest.importorskip("pyspark.sql.connect.proto")

from matchrec.gateway.statements import (  # noqa: E402 -- after the check that PySpark has them
    PLAN_ID_OFFSET,
    SqlStatement,
    find_command_statement,
    may_need_parsing,
    renumber_plans,
    replace_statements,
)

CLAUSE = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY x PATTERN (A) DEFINE A AS x > 1)"


def build_sql_relation(text: str, plan_id: int) -> Any:
    """Return a relation of a SQL text."""
    relation = proto.Relation()
    relation.common.plan_id = plan_id
    relation.sql.query = text
    return relation


def build_row_relation(plan_id: int) -> Any:
    """Return a relation without SQL."""
    relation = proto.Relation()
    relation.common.plan_id = plan_id
    relation.range.end = 1
    relation.range.step = 1
    return relation


def test_a_statement_deep_in_a_plan_is_replaced() -> None:
    plan = proto.Plan()
    join = plan.root.filter.input.join
    join.left.CopyFrom(build_sql_relation(CLAUSE, 5))
    join.right.CopyFrom(build_sql_relation("SELECT 1", 6))
    statements: list[SqlStatement] = []

    def answer(statement: SqlStatement) -> Any:
        """Replace each statement by one row."""
        statements.append(statement)
        return build_row_relation(99)

    assert replace_statements(plan, answer)
    assert [statement.text for statement in statements] == [CLAUSE]
    assert join.left.WhichOneof("rel_type") == "range"
    assert join.left.common.plan_id == 5  # the columns of the client refer to the plan by this id
    assert join.right.sql.query == "SELECT 1"


def test_a_statement_that_the_engine_should_run_stays() -> None:
    plan = proto.Plan(root=build_sql_relation(CLAUSE, 5))
    assert not replace_statements(plan, lambda _: None)
    assert plan.root.sql.query == CLAUSE


def test_a_clause_in_a_dataframe_is_replaced_if_the_text_around_it_has_none() -> None:
    """The word in quotes is not a clause, so the engine runs the outer text, with the DataFrame."""
    text = "SELECT 'match_recognize (' AS word, * FROM df1"
    relation = proto.Relation()
    relation.with_relations.root.CopyFrom(build_sql_relation(text, 1))
    reference = relation.with_relations.references.add()
    reference.subquery_alias.alias = "df1"
    reference.subquery_alias.input.CopyFrom(build_sql_relation(CLAUSE, 2))

    def answer(statement: SqlStatement) -> Any:
        """Replace the clause by one row, and leave the text around it to the engine."""
        return build_row_relation(99) if statement.text == CLAUSE else None

    assert replace_statements(relation, answer)
    assert relation.with_relations.root.sql.query == text
    inner_relation = relation.with_relations.references[0].subquery_alias.input
    assert inner_relation.WhichOneof("rel_type") == "range"
    assert inner_relation.common.plan_id == 2


def test_a_statement_in_a_plan_of_90_levels_is_replaced() -> None:
    relation = build_sql_relation(CLAUSE, 1)
    for _ in range(90):  # protobuf itself reads no message of more than a hundred levels
        outer = proto.Relation()
        outer.limit.input.CopyFrom(relation)
        relation = outer
    assert replace_statements(relation, lambda _: build_row_relation(1))


def test_ids_of_plans_move_with_the_columns_that_name_them() -> None:
    relation = proto.Relation()
    relation.common.plan_id = 8
    relation.project.input.CopyFrom(build_row_relation(7))
    expression = relation.project.expressions.add()
    expression.unresolved_attribute.unparsed_identifier = "id"
    expression.unresolved_attribute.plan_id = 7
    renumber_plans(relation)
    assert relation.common.plan_id == PLAN_ID_OFFSET + 8
    assert relation.project.input.common.plan_id == PLAN_ID_OFFSET + 7
    assert expression.unresolved_attribute.plan_id == PLAN_ID_OFFSET + 7


def test_values_of_parameters_are_read_from_old_and_new_clients() -> None:
    plan = proto.Plan()
    plan.command.sql_command.sql = CLAUSE
    plan.command.sql_command.args["n"].integer = 3  # as clients before 4.0 send it
    assert find_command_statement(plan) == SqlStatement(CLAUSE, {"n": 3})
    plan = proto.Plan()
    plan.command.sql_command.sql = CLAUSE
    plan.command.sql_command.pos_args.add().string = "x"
    assert find_command_statement(plan) == SqlStatement(CLAUSE, ["x"])


def test_a_command_without_a_clause_is_not_a_statement() -> None:
    plan = proto.Plan()
    plan.command.sql_command.sql = "SELECT 'a pattern' AS word"
    assert may_need_parsing(plan.SerializeToString())
    assert find_command_statement(plan) is None
    assert not may_need_parsing(proto.Plan(root=build_row_relation(1)).SerializeToString())
