"""Options of queries as settings of a session: `SET matchrec.dialect = snowflake`.

A client that sends only SQL cannot pass `Options`. It sets them, and all later statements of its
session run with them. `spark.conf.set("matchrec.dialect", "snowflake")` does the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, get_args

from matchrec.arguments import Algorithm, DialectName, Sort, Transport
from matchrec.errors import gateway as errors
from matchrec.spark.request import MOST_STEPS, Options

# The beginning of the names of the settings.
SETTING_PREFIX = "matchrec."

# The setting that marks sessions which a gateway has prepared. It is not an option.
PREPARED_SETTING = "matchrec.gateway.prepared"


@dataclass(frozen=True, slots=True)
class SettableOption:
    """An option of queries that a session can set."""

    # The value in a session that does not set the option, as `SET matchrec.sort` shows it.
    default: str
    # All values; empty if every whole number from 1 to `MOST_STEPS` is a value.
    choices: tuple[str, ...] = ()


# The options by their names, without SETTING_PREFIX.
SETTABLE_OPTIONS = {
    "dialect": SettableOption("spark", get_args(DialectName)),
    "algorithm": SettableOption("auto", get_args(Algorithm)),
    "sort": SettableOption("auto", get_args(Sort)),
    "transport": SettableOption("auto", get_args(Transport)),
    "max_steps": SettableOption("no limit"),
}

# A statement about an option. Sail rejects such statements, so the gateway answers them itself, on
# all engines alike. `SET matchrec.sort` shows the value.
OPTION_STATEMENT = re.compile(
    r"""\s*(?P<action>SET|RESET)\s+matchrec\.(?P<name>\w+)
        (\s*=\s*(?P<quote>['"]?)(?P<value>[^'";]*)(?P=quote))?\s*;?\s*""",
    re.IGNORECASE | re.VERBOSE,
)

# The statement that resets all settings of a session.
RESET_ALL = re.compile(r"\s*RESET\s*;?\s*", re.IGNORECASE)


class OptionAction(Enum):
    """What a statement does with an option."""

    SET = auto()  # SET matchrec.sort = auto
    SHOW = auto()  # SET matchrec.sort
    RESET = auto()  # RESET matchrec.sort


@dataclass(frozen=True, slots=True)
class OptionStatement:
    """A statement about an option of matchrec."""

    action: OptionAction
    # The option, a key of `SETTABLE_OPTIONS`.
    name: str
    # The new value; "" for other actions than SET.
    value: str = ""


def is_about_setting(text: str) -> bool:
    """Return whether a text is about an option, even if its name or value is wrong, or RESET."""
    return OPTION_STATEMENT.fullmatch(text) is not None or resets_all(text)


def resets_all(text: str) -> bool:
    """Return whether a text resets all settings of a session."""
    return RESET_ALL.fullmatch(text) is not None


def read_option_statement(text: str) -> OptionStatement | None:
    """Return what a statement does with an option; None if it is about no option of matchrec.

    Raises:
        MatchRecognizeError: there is no such option, or it cannot have this value.

    >>> statement = read_option_statement("SET matchrec.dialect = snowflake")
    >>> statement.action.name, statement.name, statement.value
    ('SET', 'dialect', 'snowflake')
    """
    match = OPTION_STATEMENT.fullmatch(text)
    if match is None:
        return None
    name = match["name"].lower()
    if name not in SETTABLE_OPTIONS:
        raise errors.unknown_gateway_setting(name, SETTABLE_OPTIONS)
    is_reset = match["action"].upper() == "RESET"
    if match["value"] is None:
        return OptionStatement(OptionAction.RESET if is_reset else OptionAction.SHOW, name)
    if is_reset:
        raise errors.reset_with_value(name)
    value = match["value"].strip()
    check_setting(name, value)
    return OptionStatement(OptionAction.SET, name, value)


def check_setting(name: str, value: str) -> None:
    """Check the name and the value of a setting.

    Raises:
        MatchRecognizeError: there is no such option, or it cannot have this value.
    """
    if name not in SETTABLE_OPTIONS:
        raise errors.unknown_gateway_setting(name, SETTABLE_OPTIONS)
    choices = SETTABLE_OPTIONS[name].choices
    if choices and value not in choices:
        raise errors.unknown_setting_value(name, value, choices)
    if not choices and read_steps(value) is None:
        raise errors.setting_not_a_number(name, value, most=MOST_STEPS)


def read_steps(digits: str) -> int | None:
    """Return the value of `max_steps`; None if it is not a number from 1 to MOST_STEPS.

    >>> read_steps("007"), read_steps("0"), read_steps("9" * 5000)
    (7, None, None)
    """
    significant_digits = digits.lstrip("0")
    # Python does not convert texts with thousands of digits.
    if not digits.isdecimal() or not 1 <= len(significant_digits) <= len(str(MOST_STEPS)):
        return None
    steps = int(significant_digits)
    return steps if steps <= MOST_STEPS else None


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
    dialect = values.pop("dialect", SETTABLE_OPTIONS["dialect"].default)
    if "max_steps" in values:
        values["max_steps"] = read_steps(values["max_steps"])
    return dialect, Options(**values)
