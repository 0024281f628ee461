"""Errors of a worker: their messages, and the fields that survive Spark's own text."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import pytest

from matchrec import memory
from matchrec.errors import MatchRecognizeRunError
from matchrec.errors.kinds import with_fields
from matchrec.errors.run.failures import division_by_zero
from matchrec.errors.run.location import RowLocation
from matchrec.worker import error_reports

LOCATION = RowLocation({"`k`": "a"}, 3)
LIMIT = 300 << 20


class Unloadable:
    """An object whose libraries fail to load when it is unpickled."""

    # The error with which they fail.
    error: Exception = OSError("Could not find/load shared object file 'libllvmlite.so'")

    def __reduce__(self) -> tuple[object, ...]:
        return fail, (self.error,)


def fail(error: Exception) -> None:
    """Raise an error."""
    raise error


def run_out_of_memory() -> Iterator[int]:
    """Raise a MemoryError."""
    yield 1
    raise MemoryError


def divide_by_zero() -> Iterator[int]:
    """Raise the error of a division by zero."""
    yield 1
    raise division_by_zero(variable="B", location=LOCATION)


def test_fields_come_back_from_any_text_around_them() -> None:
    with pytest.raises(MatchRecognizeRunError) as caught:
        list(error_reports.report_errors(divide_by_zero))
    text = f"[X] Job aborted:\n{caught.value} SQLSTATE: 39000\n\tat org.apache {{}}"
    error = MatchRecognizeRunError.from_exception(RuntimeError(text))
    assert error is not None
    assert str(error) == str(division_by_zero(variable="B", location=LOCATION))
    assert (error.partition, error.row_number) == ({"k": "a"}, 3)


def test_an_error_in_the_chain_is_found() -> None:
    ours = division_by_zero(variable="B", location=LOCATION)
    outer = RuntimeError("outside")
    outer.__cause__ = ours
    assert MatchRecognizeRunError.from_exception(outer) is ours


def test_a_text_that_was_cut_off_has_no_fields() -> None:
    text = str(with_fields(division_by_zero(variable="B", location=LOCATION)))
    assert MatchRecognizeRunError.from_exception(RuntimeError(text[:-5])) is None


def test_a_row_has_no_number_if_irrelevant_rows_were_left_out() -> None:
    assert (
        division_by_zero(variable="B", location=RowLocation({}, 3, relevant_only=True)).row_number
        is None
    )


def test_fields_survive_pickling() -> None:
    ours = pickle.loads(pickle.dumps(division_by_zero(variable="B", location=LOCATION)))
    assert (ours.partition, ours.row_number) == ({"k": "a"}, 3)


@pytest.mark.parametrize("error", [Unloadable.error, ImportError("failed to map"), MemoryError()])
def test_libraries_that_find_no_memory_name_the_limit(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    monkeypatch.setattr(Unloadable, "error", error)
    monkeypatch.setattr(memory, "find_limit", lambda: LIMIT)
    payload = pickle.dumps(Unloadable())
    with pytest.raises(MatchRecognizeRunError, match="its limit is 300 MiB"):
        error_reports.unpickle(payload)
    monkeypatch.setattr(memory, "find_limit", lambda: None)
    # Without a limit, only a MemoryError surely means that there is too little memory.
    expected_class = MatchRecognizeRunError if isinstance(error, MemoryError) else type(error)
    with pytest.raises(expected_class):
        error_reports.unpickle(payload)


def test_a_worker_without_memory_names_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "find_limit", lambda: LIMIT)
    with pytest.raises(MatchRecognizeRunError, match=r"spark\.executor\.pyspark\.memory"):
        list(error_reports.report_errors(run_out_of_memory))


def test_without_a_limit_the_machine_has_too_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "find_limit", lambda: None)
    with pytest.raises(MatchRecognizeRunError, match="its machine or container has no more"):
        list(error_reports.report_errors(run_out_of_memory))


def test_a_missing_package_is_not_taken_for_missing_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "find_limit", lambda: LIMIT)
    monkeypatch.setattr(Unloadable, "error", ModuleNotFoundError("numba"))
    with pytest.raises(ModuleNotFoundError):
        error_reports.unpickle(pickle.dumps(Unloadable()))
