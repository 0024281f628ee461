"""Plan the SQL of clients with `matchrec.sql`, each in a session that is the client's own.

A session of Spark Connect is known by a user and an id. A second client with the same user and id
shares the session's temporary views, settings and artifacts. The planner is such a second client.
All its sessions share one channel, so a session holds nothing that has to be closed.
"""

from __future__ import annotations

import atexit
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

import pyspark.sql.connect.proto as proto
from pyspark.sql.connect.dataframe import DataFrame as ConnectDataFrame
from pyspark.sql.connect.plan import CachedRelation
from pyspark.sql.connect.session import SparkSession as ConnectSession

from matchrec.api.enable import build_sql_handler
from matchrec.api.query import Query
from matchrec.api.sql_texts import build_sql_query, reject_clause_as_query
from matchrec.errors import gateway as errors
from matchrec.errors.surface import GATEWAY, use_surface
from matchrec.gateway import settings
from matchrec.gateway.statements import ProtoRelation, SqlStatement, copy_relation, renumber_plans
from matchrec.spark.backends import find_backend
from matchrec.spark.sail.server import find_channel_builder, make_channel_builder
from matchrec.spark.tuning import tune
from matchrec.syntax.tokens import BLANKS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# The number of seconds without a statement after which the planner forgets a session.
IDLE_SECONDS = 3600.0

# The number of retries of a call that the engine does not answer. They take some four seconds.
# With PySpark's default, a client would wait for ten minutes.
MAX_RETRIES = 4

# The beginning of a statement that asks how a query runs.
EXPLAIN_START = re.compile(
    rf"{BLANKS}EXPLAIN\s+((EXTENDED|FORMATTED|COST|CODEGEN)\s+)?(?=\S)", re.IGNORECASE
)

Metadata = Sequence[tuple[str, str | bytes]]


@dataclass(frozen=True, slots=True)
class SessionKey:
    """The key of a session of Spark Connect: the user, and the id of the session."""

    user: str
    session: str


@dataclass(frozen=True, slots=True)
class Caller:
    """The client that has sent a statement, as its call describes it."""

    key: SessionKey
    # The engine's own id of the session, which the client knows from the engine's answers; ""
    # before the first answer.
    engine_session: str = ""
    # Tags by which the engine can interrupt what it runs for the statement.
    tags: tuple[str, ...] = ()
    # The metadata of the client's call that is passed on, for example to a proxy that checks it.
    metadata: Metadata = ()


# PySpark's class, which depends on its version.
DefaultChannelBuilder: Any = find_channel_builder()

# The client whose statement this thread plans.
CURRENT_CALLER: ContextVar[Caller] = ContextVar("the client whose statement is planned")


class SharedChannelBuilder(DefaultChannelBuilder):  # type: ignore[misc]  # depends on PySpark
    """The settings of a session that shares a channel with other sessions."""

    def __init__(self, address: str, channel: Any, key: SessionKey) -> None:
        """Read the settings from an address.

        Args:
            address: the address of the engine's server, with its parameters.
            channel: the channel to this server.
            key: the key of the client's session.
        """
        super().__init__(address)
        self.channel = channel
        self.key = key

    def toChannel(self) -> Any:  # noqa: N802 -- PySpark's name
        """Return the channel."""
        return self.channel

    def metadata(self) -> Metadata:
        """Return the metadata of a call: the address's metadata, then the client's."""
        caller = CURRENT_CALLER.get(None)
        metadata_of_client = () if caller is None else caller.metadata
        return [*super().metadata(), *metadata_of_client]

    @property
    def userId(self) -> str:  # noqa: N802 -- PySpark's name
        """Return the name of the client's user."""
        return self.key.user

    @property
    def session_id(self) -> str:
        """Return the id of the client's session."""
        return self.key.session


class SharingSession(ConnectSession):
    """A session of PySpark that does not close its channel, which other sessions use as well."""

    def __del__(self) -> None:
        """Leave the channel open when Python frees the session."""


@dataclass(slots=True)
class PlanningSession:
    """A session in which the statements of a client are planned."""

    spark: SparkSession
    # Held while the session is prepared, so that a second statement waits for the end of the
    # preparation.
    preparation_lock: Lock = field(default_factory=Lock)
    is_prepared: bool = False
    # When the session was last used, in seconds of `monotonic`.
    last_used: float = field(default_factory=monotonic)


class Planner:
    """A planner of statements, each in the session of the client that sent it.

    Args:
        address: the address of the engine's server, `sc://host:port`.
        prepare: a function that is called with each new session, for example to make temporary
            views; None if sessions need no preparation.
    """

    def __init__(self, address: str, prepare: Callable[[SparkSession], None] | None) -> None:
        self.address = address
        self.prepare = prepare
        self.channel = make_channel_builder(address).toChannel()
        # The sessions of clients, the least recently used one first.
        self.sessions: dict[SessionKey, PlanningSession] = {}
        # Held while the sessions are read or changed, because statements are planned in threads.
        self.lock = Lock()

    @property
    def prepares_sessions(self) -> bool:
        """Return whether a new session has to be prepared before its first plan runs."""
        return self.prepare is not None

    def prepare_session(self, caller: Caller) -> None:
        """Prepare the session of a client for plans that the engine runs, if that is needed."""
        if self.prepares_sessions:
            with self.use_session(caller):
                pass

    def plan(self, caller: Caller, statement: SqlStatement) -> ProtoRelation | None:
        """Return the relation that replaces a statement.

        Args:
            caller: the client that has sent the statement.
            statement: SQL that may have a clause, or that sets an option of matchrec. Its relations
                have no clauses: see `statements.replace_named_relations`.

        Returns:
            A relation without clauses; None if the engine itself should run the statement.

        Raises:
            MatchRecognizeError: a clause or a setting has a mistake.
            PySparkException: the rest of the statement has a mistake.
        """
        with self.use_session(caller) as spark, use_surface(GATEWAY):
            frame = run_statement(spark, statement)
            return None if frame is None else read_plan(spark, frame)

    def interrupt(self, caller: Caller, tag: str) -> None:
        """Interrupt the executions in the engine that have a tag."""
        with self.use_session(caller) as spark:
            spark.interruptTag(tag)

    @contextmanager
    def use_session(self, caller: Caller) -> Iterator[SparkSession]:
        """Yield the prepared session of a client, whose calls are like the client's own.

        The calls have the client's metadata and tags. They fail, as the client's own calls would,
        if the engine has ended the session that the client knows and begun another one.
        """
        session = self.find_or_open_session(caller.key)
        client = cast("Any", session.spark).client
        client._server_session_id = caller.engine_session or None
        reset_token = CURRENT_CALLER.set(caller)
        try:
            for tag in caller.tags:
                client.add_tag(tag)
            with session.preparation_lock:
                if not session.is_prepared:
                    self.prepare_new_session(session.spark)
                    session.is_prepared = True
            yield session.spark
        finally:
            client.clear_tags()
            CURRENT_CALLER.reset(reset_token)

    def find_or_open_session(self, key: SessionKey) -> PlanningSession:
        """Return the planning session of a client, and open it if there is none.

        Sessions that were not used for IDLE_SECONDS are dropped.
        """
        now = monotonic()
        with self.lock:
            session = self.sessions.pop(key, None)
            if session is None:
                session = PlanningSession(open_session(self.address, self.channel, key))
            session.last_used = now
            self.sessions[key] = session  # moves to the end: it was used last
            for other_key, other_session in list(self.sessions.items()):
                if other_session.last_used >= now - IDLE_SECONDS:
                    break
                del self.sessions[other_key]
            return session

    def prepare_new_session(self, spark: SparkSession) -> None:
        """Prepare a session that the planner has not used before.

        The engine's session may have been prepared already, by another gateway or as a copy of a
        prepared session. Then `prepare` is not called again, because the client may have replaced
        its views.
        """
        tune(spark)
        if self.prepare is not None and spark.conf.get(settings.PREPARED_SETTING, None) is None:
            self.prepare(spark)
            spark.conf.set(settings.PREPARED_SETTING, "true")

    def forget_session(self, key: SessionKey) -> None:
        """Forget a session that its client has ended."""
        with self.lock:
            self.sessions.pop(key, None)

    def close(self) -> None:
        """Close the channel. Statements that are being planned fail."""
        self.channel.close()


def open_session(address: str, channel: Any, key: SessionKey) -> SparkSession:
    """Open a session that shares views and settings with the client's session of the same key.

    Args:
        address: the address of the engine's server.
        channel: the channel to this server.
        key: the session of the client, which has perhaps not called the engine yet.
    """
    # The constructor, unlike `getOrCreate`, makes no session the active one of this program.
    session: Any = SharingSession(SharedChannelBuilder(address, channel, key))
    client = session.client
    if hasattr(client, "_on_exit"):
        # At the end of the program, PySpark would drop the ML models of the client's session. Until
        # then it would keep each session in memory.
        atexit.unregister(client._on_exit)
    if hasattr(client, "set_retry_policies"):
        for policy in client.get_retry_policies():
            policy.max_retries = MAX_RETRIES
    else:  # PySpark 3.5
        client._retry_policy["max_retries"] = MAX_RETRIES
    return cast("SparkSession", session)


def run_statement(spark: SparkSession, statement: SqlStatement) -> DataFrame | None:
    """Return the result of a statement; None if the engine itself should run the statement.

    The result of EXPLAIN is a row with the text of `Query.explain`. The result of SET is a row with
    the name and the value.

    Raises:
        MatchRecognizeError: the statement has a mistake, or is a clause or a SASE+ text alone.
        PySparkException: the engine rejects the statement.
    """
    option_statement = settings.read_option_statement(statement.text)
    if option_statement is not None:
        return answer_option_statement(spark, option_statement)
    if settings.resets_all(statement.text):
        if not find_backend(spark).can_reset_settings:
            raise errors.reset_not_supported()
        return None
    reject_clause_as_query(statement.text)
    text, frames = name_frames(spark, statement)
    session_values = settings.read_session_values(read_option_values(spark))
    dialect, options = session_values.dialect, session_values.options
    explain_start = EXPLAIN_START.match(text)
    if explain_start is None:
        return build_sql_handler(dialect, options)(spark, text, statement.args, frames)
    query_text = text[explain_start.end() :]
    query = build_sql_query(spark, query_text, statement.args, dialect, options, frames)
    return explain_query(spark, query)


def answer_option_statement(spark: SparkSession, statement: settings.OptionStatement) -> DataFrame:
    """Set, reset or show an option of matchrec in a session. The result is its name and value."""
    full_name = f"{settings.SETTING_PREFIX}{statement.name}"
    match statement.action:
        case settings.OptionAction.SET:
            spark.conf.set(full_name, statement.value)
        case settings.OptionAction.RESET:
            spark.conf.unset(full_name)
        case settings.OptionAction.SHOW:
            pass  # every statement shows the value
    default = settings.SETTABLE_OPTIONS[statement.name].default
    value = read_option_values(spark).get(statement.name, default)
    return spark.createDataFrame([(full_name, value)], "key string, value string")


def explain_query(spark: SparkSession, query: Query) -> DataFrame | None:
    """Return the explanation of a query as a row; None if the query has no clause."""
    explanation = query.explain()
    if not explanation.clauses:
        return None
    return spark.createDataFrame([(str(explanation),)], "plan string")


def name_frames(spark: SparkSession, statement: SqlStatement) -> tuple[str, dict[str, Any]]:
    """Return the text of a statement with its DataFrames as `{name}`, and each name's DataFrame.

    `SELECT * FROM df1` becomes `SELECT * FROM {df1}`. A client chooses the names so that they occur
    nowhere else in the text.
    """
    text = statement.text
    frames = {}
    for name, relation in statement.relations.items():
        text = re.sub(rf"(?<![\w`{{]){re.escape(name)}(?![\w`}}])", f"{{{name}}}", text)
        # The ids in the copy must differ from the ids of the plans that this program makes around
        # it.
        plan = CachedRelation(renumber_plans(copy_relation(relation)))
        frames[name] = ConnectDataFrame(plan, cast("Any", spark))
    return text, frames


def read_option_values(spark: SparkSession) -> dict[str, str]:
    """Return the values of the options that a session sets, by the names of the options."""
    operation = proto.ConfigRequest.Operation(
        get_all=proto.ConfigRequest.GetAll(prefix=settings.SETTING_PREFIX)
    )
    pairs = cast("Any", spark).client.config(operation).pairs
    # Spark returns the names without the prefix, and Sail with it.
    values = {name.removeprefix(settings.SETTING_PREFIX): value for name, value in pairs}
    values.pop(settings.PREPARED_SETTING.removeprefix(settings.SETTING_PREFIX), None)
    return values


def read_plan(spark: SparkSession, frame: DataFrame) -> ProtoRelation:
    """Return the relation of a DataFrame, with ids that no plan of the client has."""
    plan = cast("Any", frame)._plan.to_proto(cast("Any", spark).client)
    return renumber_plans(plan.root)
