"""Addresses of servers of Spark Connect, such as `sc://there:15002/;token=x`."""

from __future__ import annotations

import os
import re
import socket
from urllib.parse import urlsplit

from matchrec.errors import machine as errors

# The address of a server: `sc://host:port`, then perhaps parameters.
SERVER_ADDRESS = re.compile(r"sc://(?:\[[^\]\s]+\]|[^\s/:;\[\]]+)(?::\d+)?(?:[/;]\S*)?")
# The port of a server whose address has none.
DEFAULT_PORT = 15002

# How long to wait until a server accepts a connection.
CONNECTION_TIMEOUT_SECONDS = 10

# Variables with the address of a proxy, through which gRPC then reaches a server.
PROXY_VARIABLES = ("grpc_proxy", "https_proxy", "http_proxy", "HTTPS_PROXY")


def find_host_and_port(address: str) -> tuple[str | None, int]:
    """Return the host and the port of the address of a server; None as the host if it has none.

    Raises:
        ValueError: the port is not a number below 65,536, or a bracket is not closed.

    >>> find_host_and_port("sc://there/;token=x"), find_host_and_port("there:4040")
    (('there', 15002), ('there', 4040))
    """
    url = urlsplit(address if "://" in address else f"sc://{address}")
    return url.hostname, url.port or DEFAULT_PORT


def check_server(address: str) -> None:
    """Check that a server listens at an address, because PySpark's client tries for ten minutes.

    If gRPC uses a proxy, nothing is checked, because the server need not be reachable directly.

    Raises:
        MatchRecognizeError: no server listens at the address.
    """
    if any(os.environ.get(name) for name in PROXY_VARIABLES):
        return
    try:
        socket.create_connection(find_host_and_port(address), CONNECTION_TIMEOUT_SECONDS).close()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise errors.server_not_reachable(address=address, reason=reason) from error
