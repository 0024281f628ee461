"""Functions that change a plan."""

from matchrec.plan.change_expressions import set_final_semantics
from matchrec.plan.clauses import RowExpression
from matchrec.plan.expression import Scalar
from matchrec.plan.match_plan import MatchPlan, add_equivalence_keys, map_expressions
from matchrec.plan.pattern import Variable
from matchrec.syntax.grammar import parse_clause
from matchrec.syntax.lower import lower_clause

CLAUSE = """
    ORDER BY t MEASURES LAST(x) AS last, FIRST(x) AS first ALL ROWS PER MATCH
    PATTERN (A B) DEFINE A AS x > 1, B AS x > PREV(x)
"""


def set_final_in(plan: MatchPlan, changed_variable: str | None) -> MatchPlan:
    """Return the plan with final semantics in the condition of a variable; None: in measures."""

    def change_scalar(scalar: Scalar, variable: str | None) -> Scalar:
        return set_final_semantics(scalar) if variable == changed_variable else scalar

    return map_expressions(plan, change_scalar)


def test_a_plan_without_changes_stays_the_same_object() -> None:
    plan = lower_clause(parse_clause(CLAUSE))
    assert set_final_in(plan, "C") is plan


def test_only_changed_expressions_are_new_objects() -> None:
    plan = lower_clause(parse_clause(CLAUSE))
    changed = set_final_in(plan, "B")
    assert changed != plan
    assert changed.definitions[0] is plan.definitions[0]
    assert changed.measures[0] is plan.measures[0]
    changed = set_final_in(plan, None)
    assert changed.definitions[0] is plan.definitions[0]
    assert changed.measures[0] != plan.measures[0]


def test_equivalence_keys_follow_the_partition_keys_and_repeat_none() -> None:
    region, symbol, day = RowExpression("region"), RowExpression("symbol"), RowExpression("day")
    plan = MatchPlan(
        Variable("A"), partition_by=(region, symbol), equivalence_keys=(day, region, day)
    )
    assert add_equivalence_keys(plan).partition_by == (region, symbol, day)
    assert add_equivalence_keys(plan).equivalence_keys == ()
