"""The address of a gateway, and the checks before it starts."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import grpc
import pytest

from matchrec.errors import MatchRecognizePlanError
from matchrec.gateway.listener import Listener, is_loopback
from matchrec.gateway.server import OWN_PORT_OPTION
from matchrec.warnings import NoEffectWarning

KEYS = Path(__file__).parents[2] / "spark" / "gateway"


@pytest.mark.parametrize("token", ["", " ", "two words", "line\n", "schlüssel"])
@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_token_that_protects_nothing_or_cannot_be_sent(host: str, token: str) -> None:
    with pytest.raises(MatchRecognizePlanError) as raised:
        Listener(host, token=token).check()
    assert raised.value.code == "token-not-allowed"


def test_other_machines_need_a_token() -> None:
    Listener("0.0.0.0", token="a-B_c~1!=").check()
    Listener("0.0.0.0", allow_anyone=True).check()
    Listener("127.0.0.1").check()
    with pytest.raises(MatchRecognizePlanError, match="without a token is not allowed"):
        Listener("0.0.0.0").check()


def test_to_allow_anyone_without_effect() -> None:
    with pytest.warns(NoEffectWarning, match="because clients must send the token anyway"):
        Listener("0.0.0.0", token="secret", allow_anyone=True).check()
    with pytest.warns(NoEffectWarning, match="because other machines cannot reach 127.0.0.1"):
        Listener("127.0.0.1", allow_anyone=True).check()


def test_the_files_of_tls_must_be_readable(tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    key.touch()
    missing = tmp_path / "nope.pem"
    listener = Listener(tls_cert=missing, tls_key=key)
    with pytest.raises(MatchRecognizePlanError) as raised:
        listener.check()
    assert raised.value.code == "tls-file-not-readable"
    assert f"the TLS file `{missing}` cannot be read: No such file or directory" in str(
        raised.value
    )
    with pytest.raises(
        MatchRecognizePlanError, match=f"`{tmp_path}` cannot be read: Is a directory"
    ):
        Listener(tls_cert=key, tls_key=tmp_path).check()


@pytest.mark.parametrize("name", ["certificate", "key"])
def test_files_that_are_not_a_certificate_and_its_key(name: str, tmp_path: Path) -> None:
    malformed = tmp_path / "bad.pem"
    malformed.write_text("no PEM")
    files = {"certificate": KEYS / "localhost.pem", "key": KEYS / "localhost.key", name: malformed}
    listener = Listener(port=0, tls_cert=files["certificate"], tls_key=files["key"])
    with pytest.raises(MatchRecognizePlanError) as raised:
        listener.check()
    assert raised.value.code == "tls-files-not-usable"
    assert f"note: the certificate is {files['certificate']}" in str(raised.value)
    assert f"note: the key is {files['key']}" in str(raised.value)


def test_a_port_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        listener = Listener(
            port=port, tls_cert=KEYS / "localhost.pem", tls_key=KEYS / "localhost.key"
        )
        with pytest.raises(MatchRecognizePlanError) as raised:
            asyncio.run(bind(listener))
    assert raised.value.code == "address-not-available"


@pytest.mark.parametrize(
    ("host", "hint"), [("[::1]", "help: write ::1"), ("", "help: write 127.0.0.1")]
)
def test_a_host_in_brackets_or_an_empty_one_is_rejected(host: str, hint: str) -> None:
    with pytest.raises(MatchRecognizePlanError) as raised:
        Listener(host, token="secret").check()
    assert raised.value.code == "host-not-allowed"
    assert hint in str(raised.value)


def test_the_repr_has_no_token() -> None:
    listener = Listener(token="secret")
    assert listener.token == "secret"
    assert "secret" not in repr(listener)


def test_an_ipv6_address_in_use_is_shown_as_in_a_url() -> None:
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(MatchRecognizePlanError) as raised:
            asyncio.run(bind(Listener("::1", port)))
    assert raised.value.code == "address-not-available"
    assert f"cannot listen at [::1]:{port}" in str(raised.value)


async def bind(listener: Listener) -> None:
    """Let a server of gRPC listen, and stop it."""
    server = grpc.aio.server(options=[OWN_PORT_OPTION])
    listener.bind(server)
    await server.stop(None)


@pytest.mark.parametrize(
    ("host", "is_local"),
    [
        ("127.0.0.1", True),
        ("::1", True),
        ("localhost", True),
        ("LocalHost", True),
        ("0.0.0.0", False),
        ("localhost.example.com", False),
    ],
)
def test_addresses_of_this_machine_are_recognized(host: str, is_local: bool) -> None:
    assert is_loopback(host) is is_local
