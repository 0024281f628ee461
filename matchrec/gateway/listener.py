"""The address at which a gateway listens, and the checks of who can connect to it there."""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

import grpc

from matchrec.errors import gateway as errors
from matchrec.errors.warn_caller import warn_caller
from matchrec.errors.warnings import allow_anyone_on_this_machine, allow_anyone_with_token
from matchrec.gateway.defaults import DEFAULT_HOST, DEFAULT_PORT

# A token that gRPC can send in a header: visible ASCII characters. The pattern excludes an empty
# token, with which anyone could connect.
TOKEN_PATTERN = re.compile("[!-~]+")


@dataclass(frozen=True, slots=True)
class Listener:
    """The address at which a gateway listens, and the clients that are allowed to connect."""

    host: str = DEFAULT_HOST
    # The port; 0 for any free one.
    port: int = DEFAULT_PORT
    # The token that clients must send; None if they need no token.
    # It is not in the repr, which can get into logs and tracebacks.
    token: str | None = field(default=None, repr=False)
    # The files with the certificate and its key, in PEM format; both None without TLS.
    tls_cert: Path | None = None
    tls_key: Path | None = None
    # Whether other machines can connect without a token.
    allow_anyone: bool = False

    @property
    def url_host(self) -> str:
        """Return the host as it is written in a URL: an IPv6 address is in brackets."""
        return f"[{self.host}]" if ":" in self.host else self.host

    def check(self) -> None:
        """Check that other machines need a token, and that TLS has both files.

        Warn if `allow_anyone` has no effect.

        Raises:
            MatchRecognizePlanError: TLS lacks a file, a file cannot be read, clients cannot send
                the token, or other machines could connect without one.
        """
        if (self.tls_cert is None) != (self.tls_key is None):
            raise errors.incomplete_tls_files(has_key=self.tls_key is not None)
        for path in (self.tls_cert, self.tls_key):
            if path is not None:
                read_tls_file(path)
        if self.token is not None and not TOKEN_PATTERN.fullmatch(self.token):
            raise errors.token_not_allowed()
        if self.token is None and not self.allow_anyone and not is_loopback(self.host):
            raise errors.serving_without_token(self.host)
        if self.allow_anyone and self.token is not None:
            warn_caller(allow_anyone_with_token())
        elif self.allow_anyone and is_loopback(self.host):
            warn_caller(allow_anyone_on_this_machine(host=self.host))

    def bind(self, server: grpc.aio.Server) -> int:
        """Let a gRPC server listen, and return the port.

        Raises:
            MatchRecognizePlanError: the port is in use, the host is not one of this machine, or the
                files for TLS cannot be used.
        """
        target = f"{self.url_host}:{self.port}"
        try:
            if self.tls_cert is None or self.tls_key is None:
                return int(server.add_insecure_port(target))
            key_and_certificate = (read_tls_file(self.tls_key), read_tls_file(self.tls_cert))
            return int(
                server.add_secure_port(target, grpc.ssl_server_credentials([key_and_certificate]))
            )
        except RuntimeError as error:
            # gRPC does not say whether the address or the certificate is wrong.
            self.check_certificate()
            raise errors.address_not_available(self.url_host, self.port) from error

    def check_certificate(self) -> None:
        """Check that the files for TLS, if there are any, are a certificate and its key.

        Raises:
            MatchRecognizePlanError: the files are not a certificate and its key.
        """
        if self.tls_cert is None or self.tls_key is None:
            return
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            # gRPC cannot use a key with a password. Without the empty password, Python would ask
            # the user for it.
            context.load_cert_chain(self.tls_cert, self.tls_key, password="")
        except (OSError, ValueError) as error:  # an SSLError is an OSError
            raise errors.tls_files_not_usable(self.tls_cert, self.tls_key) from error


def read_tls_file(path: Path) -> bytes:
    """Return the content of a file for TLS.

    Raises:
        MatchRecognizePlanError: the file cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise errors.tls_file_not_readable(path, error.strerror or str(error)) from error


def is_loopback(host: str) -> bool:
    """Return whether only programs of this machine can reach an address or a name.

    The result is False if that is not certain.
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:  # not an address but a name
        return host.lower() == "localhost"
