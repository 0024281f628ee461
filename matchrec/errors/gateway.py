"""Errors in what clients send to the gateway, and in how it is started."""

from __future__ import annotations

from collections.abc import Iterable

from matchrec.errors.kinds import (
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
    find_nearest,
    join_names,
)


def marker_not_literal(name: str) -> MatchRecognizeUnsupportedError:
    """Return the error for a marker whose value a client sends as an expression."""
    error = MatchRecognizeUnsupportedError(
        f"the value of marker `{name}` is not supported: it is an expression",
        hint="pass a literal, or write the expression in the query",
    )
    error.code = "marker-not-a-literal"
    return error


def unknown_setting(name: str, names: Iterable[str]) -> MatchRecognizePlanError:
    """Return the error for a setting `matchrec.NAME` that does not exist."""
    nearest = find_nearest(name, names)
    error = MatchRecognizePlanError(
        f"unknown setting `matchrec.{name}`",
        notes=(f"the settings are: {join_names([f'matchrec.{known}' for known in names])}",),
        hint=f"write SET matchrec.{nearest}" if nearest else None,
    )
    error.code = "unknown-setting"
    return error


def unknown_value(name: str, value: str, values: Iterable[str]) -> MatchRecognizePlanError:
    """Return the error for a setting that cannot have a value."""
    error = MatchRecognizePlanError(
        f"unknown value `{value}` of the setting `matchrec.{name}`",
        hint=f"write one of: {join_names(values)}",
    )
    error.code = "unknown-value-of-setting"
    return error


def value_not_a_number(name: str, value: str) -> MatchRecognizePlanError:
    """Return the error for a setting whose value must be a whole number."""
    error = MatchRecognizePlanError(
        f"the value `{value}` of the setting `matchrec.{name}` is not a whole number",
        hint=f"write for example SET matchrec.{name} = 1000000",
    )
    error.code = "setting-not-a-number"
    return error


def session_without_server() -> MatchRecognizePlanError:
    """Return the error for a classic session of Spark, which no other program can call."""
    error = MatchRecognizePlanError(
        "a classic session of Spark cannot be served, because it has no server of Spark Connect",
        hint='start one with matchrec.session(engine="sail"), or pass the address of a server,'
        ' matchrec.serve(engine="sc://host:15002")',
    )
    error.code = "session-without-server"
    return error


def address_in_use(host: str, port: int) -> MatchRecognizePlanError:
    """Return the error for an address at which the gateway cannot listen."""
    error = MatchRecognizePlanError(
        f"the gateway cannot listen at {host}:{port}",
        notes=("another program may use the port, or the host is not one of this machine",),
        hint="choose another port, or 0 for any free one",
    )
    error.code = "address-not-available"
    return error


def open_to_everyone(host: str) -> MatchRecognizePlanError:
    """Return the error for a gateway without a token that other machines could call."""
    error = MatchRecognizePlanError(
        f"serving at {host} without a token is not allowed",
        notes=("whoever reaches a server of Spark Connect can run any program on its machine",),
        hint="pass a token, or allow_anyone=True (--allow-anyone) if the network is protected",
    )
    error.code = "serving-without-token"
    return error


def half_of_tls() -> MatchRecognizePlanError:
    """Return the error for a certificate without its key, or a key without its certificate."""
    error = MatchRecognizePlanError(
        "a certificate of TLS needs its key, and the key its certificate",
        hint="pass both files, in PEM format",
    )
    error.code = "incomplete-tls-files"
    return error
