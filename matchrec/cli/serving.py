"""The command `serve`: MATCH_RECOGNIZE for every Spark Connect client.

1. Check where clients connect, and the options.
2. Start the session of the engine, and register the files in it.
3. Start the gateway, which registers the files in the session of each client, too.
4. Wait for a signal to end.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
from matchrec.cli.query_command import GroupedCommand
from matchrec.cli.query_requests import set_input_options
from matchrec.cli.session import SettingPairs, open_local_session
from matchrec.cli.tables import EmptyTable, Table
from matchrec.errors import MatchRecognizePlanError, tables
from matchrec.errors.gateway import gateway_stopped
from matchrec.gateway.defaults import DEFAULT_HOST, DEFAULT_PORT, MAX_PORT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from matchrec.gateway.listener import Listener
    from matchrec.gateway.serve import Gateway


# The longest time in seconds until the program notices that the gateway has stopped.
CHECK_INTERVAL = 0.5


def parse_file(argument: str) -> Path:
    """Return the path of an existing file.

    Raises:
        MatchRecognizeError: there is no such file.
    """
    if not Path(argument).is_file():
        hint = suggest_file(argument, ())
        raise tables.no_such_file(what="the file", path=argument, hint=hint)
    return Path(argument)


EXISTING_FILE_TYPE = ParsedType("FILE", parse_file)


@click.command(cls=GroupedCommand)
@click.option(
    "--host",
    metavar="ADDRESS",
    default=DEFAULT_HOST,
    help=f"Address at which clients connect. [default: {DEFAULT_HOST}]",
)
@click.option(
    "--port",
    type=WholeNumber(least=0, most=MAX_PORT, example=DEFAULT_PORT),
    default=DEFAULT_PORT,
    help=f"Port; 0 for any free port. [default: {DEFAULT_PORT}]",
)
@click.option(
    "--token",
    metavar="TEXT",
    envvar="MATCHREC_TOKEN",
    help="Token that clients must send. [default: $MATCHREC_TOKEN]",
)
@click.option("--tls-cert", type=EXISTING_FILE_TYPE, help="Certificate for TLS, in PEM format.")
@click.option(
    "--tls-key", type=EXISTING_FILE_TYPE, help="Private key of the certificate, in PEM format."
)
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
    the engine, and plans queries with MATCH_RECOGNIZE itself. It runs until you press Ctrl-C.

    \b
    Examples:
      matchrec serve --table stocks=stocks.csv
      matchrec serve --engine sc://cluster:15002 --port 15003
    """
    from matchrec.gateway.listener import Listener

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
    reject_repeated_tables(tables, schemas=())
    reject_repeated_pipes(query_paths=[], tables=tables)
    input_options = {"delimiter": delimiter, "header": header, "input_format": input_format}
    views = FileViews(set_input_options(tables, input_options))
    serve_until_signal(listener, views, conf, engine)


def serve_until_signal(
    listener: Listener, views: FileViews, conf: SettingPairs, engine: str | None
) -> None:
    """Start the session and the gateway, and wait for a signal to end them.

    Args:
        listener: where clients connect.
        views: the files that are temporary views of each session.
        conf: the settings of Spark that `--conf` sets.
        engine: the engine that the user named, or None.

    Raises:
        MatchRecognizeError: a file cannot be read, or the gateway has stopped without a signal.
    """
    from matchrec.gateway.engines import SPARK_SERVER_SETTINGS, find_or_start_server
    from matchrec.gateway.serve import start_gateway
    from matchrec.spark.start.engine_choice import choose_engine
    from matchrec.spark.start.engine_names import SPARK

    # A session of Sail has a server already.
    is_spark = choose_engine(engine, dict(conf)) == SPARK
    server_settings = SPARK_SERVER_SETTINGS if is_spark else {}
    with open_local_session((*server_settings.items(), *conf), engine) as spark:
        views.register(spark)  # a file that cannot be read is reported before clients connect
        register_views = views.register if views.tables else None
        address = find_or_start_server(spark, engine=None)
        with start_gateway(listener, address, register_views) as gateway:
            print_notice(f"{PROGRAM}serving {gateway.address}, in front of {gateway.engine}")
            wait_for_signal(gateway)


@dataclass(frozen=True)
class FileViews:
    """The files of the option `--table`, as temporary views of sessions."""

    tables: tuple[Table | PipedTable | EmptyTable, ...]

    def register(self, spark: SparkSession) -> None:
        """Make the files temporary views of a session.

        The gateway calls it for the session of each client.
        """
        for table in self.tables:
            table.register(spark, only_schema=False)


def wait_for_signal(gateway: Gateway) -> None:
    """Wait for Ctrl-C, or for SIGTERM, which containers send to end a program.

    Raises:
        MatchRecognizeError: the gateway has stopped without a signal.
    """
    with catch_signals() as signal_arrived:
        # With a timeout, because otherwise Windows does not interrupt `wait`, and the end of the
        # gateway is not noticed.
        while not signal_arrived.wait(CHECK_INTERVAL):
            if not gateway.is_running:
                raise gateway_stopped(address=gateway.address)


@contextmanager
def catch_signals() -> Iterator[Event]:
    """Yield an event that is set when Ctrl-C or SIGTERM arrives in the `with` block.

    The signals do nothing else in the block. Their handlers are restored after it.
    """
    signal_arrived = Event()
    handlers = {
        number: signal.signal(number, lambda *_: signal_arrived.set())
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield signal_arrived
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
