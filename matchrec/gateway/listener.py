"""Where a gateway listens, and who may connect: host, port, token and TLS files."""

from __future__ import annotations

import re
import ssl
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

import grpc

from matchrec.errors import gateway as errors
from matchrec.errors.idle_arguments import allow_anyone_on_this_machine, allow_anyone_with_token
from matchrec.errors.warn_caller import warn_caller
from matchrec.gateway.defaults import DEFAULT_HOST, DEFAULT_PORT, MAX_PORT

# A token that gRPC can send in a header: visible ASCII characters. The pattern excludes an empty
# token, with which anyone could connect.
TOKEN_PATTERN = re.compile("[!-~]+")


@dataclass(frozen=True, slots=True)
class Listener:
    """The address at which a gateway listens, and the clients that are allowed to connect."""

    # An address of this machine, or a name. An IPv6 address has no brackets.
    host: str = DEFAULT_HOST
    # The port; 0 for any free one.
    port: int = DEFAULT_PORT
    # The token that clients must send; None if they need no token.
    # It is not in the repr, which can get into logs and tracebacks.
    token: str | None = field(default=None, repr=False)
    # The files with the certificate and its key, in PEM format; both None without TLS.
    tls_cert: Path | None = None
    tls_key: Path | None = None
    # Whether to listen for other machines although there is no token.
    allow_anyone: bool = False

    @property
    def url_host(self) -> str:
        """Return the host as it is written in a URL: an IPv6 address is in brackets."""
        return f"[{self.host}]" if ":" in self.host else self.host

    def check(self) -> None:
        """Check the host, the token and the TLS files, and that strangers cannot connect.

        Warn if `allow_anyone` has no effect.

        Raises:
            MatchRecognizePlanError: the host is not an address or a name, TLS lacks a file, a file
                cannot be read, the files are not a certificate and its key, clients cannot send the
                token, or other machines could connect without one.
        """
        if not self.host or self.host.startswith("["):
            raise errors.host_not_allowed(self.host)
        self.check_tls_files()
        if self.token is not None and not TOKEN_PATTERN.fullmatch(self.token):
            raise errors.token_not_allowed()
        if self.token is None and not self.allow_anyone and not is_loopback(self.host):
            raise errors.serving_without_token(self.host)
        if self.allow_anyone and self.token is not None:
            warn_caller(allow_anyone_with_token())
        elif self.allow_anyone and is_loopback(self.host):
            warn_caller(allow_anyone_on_this_machine(host=self.host))

    def check_tls_files(self) -> None:
        """Check that the files for TLS, if there are any, are a certificate and its key.

        gRPC does not say what is wrong with such files.

        Raises:
            MatchRecognizePlanError: a file is missing, cannot be read, or cannot be used.
        """
        if self.tls_cert is None and self.tls_key is None:
            return
        if self.tls_cert is None or self.tls_key is None:
            raise errors.incomplete_tls_files(has_key=self.tls_key is not None)
        read_tls_file(self.tls_cert)
        read_tls_file(self.tls_key)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            # gRPC cannot use a key with a password. Without the empty password, Python would ask
            # the user for it.
            context.load_cert_chain(self.tls_cert, self.tls_key, password="")
        except (OSError, ValueError) as error:  # an SSLError is an OSError
            raise errors.tls_files_not_usable(self.tls_cert, self.tls_key) from error

    def bind(self, server: grpc.aio.Server) -> int:
        """Make a gRPC server listen at the address, and return the port.

        The system chooses the port if `self.port` is 0. `check` must have found no error.

        Raises:
            MatchRecognizePlanError: the port is in use, the host is not one of this machine, or a
                file for TLS can no longer be read.
        """
        assert 0 <= self.port <= MAX_PORT, "gRPC would use the port modulo 65536"
        target = f"{self.url_host}:{self.port}"
        credentials = self.read_credentials()
        try:
            if credentials is None:
                return int(server.add_insecure_port(target))
            return int(server.add_secure_port(target, credentials))
        except RuntimeError as error:
            raise errors.address_not_available(self.url_host, self.port) from error

    def read_credentials(self) -> grpc.ServerCredentials | None:
        """Return the certificate and its key for a gRPC server; None without TLS.

        Raises:
            MatchRecognizePlanError: a file cannot be read.
        """
        if self.tls_cert is None or self.tls_key is None:
            return None
        key_and_certificate = (read_tls_file(self.tls_key), read_tls_file(self.tls_cert))
        return grpc.ssl_server_credentials([key_and_certificate])


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
    """Return whether only this machine can connect to a server that listens at `host`.

    Args:
        host: an address or a name. For every name but `localhost`, the result is False, because the
            name can have any address.
    """
    try:
        return ip_address(host).is_loopback
    except ValueError:  # not an address but a name
        return host.lower() == "localhost"
