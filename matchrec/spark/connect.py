"""The backend of Spark Connect: the methods of `Backend` in which it differs from Spark itself.

The session sends plans to a server and gets answers. Each answer takes milliseconds, so the backend
sends as few requests as possible.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, cast

from pyspark.sql import DataFrame
from pyspark.sql.types import StructField, StructType

from matchrec.errors.conditions import clauses_nested_too_deep
from matchrec.spark.backend import Backend
from matchrec.spark.holes import create_lasting_views, list_holes
from matchrec.spark.sql_replacement import find_plain_sql

if TYPE_CHECKING:
    from matchrec.plan.templates import Template
    from matchrec.spark.runner import Runner, SqlArguments

# The beginning of texts that only read. Texts that begin with WITH are left out, because WITH can
# also begin an INSERT.
BEGINS_WITH_SELECT = re.compile(r"\s*SELECT\b", re.IGNORECASE)

# The message of gRPC if it cannot read an answer because the answer is too deeply nested.
UNREADABLE_ANSWER = "Exception deserializing response!"


class SparkConnect(Backend):
    """Spark behind a server of Spark Connect, in another process or on another machine."""

    @contextmanager
    def open_views(self, frames: Mapping[str, Any], text: Template) -> Iterator[Mapping[str, str]]:
        """Create no views if PySpark can send DataFrames along with a text.

        PySpark 3.5 cannot send them. The views that are created for it stay after the block,
        because the server reads the text again for every action, and must then find the views.
        """
        plain_sql = find_plain_sql(self.spark)
        can_send_frames = takes_keyword_arguments(getattr(plain_sql, "__func__", plain_sql))
        if can_send_frames:
            yield {}
            return
        with create_lasting_views(self.spark, frames, list_holes(text)) as view_names:
            yield view_names

    def send_text(self, text: str, args: SqlArguments, frames: Mapping[str, Any]) -> DataFrame:
        """Return the DataFrame of a text. A SELECT without frames sends no message to the server.

        The server would only answer that the plan of a SELECT is its text. It reads the text
        whenever the DataFrame is analysed or run.
        """
        with self.translate_server_errors():
            if not frames and BEGINS_WITH_SELECT.match(text):
                plan = make_text_plan(text, args)
                if plan is not None:
                    frame = self.spark.range(1)
                    cast("Any", frame)._plan = plan
                    return frame
            return find_plain_sql(self.spark)(text, args, **frames)

    def detach_from_views(self, rows: DataFrame) -> DataFrame:
        """Return the result as it is, because its plan names no views that will be dropped."""
        return rows

    def analyse(self, runner: Runner, frame: DataFrame, text: Template | None) -> DataFrame:
        """Request the schema of a DataFrame from the server, which analyses the DataFrame."""
        with self.translate_server_errors():
            _ = frame.schema
        return frame

    @property
    def requests_schemas(self) -> bool:
        """Return True: reading a schema sends a request to the server."""
        return True

    def set_schema(self, frame: DataFrame, fields: Sequence[StructField]) -> None:
        """Store a schema in the attributes in which PySpark keeps the server's answer.

        PySpark copies the schema whenever it is read. Copying a pickled schema is ten times as
        fast.
        """
        schema = StructType(list(fields))
        vars(frame)["_cached_schema"] = schema
        vars(frame)["_cached_schema_serialized"] = pickle.dumps(schema)

    @contextmanager
    def translate_server_errors(self) -> Iterator[None]:
        """Raise an error about clauses that are too deeply nested if an answer cannot be read."""
        from google.protobuf.message import DecodeError
        from pyspark.errors.exceptions.connect import SparkConnectGrpcException

        try:
            yield
        except (DecodeError, SparkConnectGrpcException) as error:
            if isinstance(error, DecodeError) or UNREADABLE_ANSWER in str(error):
                raise clauses_nested_too_deep() from error
            raise

    def read_settings(self, names: Sequence[str]) -> list[Any]:
        """Return the values of settings, which the server sends in one message."""
        client: Any = self.spark.client
        return list(client.get_configs(*names))

    @property
    def analyses_every_action(self) -> bool:
        """Return True: the server analyses a plan again for every action."""
        return True

    @property
    def has_shared_files(self) -> bool:
        """Return False: the server can be on another machine."""
        return False

    def send_rows(self, rows: Any) -> DataFrame:
        """Send rows to the server once, and return their DataFrame."""
        from matchrec.spark.sent_rows import combine_chunks, with_types_of_all_rows

        rows = with_types_of_all_rows(rows)
        return self.keep_sent_rows(self.spark.createDataFrame(combine_chunks(rows)))

    @contextmanager
    def use_arrow(self) -> Iterator[None]:
        """Change nothing, because Spark Connect always sends rows by Arrow."""
        yield

    def keep_sent_rows(self, frame: DataFrame) -> DataFrame:
        """Return a DataFrame whose rows the server keeps in a view."""
        from matchrec.spark.sent_rows import keep_in_view

        return keep_in_view(frame)

    def shorten_worker_errors(self) -> None:
        """Shorten the errors of workers that the client raises, from now on."""
        from matchrec.spark.errors.failed_actions import watch_client

        watch_client(self.spark)

    def make_observation(self, name: str) -> Any:
        """Return an Observation of Spark Connect."""
        from pyspark.sql.connect.observation import Observation

        return Observation(name)

    def make_observable(self, result: DataFrame) -> DataFrame:
        """Return the result as it is, because `read_counts` needs the DataFrame of the action."""
        return result

    def run_for_counters(self, result: DataFrame) -> None:
        """Collect the rows, because the server sends the counters only together with them."""
        result.collect()

    def read_counts(self, result: DataFrame, name: str) -> dict[str, Any]:
        """Return the counters that an action on this DataFrame object has reported."""
        execution_info: Any = getattr(result, "executionInfo", None)
        if execution_info is None:
            return {}
        counts_by_observation = dict(execution_info.flows)
        counts: dict[str, Any] = counts_by_observation.get(name, {})
        return counts


def make_text_plan(text: str, args: SqlArguments) -> Any:
    """Return a plan of Spark Connect that is just a query text. Sends no request to the server.

    Args:
        text: the text of a query.
        args: the values of its parameters; None if it has no parameters.

    Returns:
        The plan, a `pyspark.sql.connect.plan.SQL`; None if the parameters have no names, or if this
        version of PySpark makes such plans differently.
    """
    from pyspark.sql.connect.functions import lit
    from pyspark.sql.connect.plan import SQL

    parameters = list_parameters(SQL)
    if args is None and "query" in parameters:
        return SQL(text)
    if isinstance(args, dict) and "named_args" in parameters:  # not in PySpark 3.5
        return SQL(text, named_args={name: lit(value) for name, value in args.items()})
    return None


@cache
def takes_keyword_arguments(function: Callable[..., object]) -> bool:
    """Return whether a function has a parameter such as `**frames`.

    PySpark's method `sql` takes the DataFrames for holes such as `{ticks}` by it. Over Connect, the
    method of PySpark 3.5 has no such parameter.
    """
    parameters = signature(function).parameters.values()
    return any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters)


@cache
def list_parameters(function: Callable[..., object]) -> frozenset[str]:
    """Return the names of the parameters of a function or class."""
    return frozenset(signature(function).parameters)
