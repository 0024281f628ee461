"""The types of arguments: parsers of their texts, and the errors for malformed ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import click

from matchrec.cli.values import PlainValue, read_plain_value
from matchrec.cli.written_files import parse_output_file
from matchrec.errors import MatchRecognizeError
from matchrec.errors import command as errors
from matchrec.explain.pictures import figures
from matchrec.spark.start.engine_names import is_engine_name

T = TypeVar("T")

# The values of a repeatable option NAME=VALUE: names, each with its value. Such an argument is
# called an assignment.
Pairs = tuple[tuple[str, T], ...]

# A range that a user may write instead of a list of values, such as `1..5`. It is not supported,
# but the error lists its first values. Numbers of 18 digits fit in 64 bits.
VALUE_RANGE = re.compile(r"(-?\d{1,18})\.\.(-?\d{1,18})")
# How many values of a range the error lists.
LISTED_VALUE_COUNT = 3

# The largest number of an option that sets no other limit. It fits in 64 bits.
LARGEST_NUMBER = 10**18 - 1


class ParsedType(click.ParamType):  # type: ignore[type-arg]  # generic in newer versions only
    """The type of an argument that a function parses.

    If the function raises a `MatchRecognizeError`, click reports it as an error about the argument.
    """

    def __init__(self, name: str, parse: Callable[[str], object]) -> None:
        """Create the type.

        Args:
            name: the name of the value in the help, such as "FILE".
            parse: returns the value of an argument, or raises a `MatchRecognizeError`.
        """
        self.name = name
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse an argument, and report a failure as click does."""
        try:
            return self._parse(str(value))  # a default can be a number
        except MatchRecognizeError as error:
            self.fail(str(error), param, ctx)


class AssignmentType(ParsedType):
    """The type of an argument NAME=VALUE, whose parser gets only arguments of this form."""

    def __init__(
        self,
        name: str,
        parse: Callable[[str], object],
        *,
        value_form: str = "VALUE",
        may_lack_name: bool = True,
    ) -> None:
        """Create the type.

        Args:
            name: the form of the argument in the help, such as "NAME=VALUE".
            parse: returns the value of an argument, or raises a `MatchRecognizeError`.
            value_form: how the error writes the value after a name, such as "VALUE,VALUE".
            may_lack_name: whether a word without `=` can be the value, as in `--arg 2026-01-01`.
        """
        super().__init__(name, parse)
        self._value_form = value_form
        self._may_lack_name = may_lack_name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse an argument, and report a failure as click does."""
        if not is_assignment(value):
            example = suggest_assignment(
                param.opts[0] if param is not None else "",
                value,
                value_form=self._value_form,
                may_lack_name=self._may_lack_name,
            )
            error = errors.malformed_setting(argument=value, example=example)
            self.fail(str(error), param, ctx)
        return super().convert(value, param, ctx)


class WholeNumber(ParsedType):
    """A whole number in a range. Unlike `click.IntRange`, it adds no `[x>=1]` to the help."""

    def __init__(self, least: int = 1, most: int = LARGEST_NUMBER, example: int = 10) -> None:
        """Create the type of a range.

        Args:
            least: the smallest number, 0 or more.
            most: the largest number.
            example: a number that the error for a wrong text suggests.
        """
        super().__init__("N", self._read_number)
        self._least = least
        self._most = most
        self._example = example

    def _read_number(self, text: str) -> int:
        """Return the number with these digits.

        Raises:
            MatchRecognizeError: the text has other characters, or the number is out of range.
        """
        digits = text.lstrip("0") or "0"
        # Python does not convert texts with thousands of digits, so they are counted first.
        has_too_many_digits = len(digits) > len(str(self._most))
        if text.isdecimal() and (has_too_many_digits or int(digits) > self._most):
            raise errors.number_too_large(argument=text, most=self._most)
        if not text.isdecimal() or int(digits) < self._least:
            raise errors.not_a_whole_number(argument=text, least=self._least, example=self._example)
        return int(digits)


def split_assignment(argument: str) -> tuple[str, str]:
    """Split `NAME=VALUE`, see `is_assignment`, into the name and the value."""
    name, _, value = argument.partition("=")
    return name, value


def is_assignment(argument: str) -> bool:
    """Return whether an argument has a name and `=`. The value can be empty."""
    return argument.find("=") > 0


def suggest_assignment(
    option: str, argument: str, *, value_form: str = "VALUE", may_lack_name: bool = True
) -> str:
    """Return how to write an argument that lacks its name or its value.

    A word without a bracket can be the name or the value, so the result offers both, unless the
    word ends with `=`. Any other text is the value.

    Args:
        option: the option, such as `--arg`; "" if it is not known.
        argument: the argument as the user wrote it.
        value_form: see `AssignmentType`.
        may_lack_name: see `AssignmentType`.

    >>> suggest_assignment("--arg", "days")
    '--arg days=VALUE, or --arg NAME=days if days is the value'
    >>> [suggest_assignment("--arg", argument) for argument in ("days=", "=5", "5", "sum(n)")]
    ['--arg days=VALUE', '--arg NAME=5', '--arg NAME=5', '--arg NAME=sum(n)']
    >>> suggest_assignment("--conf", "spark.x", may_lack_name=False)
    '--conf spark.x=VALUE'
    """
    prefix = f"{option} " if option else ""
    name_or_value = argument.strip("=")
    is_word = name_or_value[:1].isalpha() and "(" not in name_or_value
    if argument.startswith("=") or not is_word:
        return f"{prefix}NAME={name_or_value or 'VALUE'}"
    with_value = f"{prefix}{name_or_value}={value_form}"
    if argument.endswith("=") or not may_lack_name:
        return with_value
    return f"{with_value}, or {prefix}NAME={name_or_value} if {name_or_value} is the value"


def parse_parameter(argument: str) -> tuple[str, str]:
    """Split `NAME=VALUE` of a query parameter.

    Raises:
        MatchRecognizeError: there is a colon before the name.
    """
    name, value = split_assignment(argument)
    if name.startswith(":"):
        raise errors.colon_before_name(name=name, plain=name.lstrip(":"))
    return name, value


def parse_candidates(argument: str) -> tuple[str, list[PlainValue]]:
    """Return the name of a query parameter and its values, from `NAME=VALUE,VALUE`.

    Raises:
        MatchRecognizeError: the name is not a parameter's, the values are a range such as 1..5, or
            there is nothing between two commas.

    >>> parse_candidates("days=3,5")
    ('days', [3, 5])
    """
    name, values = split_assignment(argument)
    if not name.isidentifier():
        raise errors.malformed_parameter_name(name=name)
    value_range = VALUE_RANGE.fullmatch(values)
    if value_range is not None:
        first, last = sorted(int(end) for end in value_range.groups())
        raise errors.malformed_value_range(
            values=values, name=name, listed_values=list_first_values(first, last)
        )
    texts = [text.strip() for text in values.split(",")]
    if not all(texts):
        example = ",".join(text for text in texts if text) or "VALUE,VALUE"
        raise errors.missing_candidate(argument=argument, example=f"{name}={example}")
    return name, [read_plain_value(text) for text in texts]


def list_first_values(first: int, last: int) -> str:
    """Return the first values of a range, as an error lists them.

    Args:
        first: the first value.
        last: the last value, which is not less than the first one.

    >>> list_first_values(1, 2), list_first_values(1, 5)
    ('1,2', '1,2,3,...')
    """
    values = range(first, last + 1)
    texts = [str(value) for value in values[:LISTED_VALUE_COUNT]]
    if len(values) > LISTED_VALUE_COUNT:
        texts.append("...")
    return ",".join(texts)


def parse_engine(argument: str) -> str:
    """Return the argument if it is the name of an engine or the address of a server.

    Raises:
        MatchRecognizeError: the argument is neither.
    """
    if not is_engine_name(argument):
        raise errors.unknown_engine(argument=argument)
    return argument


def check_unique_names(
    context: click.Context, option: click.Parameter, pairs: Pairs[T]
) -> Pairs[T]:
    """Check that no name occurs twice in an option, and return its names and values unchanged.

    Args:
        context: click's context of the command.
        option: the option, which the error names.
        pairs: the names and values.

    Raises:
        click.BadParameter: two of the names are the same.
    """
    checked_names: set[str] = set()
    for name, _ in pairs:
        if name in checked_names:
            error = errors.repeated_name(option=option.opts[0], name=name)
            raise click.BadParameter(str(error), context, option)
        checked_names.add(name)
    return pairs


# The names of Spark's settings have points, so a word without `=` is not a value.
SETTING_TYPE = AssignmentType("NAME=VALUE", split_assignment, may_lack_name=False)
PARAMETER_TYPE = AssignmentType("NAME=VALUE", parse_parameter)
AGGREGATE_TYPE = AssignmentType("NAME=AGGREGATE", split_assignment)
CANDIDATES_TYPE = AssignmentType(
    "NAME=VALUE,...", parse_candidates, value_form="VALUE,VALUE", may_lack_name=False
)
FILE_TYPE = ParsedType("FILE", parse_output_file)
PICTURE_TYPE = ParsedType("FILE", partial(parse_output_file, endings=figures.PICTURE_ENDINGS))
SVG_TYPE = ParsedType("FILE", partial(parse_output_file, endings=(".svg",)))
