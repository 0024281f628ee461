"""The option `--partition` of `why`: the values that name a partition, and how to write them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import click

from matchrec.cli.argument_types import check_named_once, is_setting, parse_setting, suggest_setting
from matchrec.cli.queries import QueryRequest
from matchrec.cli.session import SettingPairs
from matchrec.errors import command as errors


def parse_partition(partition: Sequence[str], request: QueryRequest) -> SettingPairs:
    """Return the names and values of `--partition`.

    Args:
        partition: the values of the option as the user wrote them.
        request: the query. Errors suggest the names in its PARTITION BY.

    Raises:
        click.BadParameter: a value is not NAME=VALUE, or two values have the same name.
    """
    context = click.get_current_context()
    option = next(
        parameter for parameter in context.command.params if parameter.name == "partition"
    )
    for argument in partition:
        if not is_setting(argument):
            example = suggest_partition(argument, request.list_partition_keys())
            error = errors.malformed_setting(argument=argument, example=example)
            raise click.BadParameter(str(error), context, option)
    return check_named_once(context, option, tuple(map(parse_setting, partition)))


def suggest_partition(argument: str, keys: Sequence[str]) -> str:
    """Return how to write a `--partition` without a name or a value.

    Args:
        argument: what the user wrote.
        keys: the columns that name a partition; empty if they are not known.

    >>> suggest_partition("A1", ["gate"]), suggest_partition("gate", ["gate"])
    ('--partition gate=A1', '--partition gate=VALUE')
    >>> suggest_partition("A1", ["gate", "day"])
    '--partition gate=A1 --partition day=VALUE'
    """
    if not keys:
        return suggest_setting("--partition", argument)
    part = argument.strip("=") or "VALUE"
    if part in keys:
        values = {part: "VALUE"}
    else:
        values = dict.fromkeys(keys, "VALUE") | {keys[0]: part}
    settings = (f"{name}={value}" for name, value in values.items())
    return " ".join(f"--partition {shlex.quote(setting)}" for setting in settings)
