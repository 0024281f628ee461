"""The address at which a gateway listens, and a check of who could call it there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import grpc

from matchrec.errors import gateway as errors

HOST, PORT = "127.0.0.1", 15002

# A token that gRPC can send in a header. An empty one would let anyone call.
VISIBLE_ASCII = re.compile("[!-~]+")


@dataclass(frozen=True, slots=True)
class Listener:
    """The address at which a gateway listens, and the clients that may call it."""

    host: str = HOST
    # The port; 0 for any free one.
    port: int = PORT
    # The token that clients must send; None if anyone may call.
    token: str | None = None
    # The files with the certificate and its key, in PEM format; both None without TLS.
    tls_cert: Path | None = None
    tls_key: Path | None = None
    # Whether other machines may call without a token.
    allow_anyone: bool = False

    @property
    def url_host(self) -> str:
        """The host as URLs have it: an address of IPv6 is in brackets."""
        return f"[{self.host}]" if ":" in self.host else self.host

    def check(self) -> None:
        """Check who could call, and that TLS has both files.

        Raises:
            MatchRecognizePlanError: TLS lacks a file, clients cannot send the token, or other
                machines could call without one.
        """
        if (self.tls_cert is None) != (self.tls_key is None):
            raise errors.incomplete_tls_files(has_key=self.tls_key is not None)
        if self.token is not None and not VISIBLE_ASCII.fullmatch(self.token):
            raise errors.token_not_allowed()
        if self.token is None and not self.allow_anyone and not is_loopback(self.host):
            raise errors.serving_without_token(self.host)

    def bind(self, server: Any) -> int:
        """Let a server of gRPC listen, and return the port.

        Raises:
            MatchRecognizePlanError: the port is in use, or the host is not one of this machine.
        """
        target = f"{self.url_host}:{self.port}"
        try:
            if self.tls_cert is None or self.tls_key is None:
                return int(server.add_insecure_port(target))
            pair = (self.tls_key.read_bytes(), self.tls_cert.read_bytes())
            return int(server.add_secure_port(target, grpc.ssl_server_credentials([pair])))
        except RuntimeError as error:
            raise errors.address_not_available(self.host, self.port) from error


def is_loopback(host: str) -> bool:
    """Return whether only programs of this machine can reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name
        return host == "localhost"
