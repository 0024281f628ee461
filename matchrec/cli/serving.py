"""The command `serve`: MATCH_RECOGNIZE for every Spark Connect client."""

from __future__ import annotations

import signal
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import click

from matchrec.cli import common_options
from matchrec.cli.argument_types import ParsedType, WholeNumber
from matchrec.cli.command_decorators import (
    handle_failures,
    reject_repeated_pipes,
    reject_repeated_tables,
)
from matchrec.cli.files import suggest_file
from matchrec.cli.messages import PROGRAM, print_notice
from matchrec.cli.piped_tables import PipedTable
from matchrec.cli.queries import set_input_options
from matchrec.cli.query_command import GroupedCommand
from matchrec.cli.session import SettingPairs, open_local_session
from matchrec.cli.tables import Table
from matchrec.errors import MatchRecognizePlanError
from matchrec.errors import tables as errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from matchrec.gateway.serve import Gateway


def parse_file(argument: str) -> Path:
    """Return the path of a file.

    Raises:
        MatchRecognizeError: there is no such file.
    """
    if not Path(argument).is_file():
        hint = suggest_file(argument, ())
        raise errors.no_such_file(what="the file", path=argument, hint=hint)
    return Path(argument)


FILE = ParsedType("FILE", parse_file)


@click.command(cls=GroupedCommand)
@click.option(
    "--host",
    metavar="ADDRESS",
    default="127.0.0.1",
    help="Address at which clients connect. [default: 127.0.0.1]",
)
@click.option(
    "--port",
    type=WholeNumber(0, 65535, example=15002),
    default=15002,
    help="Port; 0 for any free one. [default: 15002]",
)
@click.option(
    "--token",
    metavar="TEXT",
    envvar="MATCHREC_TOKEN",
    help="Token that clients must send. [default: $MATCHREC_TOKEN]",
)
@click.option("--tls-cert", type=FILE, help="Certificate for TLS, in PEM format.")
@click.option("--tls-key", type=FILE, help="Its private key, in PEM format.")
@click.option("--allow-anyone", is_flag=True, help="Let other machines connect without a token.")
@common_options.SESSION_OPTIONS
@handle_failures
def serve(  # noqa: PLR0913 -- one for each option
    host: str,
    port: int,
    token: str | None,
    tls_cert: Path | None,
    tls_key: Path | None,
    allow_anyone: bool,
    tables: tuple[Table | PipedTable, ...],
    conf: SettingPairs,
    engine: str | None,
    delimiter: str | None,
    header: bool,
    input_format: str | None,
) -> None:
    """Let Spark Connect clients use MATCH_RECOGNIZE.

    Clients in any language connect to this server as to Spark's own. It passes their calls on to
    the engine, and plans the queries that have a clause. It runs until you press Ctrl-C.

    \b
    Examples:
      matchrec serve --table stocks=stocks.csv
      matchrec serve --engine sc://cluster:15002 --port 15003
    """
    from matchrec.gateway.engines import SERVER_OF_SPARK, find_or_start_server
    from matchrec.gateway.listener import Listener
    from matchrec.gateway.serve import start_gateway
    from matchrec.spark.sail.start import SPARK, choose_engine

    listener = Listener(
        host=host,
        port=port,
        token=token,
        tls_cert=tls_cert,
        tls_key=tls_key,
        allow_anyone=allow_anyone,
    )
    try:
        listener.check()
    except MatchRecognizePlanError as error:
        raise click.UsageError(str(error)) from error
    reject_repeated_tables(tables, ())
    reject_repeated_pipes([], tables)
    input_options = {"delimiter": delimiter, "header": header, "input_format": input_format}
    file_tables = set_input_options(tables, input_options)

    def make_views(spark: SparkSession) -> None:
        """Make the files temporary views of a session."""
        for table in file_tables:
            table.register(spark, only_schema=False)

    is_spark = choose_engine(engine, dict(conf)) == SPARK
    settings = SERVER_OF_SPARK if is_spark else {}
    with open_local_session((*settings.items(), *conf), engine) as spark:
        make_views(spark)  # so that a file that cannot be read is reported before clients connect
        prepare = make_views if file_tables else None
        with start_gateway(listener, find_or_start_server(spark, None), prepare) as gateway:
            print_notice(f"{PROGRAM}serving {gateway.address}, in front of {gateway.engine}")
            wait_for_signal(gateway)


def wait_for_signal(gateway: Gateway) -> None:
    """Wait for Ctrl-C, or for SIGTERM, which containers send to end a program."""
    was_signalled = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: was_signalled.set())
    while gateway.is_running and not was_signalled.wait(0.5):
        pass  # `wait` has a timeout, because Windows does not interrupt it otherwise
