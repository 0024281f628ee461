"""Compilation: the row pattern is compiled once for a query, and never again by a worker."""

from __future__ import annotations

import pickle
from dataclasses import replace
from unittest import mock

import pytest

from matchrec.automaton import compile as nfa
from matchrec.automaton import explore_states
from matchrec.compile.compiled_query import CompiledQuery
from matchrec.compile.resolved_query import resolve_query
from matchrec.compile.split_query import split_query
from matchrec.conditions.row_column import build_row_column
from matchrec.conditions.split import RowScope
from matchrec.conditions.types import BIGINT
from matchrec.errors import MatchRecognizePlanError
from matchrec.plan.clauses import MatchOutput
from matchrec.plan.match_plan import MatchPlan, ResultUse
from matchrec.plan.resolve import InputColumns
from matchrec.search import compiled_task
from matchrec.syntax.locate import parse_sql
from matchrec.syntax.lower import lower_clause
from tests.tasks.linking import link, split_plan

COLUMNS = InputColumns(("k", "t", "x"))
FUNNEL = "MEASURES A.t AS s PATTERN (A X*? B) DEFINE A AS x = 1, B AS x = 2"
SCAN = "MEASURES A.t AS s PATTERN (A B) DEFINE A AS x = 1, B AS x = 2"
ON_THE_RUN = "MEASURES A.t AS s PATTERN (A (B | C)* D) DEFINE D AS x > A.x"
ALL = MatchOutput.ALL


def make_plan(text: str, output: MatchOutput = MatchOutput.PREFERRED) -> MatchPlan:
    """Return the plan of a clause."""
    query = f"SELECT * FROM events MATCH_RECOGNIZE (PARTITION BY k ORDER BY t {text})"
    return replace(lower_clause(parse_sql(query).sites[0].clause), output=output)


def compile_plan(plan: MatchPlan) -> CompiledQuery:
    """Return the compiled query of a plan whose columns are all BIGINT."""
    split = split_plan(plan, COLUMNS, str)
    return link(split, dict.fromkeys(split.columns, BIGINT), "auto", ansi=False)


PLANS = pytest.mark.parametrize(
    "plan", [make_plan(FUNNEL), make_plan(SCAN), make_plan(ON_THE_RUN), make_plan(SCAN, ALL)]
)


@PLANS
def test_the_pattern_is_compiled_and_folded_once(plan: MatchPlan) -> None:
    with (
        mock.patch.object(nfa, "compile_program", wraps=nfa.compile_program) as compiling,
        mock.patch.object(nfa, "fold_program", wraps=nfa.fold_program) as folding,
    ):
        compile_plan(plan)
    assert (compiling.call_count, folding.call_count) == (1, 1)


@PLANS
def test_a_worker_compiles_nothing_again(plan: MatchPlan) -> None:
    received = pickle.loads(pickle.dumps(compile_plan(plan)))
    compiled_task.build_task_arrays.cache_clear()
    with mock.patch.object(nfa, "fold_program", side_effect=AssertionError):
        first = compiled_task.compile_task(received.task, 1)
        assert compiled_task.compile_task(received.task, 1) is first


@pytest.fixture
def few_choices(monkeypatch: pytest.MonkeyPatch) -> int:
    """Lower the limit of choices, so that a small pattern exceeds it, and return the limit."""
    monkeypatch.setattr(explore_states, "MAX_CHOICES", 2000)
    return explore_states.MAX_CHOICES


@pytest.mark.parametrize("output", [MatchOutput.PREFERRED, ALL])
def test_too_many_choices_are_refused(few_choices: int, output: MatchOutput) -> None:
    plan = make_plan("MEASURES A.t AS s PATTERN ((A? B?){100}) DEFINE A AS x = 1", output)
    with pytest.raises(MatchRecognizePlanError, match=f"over {few_choices:,} choices"):
        split_plan(plan, COLUMNS, str)


def test_choices_after_acceptances_are_not_limited(few_choices: int) -> None:
    """With ALL MATCHES, a state keeps its choices after an acceptance.

    Only choices up to the first acceptance count for the limit. Here, each state has one of these.
    """
    plan = make_plan("MEASURES A.t AS s PATTERN ((A??){70}) DEFINE A AS x = 1", ALL)
    assert sum(map(len, split_plan(plan, COLUMNS, str).pattern.folding.choices)) > few_choices


def test_columns_that_nobody_uses_are_typed_but_not_computed() -> None:
    plan = make_plan("MEASURES A.t AS s, sum(A.x) AS total PATTERN (A) DEFINE A AS x = 1")
    resolved = resolve_query(plan, COLUMNS, str, use=ResultUse(frozenset({"s"})))
    query = split_query(resolved, RowScope.SPARK)
    assert [output.name for output in query.all_outputs] == ["k", "s", "total"]
    assert [output.name for output in query.outputs] == ["s"]
    assert [measure.name for measure in query.plan.measures] == ["s"]
    assert build_row_column("`x`") in query.columns
    unused = query.select_unused_outputs()
    assert [output.name for output in unused.outputs] == ["k", "total"]
    assert [measure.name for measure in unused.plan.measures] == ["total"]


def test_rows_have_a_column_if_nobody_uses_any() -> None:
    resolved = resolve_query(make_plan(SCAN), COLUMNS, str, use=ResultUse(frozenset()))
    assert [output.name for output in resolved.outputs] == ["k"]
