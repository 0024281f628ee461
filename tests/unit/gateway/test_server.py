"""The start and the end of a gateway's server."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("grpc_status.rpc_status")

import matchrec
from matchrec.gateway.listener import Listener
from matchrec.gateway.server import GatewayServer
from tests.unit.gateway.fake_engine import FakeEngine, run_engine


class FakePlanner:
    """A planner that only notes whether it is closed."""

    is_closed = False

    def close(self) -> None:
        """Note the call."""
        self.is_closed = True


def make_server(port: int, planner: Any) -> GatewayServer:
    """Return a server at a port of this machine, whose engine need not run."""
    listener = Listener(
        host="127.0.0.1", port=port, token=None, tls_cert=None, tls_key=None, allow_anyone=False
    )
    return GatewayServer(listener, "sc://localhost:1", planner)


def test_a_gateway_can_be_stopped_twice() -> None:
    with run_engine(FakeEngine()) as (port, _):
        with matchrec.serve(engine=f"sc://localhost:{port}", port=0) as gateway:
            gateway.stop()
            assert not gateway.is_running
        gateway.stop()


def test_a_server_that_cannot_start_closes_what_it_has_opened() -> None:
    with (
        run_engine(FakeEngine()) as (engine_port, _),
        matchrec.serve(engine=f"sc://localhost:{engine_port}", port=0) as gateway,
    ):
        planner = FakePlanner()
        server = make_server(int(gateway.address.rpartition(":")[2]), planner)
        server.run()
        with pytest.raises(matchrec.MatchRecognizePlanError):
            server.started.result(timeout=0)
        assert planner.is_closed
