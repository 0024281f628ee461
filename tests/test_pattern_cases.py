"""Runs the `pattern` and `refused` records of `cases/patterns/*.test`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import matchrec
from case_file import CASES, PatternRecord, RefusedRecord, case_files
from matchrec.frontends.pattern import checks
from pattern_notation import built, by_definition, read_events, read_skip
from pattern_trees import Pattern

FOLDER = CASES / "patterns"


def records(kind: str) -> Iterator[Any]:
    for file in case_files(FOLDER):
        for record in getattr(file, kind):
            yield pytest.param(record, id=f"{file.path.stem}:{record.head.line}")


@pytest.mark.parametrize("record", [*records("patterns")])
def test_by_definition(record: PatternRecord) -> None:
    found = by_definition(
        built(record.calls, Pattern),
        read_events(record.events),
        read_skip(record.skip or "no skip"),
        record.timeouts,
    )
    assert any(agrees(record, lines) for lines in found), found


def agrees(record: PatternRecord, lines: list[str]) -> bool:
    """Whether these are the expected lines; without a skip strategy in any order."""
    if record.skip:
        return lines == list(record.expected)
    return sorted(lines) == sorted(record.expected)


@pytest.mark.parametrize("record", [*records("refused")])
def test_refused(record: RefusedRecord) -> None:
    with pytest.raises(matchrec.MatchRecognizeError) as caught:
        refused(record)
    assert type(caught.value).__name__ == record.error
    text = str(caught.value).lower()
    assert not [word for word in record.words if word.lower() not in text], text


def refused(record: RefusedRecord) -> None:
    pattern = built(record.calls, matchrec.Pattern)
    checks.complete(pattern.stages)
    if record.skip:
        skip = read_skip(record.skip)
        checks.skip_target(pattern.stages, skip.stage, f"skip_to_{skip.to}")
