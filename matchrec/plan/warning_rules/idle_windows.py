"""Warnings about windows and timeouts of a Pattern that have no effect."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import assert_never

from matchrec.errors import idle_arguments as warnings
from matchrec.errors.warning_classes import MatchRecognizeWarning
from matchrec.plan.stages import IdleReason, IdleWindow, Staging


def warn_about_idle_windows(staging: Staging) -> Iterator[MatchRecognizeWarning]:
    """Yield a warning for each window that excludes no match, and for timeouts without a window."""
    for window in staging.idle_windows:
        yield describe_idle_window(window)
    timeouts = staging.timeouts
    if timeouts is not None and timeouts.match_end is None and not timeouts.neighbour_windows:
        yield warnings.timeouts_without_window()


def describe_idle_window(window: IdleWindow) -> MatchRecognizeWarning:
    """Return the warning for a window that excludes no match."""
    match window.reason:
        case IdleReason.ONE_REPETITION:
            return warnings.gap_without_repetition(stage=window.stage)
        case IdleReason.LONGER_THAN_MATCH:
            return warnings.gap_beyond_window(
                stage=window.stage, gap=window.length, window=window.match_length
            )
        case IdleReason.FIRST_EVENT:
            return warnings.neighbour_window_of_first_event(stage=window.stage)
        case IdleReason.ONE_EVENT:
            return warnings.window_of_one_event()
        case _:
            assert_never(window.reason)
