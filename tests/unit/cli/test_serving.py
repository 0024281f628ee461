"""Tests of how `matchrec serve` ends."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from matchrec.cli.serving import wait_for_signal
from matchrec.errors import MatchRecognizeRunError


class FakeGateway:
    """A gateway that signals to the program when the program checks whether it is running."""

    address = "sc://127.0.0.1:15002"

    def __init__(self, signal_number: int | None) -> None:
        self.signal_number = signal_number

    @property
    def is_running(self) -> bool:
        """Send the signal if there is one. Without a signal, the gateway has stopped."""
        if self.signal_number is None:
            return False
        os.kill(os.getpid(), self.signal_number)
        return True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_wait_and_is_handled_as_before_afterwards(number: int) -> None:
    gateway: Any = FakeGateway(number)
    handler = signal.getsignal(number)
    wait_for_signal(gateway)
    assert signal.getsignal(number) is handler


def test_a_gateway_that_stops_by_itself_is_an_error() -> None:
    gateway: Any = FakeGateway(None)
    with pytest.raises(
        MatchRecognizeRunError, match=r"the gateway at sc://127\.0\.0\.1:15002 has stopped"
    ):
        wait_for_signal(gateway)
