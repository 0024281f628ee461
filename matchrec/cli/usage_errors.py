"""Word click's errors about wrong arguments like all other errors of the program.

click prints the usage and its own sentence. matchrec's errors have a headline with a code, and say
what to write instead. Functions that parse arguments raise them as `click.UsageError`, with their
text as the message, and `reword_usage_errors` replaces the errors that click itself raises.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click

from matchrec.cli.messages import print_failure
from matchrec.errors import MatchRecognizeError
from matchrec.errors import command as errors
from matchrec.errors.arguments import unknown_option_value
from matchrec.errors.misspellings import STATEMENT_KEYWORDS, find_nearest
from matchrec.errors.old_names import OPTIONS
from matchrec.errors.surface import COMMAND_LINE, use_surface
from matchrec.explain.pictures import figures

# click's sentence for an option with too few values: "Option '--between' requires 2 arguments."
NEEDED_VALUES = re.compile(r"requires (?P<count>\d+) arguments")

# click's sentence for arguments that a command does not take: "Got unexpected extra argument (x)".
EXTRA_ARGUMENTS = re.compile(r"Got unexpected extra arguments? \((?P<arguments>.*)\)", re.DOTALL)


class WrongUsage(click.UsageError):
    """An error about wrong arguments, which prints like the other errors of the program."""

    def show(self, file: IO[Any] | None = None) -> None:  # noqa: ARG002 -- as click calls it
        """Print the error on stderr."""
        print_failure(self.message)


@contextmanager
def reword_usage_errors() -> Iterator[None]:
    """Raise click's errors about arguments as `WrongUsage` instead.

    Raises:
        WrongUsage: an argument is wrong.
    """
    try:
        yield
    except WrongUsage:
        raise
    except click.UsageError as error:
        raise WrongUsage(reword_usage_error(error), error.ctx) from None


def reword_usage_error(error: click.UsageError) -> str:
    """Return the text of an error about wrong arguments in matchrec's words."""
    command = error.ctx.command_path if error.ctx is not None else "matchrec"
    if isinstance(error, click.NoSuchOption):
        return str(make_unknown_option_error(error.option_name, command, error.ctx))
    if isinstance(error, click.MissingParameter) and isinstance(error.param, click.Option):
        option = error.param.opts[0]
        value = error.param.make_metavar(error.ctx or click.Context(click.Command(None)))
        return str(errors.missing_option(option=option, value=value, reader=command))
    if isinstance(error, click.BadOptionUsage):
        needed = NEEDED_VALUES.search(error.message)
        count = 1 if needed is None else int(needed["count"])
        return str(errors.option_without_value(option=error.option_name, count=count))
    if isinstance(error, click.BadParameter) and isinstance(error.param, click.Option):
        return name_option(error.message, error.param.opts[0])
    extra_arguments = read_extra_arguments(error)
    if extra_arguments is not None:
        hint = suggest_for_extra_arguments(extra_arguments, error.ctx)
        return str(
            errors.unexpected_argument(arguments=extra_arguments, command=command, hint=hint)
        )
    return error.format_message()


def make_unknown_option_error(
    option: str, command: str, context: click.Context | None
) -> MatchRecognizeError:
    """Return the error for an option that a command does not have.

    The error suggests today's name of an option of an earlier version, or the most similar option.
    If other commands have the option, the error names them instead.

    Args:
        option: the option.
        command: the command, such as `matchrec run`.
        context: click's context of the command; None if click does not know the command.
    """
    owners = list_option_owners(option, context)
    options = {name.lstrip("-"): name for name in list_option_names(context)}
    hint = OPTIONS.get(option)
    if hint not in options.values():
        similar_name = None if owners else find_nearest(option.lstrip("-"), options)
        hint = None if similar_name is None else options[similar_name]
    return errors.unknown_option(option=option, command=command, hint=hint, owners=owners)


def list_option_owners(option: str, context: click.Context | None) -> list[str]:
    """Return the commands of the program that have an option, such as `matchrec why`."""
    group = context.parent.command if context is not None and context.parent is not None else None
    if context is None or context.parent is None or not isinstance(group, click.Group):
        return []
    program = context.parent.command_path
    return [
        f"{program} {name}"
        for name, command in group.commands.items()
        if any(option in parameter.opts for parameter in command.params)
    ]


def read_extra_arguments(error: click.UsageError) -> str | None:
    """Return the arguments that a command does not take, separated by spaces.

    Returns None if the error is not about such arguments.
    """
    sentence = EXTRA_ARGUMENTS.fullmatch(error.message.rstrip("."))
    return sentence["arguments"] if sentence is not None else None


def suggest_for_extra_arguments(arguments: str, context: click.Context | None) -> str:
    """Return what to do about arguments that a command does not take.

    Args:
        arguments: the arguments, separated by spaces.
        context: click's context of the command; None if click does not know the command.
    """
    if context is None:
        return f"remove {arguments}"
    queries = [
        parameter for parameter in context.command.params if isinstance(parameter, click.Argument)
    ]
    if not queries:
        is_picture = Path(arguments).suffix.lower() in figures.PICTURE_ENDINGS
        if is_picture and "--output" in list_option_names(context):
            return f"write --output {arguments}"
        return f"remove {arguments}: {context.command_path} takes only options"
    query_value = context.params.get(queries[0].name or "")
    first_word = getattr(query_value, "path", "")
    if len(arguments.split()) > 1 or first_word.upper() in STATEMENT_KEYWORDS:
        return "put the text of a query in quotes, after -c"
    noun = queries[0].make_metavar(context).strip("[]").lower()
    hint = f"remove {arguments}: {context.command_path} takes one {noun}"
    if context.info_name == "run":
        return f"{hint}; several statements may be in one file, with ; between them"
    return hint


def list_option_names(context: click.Context | None) -> list[str]:
    """Return the names of the options of a command, such as `--table`."""
    parameters = context.command.params if context is not None else []
    options = [parameter for parameter in parameters if isinstance(parameter, click.Option)]
    return [name for option in options for name in option.opts]


def name_option(message: str, option: str) -> str:
    """Return the text of an error about the value of an option, with the option in its headline.

    >>> name_option("`x` is not a whole number [not-a-whole-number]", "--limit")
    'wrong value of `--limit`: `x` is not a whole number [not-a-whole-number]'
    """
    headline = message.partition("\n")[0]
    if option in headline:
        return message
    return f"wrong value of `{option}`: {message}"


class WordChoice(click.Choice):  # type: ignore[type-arg]  # generic in newer versions only
    """One of a few words. The error for another word suggests the most similar one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the argument if it is one of the words, and report another text as click does."""
        if value in self.choices:
            return value
        option = param.opts[0].lstrip("-").replace("-", "_") if param is not None else ""
        command = ctx.command_path if ctx is not None else "matchrec"
        with use_surface(COMMAND_LINE):
            error = unknown_option_value(f"`{command}`", option, str(value), list(self.choices))
        return self.fail(str(error), param, ctx)
