"""Options of queries as settings of a session: `SET matchrec.dialect = snowflake`.

A client that sends only SQL cannot pass `Options`. It sets them, and all later statements of its
session run with them. `spark.conf.set("matchrec.dialect", "snowflake")` does the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, get_args

from matchrec.arguments import Algorithm, DialectName, Sort, Transport
from matchrec.errors import gateway as errors
from matchrec.spark.request import Options

# The beginning of the names of the settings.
SETTING_PREFIX = "matchrec."

# The setting that marks sessions which have the views of the gateway. It is not an option.
PREPARED_SETTING = "matchrec.gateway.prepared"

# The values of each option; empty if any whole number of 1 or more is a value.
CHOICES: dict[str, tuple[str, ...]] = {
    "dialect": get_args(DialectName),
    "algorithm": get_args(Algorithm),
    "sort": get_args(Sort),
    "transport": get_args(Transport),
    "max_steps": (),
}

# A statement that sets an option. Sail rejects a value without quotes, so the gateway answers the
# statement itself, on all engines alike.
SET_STATEMENT = re.compile(
    r"\s*SET\s+matchrec\.(?P<name>\w+)\s*=\s*(?P<quote>['\"]?)(?P<value>[\w ]*)(?P=quote)\s*;?\s*",
    re.IGNORECASE,
)


def is_set_statement(text: str) -> bool:
    """Return whether a text sets an option of matchrec, even if its name or value is wrong."""
    return SET_STATEMENT.fullmatch(text) is not None


def read_set_statement(text: str) -> tuple[str, str] | None:
    """Return the option and the value that a statement sets; None if it sets no option of matchrec.

    Raises:
        MatchRecognizeError: there is no such option, or it cannot have this value.

    >>> read_set_statement("SET matchrec.dialect = snowflake")
    ('dialect', 'snowflake')
    """
    match = SET_STATEMENT.fullmatch(text)
    if match is None:
        return None
    name, value = match["name"].lower(), match["value"].strip()
    check_setting(name, value)
    return name, value


def check_setting(name: str, value: str) -> None:
    """Check the name and the value of a setting.

    Raises:
        MatchRecognizeError: there is no such option, or it cannot have this value.
    """
    if name not in CHOICES:
        raise errors.unknown_gateway_setting(name, CHOICES)
    choices = CHOICES[name]
    if choices and value not in choices:
        raise errors.unknown_setting_value(name, value, choices)
    if not choices and not (value.isdecimal() and int(value) > 0):
        raise errors.setting_not_a_number(name, value)


def build_options(settings: Mapping[str, str]) -> tuple[Any, Options]:
    """Return the dialect and the options that the settings of a session choose.

    Args:
        settings: the values of the settings, by their names without the prefix.

    Raises:
        MatchRecognizeError: there is no such option, or it cannot have this value.
    """
    for name, value in settings.items():
        check_setting(name, value)
    values: dict[str, Any] = dict(settings)
    dialect = values.pop("dialect", "spark")
    if "max_steps" in values:
        values["max_steps"] = int(values["max_steps"])
    return dialect, Options(**values)
