"""Tests of `matchrec warm`."""

from __future__ import annotations

import os
import warnings
from typing import Any

import pytest
from pyspark.sql import SparkSession

from matchrec.cli.warm import build_queries, build_query_of_many_rows, hide_advice
from matchrec.jit import compile_lock
from matchrec.jit.first_steps import LateKernel
from matchrec.search.kernels import sorting, texts
from matchrec.worker.sorting import words

KERNELS = {
    kernel
    for module in (sorting, texts)
    for kernel in vars(module).values()
    if type(kernel) is LateKernel
}


def test_the_query_of_many_rows_needs_every_kernel_of_the_sort(
    request: pytest.FixtureRequest, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So `warm` compiles all of them. NumPy does their work here, because compiling takes long."""
    if request.config.getoption("--on") != "sail":
        pytest.skip("Spark's workers are other processes, which the test cannot watch")
    needed_kernels: set[Any] = set()

    def replace_kernel(kernel: LateKernel[..., Any], _: object, __: object) -> bool:
        needed_kernels.add(kernel)
        return True

    monkeypatch.setattr(LateKernel, "take_steps", replace_kernel)
    monkeypatch.setattr(words, "is_numpy_slow", lambda: True)
    rows = build_query_of_many_rows(spark).collect()
    assert sorted(tuple(row) for row in rows) == [(0, 1, "even"), (2**62, 1, "odd")]
    assert len(KERNELS) == 9
    assert needed_kernels >= KERNELS


def test_the_user_gets_no_warnings_about_the_queries_of_the_command(spark: SparkSession) -> None:
    with pytest.warns(match="SKIP TILL NEXT MATCH"):
        list(build_queries(spark))
    with warnings.catch_warnings(record=True) as shown_warnings, hide_advice():
        list(build_queries(spark))
    assert shown_warnings == []


def test_the_command_does_not_advise_to_run_itself(capsys: pytest.CaptureFixture[str]) -> None:
    print_compiling = compile_lock.print_compiling.__wrapped__  # without the cache
    environment = dict(os.environ)
    with hide_advice():
        print_compiling()
    assert capsys.readouterr().err == ""
    assert dict(os.environ) == environment
    print_compiling()
    assert capsys.readouterr().err == f"{compile_lock.COMPILING_MESSAGE}\n"
