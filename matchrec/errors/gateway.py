"""Errors in what clients send to the gateway, and in how it is started."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from matchrec.errors.kinds import (
    MatchRecognizeError,
    MatchRecognizePlanError,
    MatchRecognizeRunError,
    MatchRecognizeUnsupportedError,
)
from matchrec.errors.misspellings import find_nearest
from matchrec.errors.surface import current_surface
from matchrec.errors.wording import join_names, shorten


def parameter_not_literal(name: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a parameter whose value a client sends as an expression."""
    return MatchRecognizeUnsupportedError(
        f"the value of parameter `{name}` is not supported: it is an expression",
        hint="pass a literal, or write the expression in the query",
        code="parameter-not-literal",
    )


def unknown_gateway_setting(name: str, names: Iterable[str]) -> MatchRecognizePlanError:
    """Return the error for a setting `matchrec.NAME` that does not exist."""
    nearest = find_nearest(name, names)
    return MatchRecognizePlanError(
        f"unknown setting `matchrec.{name}`",
        notes=(f"the settings are: {join_names([f'matchrec.{setting}' for setting in names])}",),
        hint=f"write SET matchrec.{nearest}" if nearest else "name one of these",
        code="unknown-gateway-setting",
    )


def unknown_setting_value(name: str, value: str, values: Iterable[str]) -> MatchRecognizePlanError:
    """Return the error for a setting that cannot have a value."""
    return MatchRecognizePlanError(
        f"unknown value `{value}` of the setting `matchrec.{name}`",
        hint=f"write one of: {join_names(values)}",
        code="unknown-setting-value",
    )


def setting_not_a_number(name: str, value: str, *, most: int) -> MatchRecognizePlanError:
    """Return the error for a setting whose value must be a whole number from 1 to `most`."""
    return MatchRecognizePlanError(
        f"the setting `matchrec.{name}` must be a whole number from 1 to {most:,}, but is "
        f"`{shorten(value)}`",
        hint=f"write for example SET matchrec.{name} = 1000000",
        code="setting-not-a-number",
    )


def reset_with_value(name: str) -> MatchRecognizePlanError:
    """Return the error for `RESET matchrec.NAME = value`."""
    return MatchRecognizePlanError(
        f"a value is not allowed in RESET matchrec.{name}",
        hint=f"write RESET matchrec.{name}, or SET matchrec.{name} = ... for a value",
        code="reset-with-value",
    )


def reset_not_supported() -> MatchRecognizeUnsupportedError:
    """Return the error for RESET without a name on Sail, which has no RESET."""
    return MatchRecognizeUnsupportedError(
        "RESET of all settings is not supported by Sail",
        hint="write RESET matchrec.dialect for a setting of matchrec, SET name = value for another",
        code="reset-not-supported",
    )


def session_and_engine(*, engine: str) -> MatchRecognizePlanError:
    """Return the error for a gateway that is started with a session and an engine.

    Args:
        engine: the engine that was passed.
    """
    return MatchRecognizePlanError(
        f'`engine="{engine}"` is not allowed together with a session',
        notes=("the gateway sends queries to the server of the session",),
        hint=f'write matchrec.serve(spark), or matchrec.serve(engine="{engine}")',
        code="session-and-engine",
    )


def session_without_server() -> MatchRecognizePlanError:
    """Return the error for a classic session of Spark, which no other program can call."""
    return MatchRecognizePlanError(
        "the session has no Spark Connect server",
        notes=("other programs can reach a session of Spark only through such a server",),
        hint='stop the session, and call matchrec.serve(engine="spark"); or pass the address of a '
        'server, matchrec.serve(engine="sc://host:15002")',
        code="session-without-server",
    )


def engine_not_reachable(engine: str) -> MatchRecognizeError:
    """Return the error for a call of a client while the engine's server does not answer."""
    return MatchRecognizeError(
        f"the gateway cannot reach the engine at {engine}",
        notes=("a restarted engine has lost the sessions of its clients",),
        hint="start the engine, and connect again",
        code="engine-not-reachable",
    )


def operation_not_found() -> MatchRecognizeError:
    """Return the error for an execution that Sail does not know.

    By Spark's name for this error, a client knows that it can send its query again. Without the
    name, its first query after a broken connection would fail.
    """
    return MatchRecognizeError(
        "the engine does not know the operation, INVALID_HANDLE.OPERATION_NOT_FOUND",
        hint="run the query again",
        code="operation-not-found",
    )


def address_not_available(url_host: str, port: int) -> MatchRecognizePlanError:
    """Return the error for an address at which the gateway cannot listen.

    Args:
        url_host: the host as it is written in a URL: an IPv6 address is in brackets.
        port: the port.
    """
    return MatchRecognizePlanError(
        f"the gateway cannot listen at {url_host}:{port}",
        notes=("another program may use the port, or this machine does not have the address",),
        hint="choose another port, or 0 for any free one",
        code="address-not-available",
    )


def host_not_allowed(host: str) -> MatchRecognizePlanError:
    """Return the error for a host that is empty, or in brackets as in a URL."""
    address = host.strip("[]")
    return MatchRecognizePlanError(
        f"the host `{host}` is not an address or a name",
        notes=("an IPv6 address has brackets only in a URL",) if address else (),
        hint=f"write {address or '127.0.0.1, or 0.0.0.0 for other machines'}",
        code="host-not-allowed",
    )


def serving_without_token(host: str) -> MatchRecognizePlanError:
    """Return the error for a gateway without a token that other machines could call."""
    is_python = current_surface().has_python_calls
    token = "token=..." if is_python else "--token ..."
    allow_anyone = "allow_anyone=True" if is_python else "--allow-anyone"
    return MatchRecognizePlanError(
        f"serving at {host} without a token is not allowed",
        notes=("whoever reaches a Spark Connect server can run any program on its machine",),
        hint=f"pass {token}, or {allow_anyone} if the network is protected",
        code="serving-without-token",
    )


def token_not_allowed() -> MatchRecognizePlanError:
    """Return the error for a token that is empty, or that clients cannot send."""
    return MatchRecognizePlanError(
        "this token is not allowed",
        notes=("a token has one or more visible ASCII characters and no blanks",),
        hint="pass a random token, such as the result of secrets.token_urlsafe()",
        code="token-not-allowed",
    )


def incomplete_tls_files(*, has_key: bool) -> MatchRecognizePlanError:
    """Return the error for a certificate without its key, or a key without its certificate."""
    is_python = current_surface().has_python_calls
    options = "tls_cert= and tls_key=" if is_python else "--tls-cert and --tls-key"
    return MatchRecognizePlanError(
        f"missing TLS {'certificate' if has_key else 'key'}",
        hint=f"pass both {options}, with files in PEM format",
        code="incomplete-tls-files",
    )


def tls_file_not_readable(path: Path, reason: str) -> MatchRecognizePlanError:
    """Return the error for a certificate or key that does not exist or cannot be read.

    Args:
        path: the file.
        reason: what the system says.
    """
    return MatchRecognizePlanError(
        f"the TLS file `{path}` cannot be read: {reason}", code="tls-file-not-readable"
    )


def tls_files_not_usable(certificate: Path, key: Path) -> MatchRecognizePlanError:
    """Return the error for files that are not a certificate and its key."""
    return MatchRecognizePlanError(
        "the files for TLS are not a certificate and its private key",
        notes=(f"the certificate is {certificate}", f"the key is {key}"),
        hint="pass files in PEM format that belong together, with a key without a password",
        code="tls-files-not-usable",
    )


def gateway_stopped(*, address: str) -> MatchRecognizeRunError:
    """Return the error for a gateway that has stopped although nobody asked it to.

    Args:
        address: where clients connected, `sc://host:port`.
    """
    return MatchRecognizeRunError(
        f"the gateway at {address} has stopped",
        hint="start it again; the lines above may say why it stopped",
        code="gateway-stopped",
    )
