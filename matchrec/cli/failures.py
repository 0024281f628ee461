"""End the program with a message and an exit code if a command fails.

docs/how-to/command_line.md lists the codes. Most errors are matchrec's or an engine's;
`report_failures` lists the others that get a message. All other exceptions are mistakes in matchrec
and end the program with their traceback.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from typing import NoReturn

import click

from matchrec.cli.engine_errors import is_engine_error, is_rejected_query, reword_engine_error
from matchrec.cli.messages import PROGRAM, print_failure
from matchrec.cli.usage_errors import name_option
from matchrec.errors import MatchRecognizeError, MatchRecognizeRunError
from matchrec.errors import written_files as errors
from matchrec.loading import MISSING_SPARK, MODULES_OF_SPARK

# The exceptions that click raises to end the program. It prints these itself.
CLICK_EXCEPTIONS = (click.ClickException, click.exceptions.Exit)

# The error numbers of a disk that is full, and of a quota or file size that is reached.
NO_SPACE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

# The codes of errors in the value of an option that can be found only once the query is known. They
# lead to the same exit code as other wrong arguments.
WRONG_OPTION_CODES = frozenset(
    (
        # --conf
        "unknown-setting",
        "wrong-setting-value",
        # --arg and --grid
        "unknown-parameter",
        "unknown-clause-parameter",
        "parameter-not-a-number",
        # --aggregate
        "not-an-aggregate",
        "unknown-measure",
        "inexact-cast",
        # --sort and --analyze
        "partitions-cannot-be-cut",
        "counters-not-supported",
        # --order-by
        "empty-order-by",
        # --clause
        "several-clauses",
        "unknown-clause",
        # --partition and --row
        "several-partitions",
        "unknown-partition",
        "unknown-partition-column",
        "partition-column-missing",
        "value-of-wrong-type",
        "unknown-row",
        "wrong-number-of-order-values",
        # --x, --y, --by, --between and --page
        "unknown-plot-column",
        "ambiguous-plot-column",
        "wrong-axis-type",
        "series-column-missing",
        "unknown-plot-page",
        # --start, --end and --key
        "unknown-label-column",
        "wrong-number-of-keys",
        "key-without-partition",
    )
)

# The attribute of an error that holds the label of the statement that failed. So the error keeps
# its class and traceback, and its message has the label only where the program prints it.
STATEMENT_LABEL = "_matchrec_statement"


class ExitCode(IntEnum):
    """The exit codes of the program, apart from 0."""

    REFUSED = 1  # the query has a mistake
    USAGE = 2  # the arguments are wrong
    FAILED = 3  # the query failed while it ran
    INTERRUPTED = 130  # the user pressed Ctrl-C


# Advice to change a setting of Spark, such as `set spark.sql.ansi.enabled to false`. Errors from
# workers have it, because a worker does not know whether the command line shows them.
SETTING_ADVICE = re.compile(r"\bset (?P<name>spark(?:\.\w+)+) to (?P<value>true|false)\b")


def fail(sentence: str, code: ExitCode) -> NoReturn:
    """Print why there is no result, and end the program.

    Args:
        sentence: the reason. Advice to set a setting of Spark becomes advice to pass `--conf`.
        code: the exit code.

    Raises:
        click.exceptions.Exit: always.
    """
    print_failure(SETTING_ADVICE.sub(r"pass --conf \g<name>=\g<value>", sentence))
    raise click.exceptions.Exit(code)


@contextmanager
def report_failures() -> Iterator[None]:
    """End the program with a sentence and an exit code if an error is raised in the `with` block.

    If the program that reads stdout stops early, as `| head` does, the block ends without a
    sentence, and its later output is discarded.

    Raises:
        click.exceptions.Exit: matchrec or an engine raised an error, Spark is needed but not
            installed, the disk is full, or the user pressed Ctrl-C.
    """
    try:
        yield
        sys.stdout.flush()
    except CLICK_EXCEPTIONS:
        raise
    except BrokenPipeError:  # the reader stopped early, as `| head` does
        discard_output()
    except OSError as error:
        if error.errno not in NO_SPACE_ERRORS:
            raise
        discard_output()
        fail(str(errors.result_not_written(reason=os.strerror(error.errno))), ExitCode.FAILED)
    except KeyboardInterrupt as interrupt:
        # Without the word "error": the user wanted the program to stop.
        print_failure(str(interrupt) or "interrupted", PROGRAM)
        raise click.exceptions.Exit(ExitCode.INTERRUPTED) from None
    except MatchRecognizeError as error:
        fail(f"{build_message_prefix(error)}{error}", choose_exit_code(error))
    except ModuleNotFoundError as error:
        if error.name not in MODULES_OF_SPARK:
            raise
        fail(MISSING_SPARK, ExitCode.FAILED)
    except Exception as error:
        if not is_engine_error(error):
            raise
        fail(f"{build_message_prefix(error)}{reword_engine_error(error)}", choose_exit_code(error))


@contextmanager
def label_errors(label: str) -> Iterator[None]:
    """Store the label of a statement in errors that are raised in the `with` block.

    `report_failures` prints the label before the message. The innermost label stays.

    Args:
        label: the label; "" for the only statement.
    """
    try:
        yield
    except Exception as error:
        if label:
            vars(error).setdefault(STATEMENT_LABEL, label)
        raise


def build_message_prefix(error: Exception) -> str:
    """Return the label of the statement that failed, such as `statement 2 of 3: `; "" if none."""
    label = vars(error).get(STATEMENT_LABEL)
    return f"{label}: " if label else ""


def discard_output() -> None:
    """Discard the output that Python has buffered for stdout, and all later output.

    Otherwise Python would write the buffer when the program ends, and raise the same error again.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def print_tracebacks() -> Iterator[None]:
    """Print the traceback of an error that is raised in the `with` block, for --traceback."""
    try:
        yield
    except CLICK_EXCEPTIONS:
        raise
    except Exception:
        traceback.print_exc()
        raise


@contextmanager
def blame_option(option: str) -> Iterator[None]:
    """Report errors that are raised in the `with` block as a wrong value of an option.

    Args:
        option: the option, such as `--labels`.

    Raises:
        click.UsageError: matchrec or an engine raised an error.
    """
    try:
        yield
    except Exception as error:
        if not isinstance(error, MatchRecognizeError) and not is_engine_error(error):
            raise
        raise click.UsageError(name_option(str(error), option)) from error


def is_about_option(error: MatchRecognizeError) -> bool:
    """Return whether an error is about the value of an option of the current command.

    `errors.kinds.about_argument` has stored the name of the argument in the error. The argument
    `args` has the values of parameters, which the command line takes from --arg or --grid.
    """
    context = click.get_current_context(silent=True)
    option_names = set() if context is None else {option.name for option in context.command.params}
    if error._argument == "args":
        return not option_names.isdisjoint({"args", "grid"})
    return error._argument in option_names


def choose_exit_code(error: Exception) -> ExitCode:
    """Return the exit code for an error of matchrec or of an engine.

    The code says whether an option is wrong, the query was rejected before it ran, or the query
    failed while it ran.
    """
    if isinstance(error, MatchRecognizeError):
        if error.code in WRONG_OPTION_CODES:
            return ExitCode.USAGE
        if isinstance(error, MatchRecognizeRunError):
            return ExitCode.FAILED
        return ExitCode.USAGE if is_about_option(error) else ExitCode.REFUSED
    return ExitCode.REFUSED if is_rejected_query(error) else ExitCode.FAILED
