"""`python -m matchrec` and the console script `matchrec`: demo, run, explain, convert, warm."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException, PythonException

from matchrec.cli.arguments import argument_parser
from matchrec.cli.commands import convert, explain, run
from matchrec.cli.demo import demo
from matchrec.cli.failures import plain_warnings, sentence_of_spark
from matchrec.cli.warm import warm
from matchrec.errors import MatchRecognizeError, MatchRecognizeRunError
from matchrec.spark.session import quiet_analysis

COMMANDS = {"demo": demo, "run": run, "explain": explain, "convert": convert, "warm": warm}
FAILED = 2
INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit code.

    What the user can mend is a plain sentence on stderr and code 2; what is our mistake stays a
    traceback.
    """
    arguments = argument_parser().parse_args(argv)
    try:
        run_command(arguments)
    except MatchRecognizeError as error:
        return failed(str(error))
    except PySparkException as error:
        ours = MatchRecognizeRunError.from_exception(error)
        if ours is None and isinstance(error, PythonException):
            raise
        return failed(str(ours) if ours else sentence_of_spark(str(error)))
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def run_command(arguments: Namespace) -> None:
    """Runs the command that the arguments name."""
    try:
        with quiet_analysis(), plain_warnings():
            COMMANDS[arguments.command](arguments)
    except Py4JJavaError as error:
        ours = MatchRecognizeRunError.from_exception(error)
        if ours is None:
            raise
        raise ours from error


def failed(sentence: str) -> int:
    """Prints the sentence to stderr; the exit code."""
    print(f"matchrec: {sentence}", file=sys.stderr)
    return FAILED


if __name__ == "__main__":
    raise SystemExit(main())
