"""The option `--partition` of `why`: the values that name a partition, and how to write them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import click

from matchrec.cli.argument_types import (
    Pairs,
    check_unique_names,
    is_assignment,
    split_assignment,
    suggest_assignment,
)
from matchrec.cli.queries import QueryRequest
from matchrec.errors import command as errors


def parse_partition(partition: Sequence[str], request: QueryRequest) -> Pairs[str]:
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
        if not is_assignment(argument):
            example = suggest_partition(argument, request.list_partition_keys())
            error = errors.malformed_setting(argument=argument, example=example)
            raise click.BadParameter(str(error), context, option)
    return check_unique_names(
        context, option, tuple(split_assignment(argument) for argument in partition)
    )


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
        return suggest_assignment("--partition", argument)
    key_or_value = argument.strip("=") or "VALUE"
    if key_or_value in keys:
        values = {key_or_value: "VALUE"}
    else:
        values = dict.fromkeys(keys, "VALUE") | {keys[0]: key_or_value}
    assignments = (f"{name}={value}" for name, value in values.items())
    return " ".join(f"--partition {shlex.quote(assignment)}" for assignment in assignments)
