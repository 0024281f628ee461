"""Errors that only the rows can show; they name the partition and the row."""

from __future__ import annotations

from collections.abc import Mapping

from matchrec.errors.kinds import MatchRecognizeRunError


def failed_run(
    sentence: str, keys: Mapping[str, object], row_number: int
) -> MatchRecognizeRunError:
    """The match stopped. keys: the partition's; row_number: of the row in its partition, from 1."""
    named = ", ".join(f"{name} = {value!r}" for name, value in keys.items())
    partition = f"partition {named}" if named else "the only partition"
    return MatchRecognizeRunError(sentence, notes=(f"in {partition}, at row {row_number}",))
