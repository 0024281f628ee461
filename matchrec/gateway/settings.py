"""Options of queries as settings of a session: `SET matchrec.dialect = snowflake`.

A client that sends only SQL cannot pass `Options`. It sets them in its session, and all later
statements of the session run with them. `spark.conf.set("matchrec.dialect", "snowflake")` does the
same.

An *option* is an argument of matchrec: the dialect, or a field of `Options`. Its *setting* is the
name by which a session stores it: the setting of `dialect` is `matchrec.dialect`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, TypeAlias, get_args

from matchrec.arguments import Algorithm, DialectName, Sort, Transport
from matchrec.errors import gateway as errors
from matchrec.spark.request import MOST_STEPS, NO_OPTIONS, Options

# The beginning of the names of the settings.
SETTING_PREFIX = "matchrec."

# The setting that marks sessions which a gateway has prepared. It is not an option.
PREPARED_SETTING = "matchrec.gateway.prepared"


@dataclass(frozen=True, slots=True)
class WordOption:
    """An option whose value is one of a few words."""

    words: tuple[str, ...]
    # The value in a session that does not set the option.
    default: str

    def check(self, name: str, value: str) -> None:
        """Check a value of the option with this name.

        Raises:
            MatchRecognizeError: the value is not one of the words.
        """
        if value not in self.words:
            raise errors.unknown_setting_value(name, value, self.words)


@dataclass(frozen=True, slots=True)
class StepLimitOption:
    """The option `max_steps`, whose value is a whole number."""

    # What a session shows that does not set the option.
    default: str = "no limit"

    def check(self, name: str, value: str) -> None:
        """Check a value of the option with this name.

        Raises:
            MatchRecognizeError: the value is not a number from 1 to MOST_STEPS.
        """
        if read_steps(value) is None:
            raise errors.setting_not_a_number(name, value, most=MOST_STEPS)


SettableOption: TypeAlias = WordOption | StepLimitOption

# The options that a session can set, by their names.
SETTABLE_OPTIONS: dict[str, SettableOption] = {
    "dialect": WordOption(get_args(DialectName), default="spark"),
    "algorithm": WordOption(get_args(Algorithm), NO_OPTIONS.algorithm),
    "sort": WordOption(get_args(Sort), NO_OPTIONS.sort),
    "transport": WordOption(get_args(Transport), NO_OPTIONS.transport),
    "max_steps": StepLimitOption(),
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
    # The name of the option, a key of `SETTABLE_OPTIONS`.
    name: str
    # The new value; "" for other actions than SET.
    value: str = ""


def is_option_statement(text: str) -> bool:
    """Return whether a text sets, shows or resets options of matchrec.

    `RESET` alone resets all of them. An option with an unknown name or a wrong value counts, too.
    """
    return OPTION_STATEMENT.fullmatch(text) is not None or resets_all(text)


def resets_all(text: str) -> bool:
    """Return whether a text resets all settings of a session."""
    return RESET_ALL.fullmatch(text) is not None


def read_option_statement(text: str) -> OptionStatement | None:
    """Return what a statement does with an option; None if it is not about a single option.

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
    option = find_option(name)
    is_reset = match["action"].upper() == "RESET"
    if match["value"] is None:
        return OptionStatement(OptionAction.RESET if is_reset else OptionAction.SHOW, name)
    if is_reset:
        raise errors.reset_with_value(name)
    value = match["value"].strip()
    option.check(name, value)
    return OptionStatement(OptionAction.SET, name, value)


def find_option(name: str) -> SettableOption:
    """Return the option with a name.

    Raises:
        MatchRecognizeError: there is no such option.
    """
    option = SETTABLE_OPTIONS.get(name)
    if option is None:
        raise errors.unknown_gateway_setting(name, SETTABLE_OPTIONS)
    return option


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


@dataclass(frozen=True, slots=True)
class SessionValues:
    """What a session sets for its queries, or the defaults."""

    dialect: DialectName
    options: Options


def read_session_values(values: Mapping[str, str]) -> SessionValues:
    """Return the dialect and the options that a session sets.

    Args:
        values: the values of the options that the session sets, by the names of the options.

    Raises:
        MatchRecognizeError: there is no such option, or it cannot have this value.
    """
    for name, value in values.items():
        find_option(name).check(name, value)
    # The checked words are those of the types of the arguments, which type checkers do not know.
    arguments: dict[str, Any] = {
        name: read_steps(value) if name == "max_steps" else value for name, value in values.items()
    }
    dialect = arguments.pop("dialect", SETTABLE_OPTIONS["dialect"].default)
    return SessionValues(dialect, Options(**arguments))
