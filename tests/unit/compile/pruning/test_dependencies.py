"""The tables of dependencies have an entry for each part that a plan can have."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pytest

from matchrec.automaton.compile import compile_pattern
from matchrec.compile.pruning.dependencies import DEPENDENCIES_OF_FIELDS, find_dependencies
from matchrec.compile.pruning.proven_shortcuts import PROVEN_FOR, Shortcut
from matchrec.plan.choices import Dependency
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.stages import ForbiddenEvent, RepeatedPart
from matchrec.shortcuts import Shortcuts
from matchrec.syntax.locate import parse_sql
from matchrec.syntax.lower import lower_clause

TABLES: dict[str, tuple[Mapping[object, object], set[object]]] = {
    "fields": (DEPENDENCIES_OF_FIELDS, {field.name for field in dataclasses.fields(MatchPlan)}),
    "proven": (PROVEN_FOR, {*Dependency}),
}


@pytest.mark.parametrize("name", TABLES)
def test_each_has_an_entry(name: str) -> None:
    table, expected = TABLES[name]
    assert set(table) == expected


def test_each_step_of_stages_has_dependencies() -> None:
    assert RepeatedPart.dependencies == ()
    assert ForbiddenEvent.dependencies == (Dependency.COMPLETED_LATER,)


def test_every_shortcut_has_a_switch() -> None:
    switches = {field.name for field in dataclasses.fields(Shortcuts) if field.default is True}
    assert {shortcut.value for shortcut in Shortcut} <= switches


def test_every_dependency_but_one_is_proven_for_some_shortcut() -> None:
    proven_dependencies = {dependency for dependency, proven in PROVEN_FOR.items() if proven}
    assert {*Dependency} - proven_dependencies == {Dependency.PARTIAL_MATCHES}


DEPENDENCIES = {
    "PATTERN (A B) DEFINE B AS x > PREV(x)": {Dependency.UNMATCHED_BETWEEN},
    "PATTERN (A B) DEFINE A AS x > PREV(x)": {Dependency.NEIGHBOURS},
    "PATTERN (A B) DEFINE B AS x > PREV(x, 2)": {Dependency.NEIGHBOURS},
    "PATTERN (A B) DEFINE A AS x > NEXT(x)": {Dependency.UNMATCHED_BETWEEN},
    "PATTERN (A B) DEFINE B AS x > NEXT(x)": {Dependency.NEIGHBOURS},
    "PATTERN (A B) DEFINE B AS x > PREV(A.x)": {Dependency.NEIGHBOURS},
    "PATTERN (A B) DEFINE B AS x > PREV(FIRST(x))": {Dependency.NEIGHBOURS},
    "PATTERN (A B) DEFINE B AS sum(A.x) > MATCH_NUMBER()": {Dependency.EARLIER_MATCHES},
    "PATTERN (A B) DEFINE B AS count(A.*) > 1 AND CLASSIFIER(A) = 'A'": set(),
}


@pytest.mark.parametrize("text", DEPENDENCIES)
def test_dependencies_of_a_clause_are_found(text: str) -> None:
    clause = f"ORDER BY t MEASURES LAST(x) AS x AFTER MATCH SKIP TO NEXT ROW {text}"
    (site,) = parse_sql(f"SELECT * FROM t MATCH_RECOGNIZE ({clause})").sites
    plan = lower_clause(site.clause)
    dependencies = find_dependencies(plan, compile_pattern(plan).follow_sets)
    assert {dependency.dependency for dependency in dependencies} == DEPENDENCIES[text]
