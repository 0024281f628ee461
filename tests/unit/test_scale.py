"""Differences of quick, full, night and long runs: the tests and examples that they have."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests import conftest
from tests.quick import on_engines, scale


@pytest.mark.parametrize(
    ("run", "long_run", "examples", "batches", "cases", "now", "groups"),
    [
        ("", None, 2, [0], [0], [4, 5], 1),
        ("full", None, 11, [1], [0], [1, 3, 6], 1),
        ("night", None, 200, [1, 2], [*range(7)], [0, 1, 2, 3, 6], 1),
        ("", "9", 9, [0, 1, 2, 3], [*range(7)], [*range(7)], 7),
    ],
)
def test_the_amount_of_work_in_each_run(
    monkeypatch: pytest.MonkeyPatch,
    run: str,
    long_run: str | None,
    examples: int,
    batches: list[int],
    cases: list[int],
    now: list[int],
    groups: int,
) -> None:
    monkeypatch.setattr(scale, "FULL", bool(run))
    monkeypatch.setattr(scale, "NIGHT", run == "night")
    monkeypatch.setattr(scale, "LONG_RUN", long_run)
    assert scale.examples(200) == examples
    assert [seed - scale.SEED for seed in scale.batches(3, size=2)] == batches
    assert scale.some_of([*range(7)]) == cases
    assert [number for number in range(7) if scale.is_now(f"case {number}", 3)] == now
    assert len(scale.together([*range(7)])) == groups


@pytest.mark.parametrize(("run", "done"), [("", [0, 2, 3]), ("full", [1, 3]), ("night", [1, 3, 4])])
def test_a_slow_test_is_in_full_runs_whatever_its_number(
    monkeypatch: pytest.MonkeyPatch, run: str, done: list[int]
) -> None:
    monkeypatch.setattr(scale, "FULL", bool(run))
    monkeypatch.setattr(conftest, "FULL", bool(run))
    monkeypatch.setattr(conftest, "NIGHT", run == "night")
    half, slow = {"one_of": pytest.mark.one_of(2).mark}, {"slow": pytest.mark.slow.mark}
    night = {"night": pytest.mark.night.mark}
    marks: list[dict[str, Any]] = [half, half | slow, half, {}, night]
    items: list[Any] = [
        SimpleNamespace(
            number=number, nodeid=f"test_{number}", get_closest_marker=marks_of_test.get
        )
        for number, marks_of_test in enumerate(marks)
    ]
    chosen: Any = conftest.select_tests(items, has_all=True)
    assert [item.number for item in chosen] == done


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("has_larger_form", [False, True])
def test_a_test_without_a_mark_is_in_one_run_or_the_other(
    monkeypatch: pytest.MonkeyPatch, full: bool, has_larger_form: bool
) -> None:
    monkeypatch.setattr(conftest, "FULL", full)
    monkeypatch.setattr(conftest, "has_larger_form", lambda _: has_larger_form)
    items: list[Any] = [
        SimpleNamespace(nodeid=f"test_{number}", get_closest_marker={}.get) for number in range(40)
    ]
    quick = [item for item in items if scale.is_drawn(item.nodeid, conftest.QUICK_PART)]
    assert 0 < len(quick) < len(items)
    others = items if has_larger_form else [item for item in items if item not in quick]
    assert [*conftest.select_tests(items, has_all=False)] == (others if full else quick)
    assert [*conftest.select_tests(items, has_all=True)] == items


@pytest.mark.parametrize(("newest", "done"), [(False, "a"), (True, "fh")])
def test_two_versions_of_spark_share_the_tests_of_spark(
    monkeypatch: pytest.MonkeyPatch, newest: bool, done: str
) -> None:
    table = [on_engines.Entry("leave", "own.py", ""), on_engines.Entry("fails", "some.py::d", "")]
    table += [on_engines.Entry("newest", "own.py::f", ""), on_engines.Entry("leave", "new.py", "")]
    monkeypatch.setattr(on_engines, "read_entries", lambda: table[::-1])
    monkeypatch.setattr(on_engines, "is_newest", lambda: newest)
    monkeypatch.setattr(on_engines, "is_drawn", lambda name, _: name == "own.py")
    names = (*(f"own.py::{letter}" for letter in "abcf"), "some.py::d", "some.py::e")
    names += tuple(f"new.py::{letter}" for letter in "ghi")
    items: list[Any] = [SimpleNamespace(nodeid=name) for name in names]
    assert "".join(item.nodeid[-1] for item in on_engines.choose_for_spark(items)) == done


def test_queries_are_compiled_as_by_users_spark(spark: SparkSession) -> None:
    compiled = spark.conf.get("spark.sql.codegen.wholeStage") == "true"
    assert compiled == (not scale.INTERPRETED)
