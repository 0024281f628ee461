"""Plan the SQL of clients with `matchrec.sql`, each in a session that is the client's own.

A session of Spark Connect is known by a user and an id. A second client with the same user and id
shares the session's temporary views, settings and artifacts. The planner is such a second client.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

import pyspark.sql.connect.proto as proto
from pyspark.sql.connect.dataframe import DataFrame as ConnectDataFrame
from pyspark.sql.connect.plan import LogicalPlan
from pyspark.sql.connect.session import SparkSession as ConnectSession

from matchrec.api.sql import BLANKS, build_answer, build_sql_query
from matchrec.gateway import settings
from matchrec.gateway.statements import ProtoRelation, SqlStatement, renumber_plans
from matchrec.spark.environment import tune
from matchrec.spark.sail.server import channel_to

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# After how many seconds without a statement the planner closes its side of a session.
IDLE = 3600.0

# The beginning of a statement that asks how a query runs.
EXPLAIN = re.compile(
    rf"{BLANKS}EXPLAIN\s+((EXTENDED|FORMATTED|COST|CODEGEN)\s+)?(?=\S)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class SessionKey:
    """What identifies a session of Spark Connect."""

    user: str
    session: str


@dataclass(slots=True)
class PlanningSession:
    """A session in which the statements of one client are planned, one at a time."""

    # None until the first statement, and again once the connection is closed.
    spark: SparkSession | None = None
    # Held by the thread that uses or closes the connection.
    lock: Lock = field(default_factory=Lock)
    last_used: float = field(default_factory=monotonic)
    # Whether the planner has dropped the session. Then nothing may run in it any more.
    is_ended: bool = False

    def end(self) -> None:
        """Close the connection now, or once the statement that is using it has ended.

        It does not wait, because the event loop calls it.
        """
        self.is_ended = True
        self.close_if_ended()

    def release(self) -> None:
        """Release the lock. Close the connection if the session has ended in the meantime."""
        self.lock.release()
        self.close_if_ended()

    def close_if_ended(self) -> None:
        """Close the connection of an ended session, unless it is in use: see `release`."""
        if self.is_ended and self.lock.acquire(blocking=False):
            try:
                if self.spark is not None:
                    close_channel(self.spark)
                    self.spark = None
            finally:
                self.lock.release()


class RelationPlan(LogicalPlan):
    """A plan of PySpark that is a relation of another client."""

    def __init__(self, relation: ProtoRelation) -> None:
        super().__init__(None)
        self.relation = relation

    def plan(self, session: Any) -> ProtoRelation:  # noqa: ARG002 -- PySpark calls it so
        """Return the relation."""
        return self.relation


class Planner:
    """Plans statements in the sessions of the clients that sent them.

    Args:
        address: the address of the engine's server, `sc://host:port`.
        prepare: is called with each new session, for example to make temporary views.
    """

    def __init__(self, address: str, prepare: Callable[[SparkSession], None] | None) -> None:
        self.address = address
        self.prepare = prepare
        self.sessions: dict[SessionKey, PlanningSession] = {}
        self.lock = Lock()

    @property
    def prepares_sessions(self) -> bool:
        """Return whether a new session has to be prepared before its first plan runs."""
        return self.prepare is not None

    def open(self, key: SessionKey) -> None:
        """Make and prepare the session of a client, unless that has been done."""
        with self.use_session(key):
            pass

    def plan(self, key: SessionKey, statement: SqlStatement) -> ProtoRelation | None:
        """Return the relation that replaces a statement.

        Args:
            key: the client's session.
            statement: SQL that may have a clause, or that sets an option of matchrec.

        Returns:
            a relation without clauses; None if the engine itself should run the statement.

        Raises:
            MatchRecognizeError: a clause or a setting has a mistake.
            PySparkException: the rest of the statement has a mistake.
        """
        with self.use_session(key) as spark:
            frame = run_statement(spark, statement)
            return None if frame is None else read_plan(spark, frame)

    @contextmanager
    def use_session(self, key: SessionKey) -> Iterator[SparkSession]:
        """Yield the connected session of a client, which no other thread uses until the end."""
        session = self.acquire_session(key)
        try:
            yield self.connect(key, session)
        finally:
            session.release()

    def acquire_session(self, key: SessionKey) -> PlanningSession:
        """Return the planning session of a client, with its lock acquired."""
        while True:
            session = self.find_session(key)
            session.lock.acquire()
            if not session.is_ended:
                return session
            # It has ended while this thread waited for the lock. Look it up again.
            session.release()

    def find_session(self, key: SessionKey) -> PlanningSession:
        """Return the planning session of a client, which may not be connected yet."""
        with self.lock:
            self.close_idle()
            session = self.sessions.setdefault(key, PlanningSession())
            session.last_used = monotonic()
            return session

    def connect(self, key: SessionKey, session: PlanningSession) -> SparkSession:
        """Return the connected session, and prepare it if it is new."""
        if session.spark is None:
            spark = connect(self.address, key)
            try:
                tune(spark)
                if self.prepare is not None:
                    self.prepare(spark)
            except BaseException:
                close_channel(spark)
                raise
            session.spark = spark
        return session.spark

    def close_idle(self) -> None:
        """Close the sessions that no client has used for long. The engine keeps its side.

        A session whose statement still runs is not idle.
        """
        oldest = monotonic() - IDLE
        for key, session in list(self.sessions.items()):
            if session.last_used < oldest and not session.lock.locked():
                del self.sessions[key]
                session.end()

    def close_session(self, key: SessionKey) -> None:
        """Close the session of a client that has ended it."""
        with self.lock:
            session = self.sessions.pop(key, None)
        if session is not None:
            session.end()

    def close(self) -> None:
        """Close all sessions. A statement that still runs in one of them fails."""
        with self.lock:
            sessions = list(self.sessions.values())
            self.sessions.clear()
        for session in sessions:
            spark = session.spark
            session.end()
            if spark is not None:
                close_channel(spark)


def connect(address: str, key: SessionKey) -> SparkSession:
    """Return a client of the session that another client has, or will have, at a server."""
    separator = ";" if "/;" in address else "/;"
    builder = channel_to(
        f"{address}{separator}session_id={key.session};user_id={quote(key.user, safe='')}"
    )
    # The constructor, unlike `getOrCreate`, makes no session the active one of this program.
    return cast("SparkSession", ConnectSession(builder))


def close_channel(spark: SparkSession) -> None:
    """Close the connection of a session, and leave the engine's side to the client."""
    cast("Any", spark).client._channel.close()


def run_statement(spark: SparkSession, statement: SqlStatement) -> DataFrame | None:
    """Return the result of a statement; None if the engine itself should run it.

    The result of EXPLAIN is a row with the text of `Query.explain`; the result of SET a row with
    the name and the value.
    """
    setting = settings.read_statement(statement.text)
    if setting is not None:
        name, value = setting
        spark.conf.set(f"{settings.PREFIX}{name}", value)
        return spark.createDataFrame(
            [(f"{settings.PREFIX}{name}", value)], "key string, value string"
        )
    text, frames = name_frames(spark, statement)
    dialect, options = settings.build_options(read_settings(spark))
    explain = EXPLAIN.match(text)
    if explain is None:
        return build_answer(dialect, options)(spark, text, statement.args, frames)
    text = text[explain.end() :]
    query = build_sql_query(spark, text, statement.args, dialect, options, frames)
    explanation = query.explain()
    if not explanation.clauses:
        return None
    return spark.createDataFrame([(str(explanation),)], "plan string")


def name_frames(spark: SparkSession, statement: SqlStatement) -> tuple[str, dict[str, Any]]:
    """Return the text of a statement with its DataFrames as `{name}`, and the DataFrames.

    A client has chosen names that are in no other place of the text.
    """
    text = statement.text
    frames = {}
    for name, relation in statement.relations.items():
        text = re.sub(rf"(?<![\w`{{]){re.escape(name)}(?![\w`}}])", f"{{{name}}}", text)
        frames[name] = ConnectDataFrame(RelationPlan(relation), cast("Any", spark))
    return text, frames


def read_settings(spark: SparkSession) -> dict[str, str]:
    """Return the settings of matchrec that a session has, by their names without the prefix."""
    operation = proto.ConfigRequest.Operation(
        get_all=proto.ConfigRequest.GetAll(prefix=settings.PREFIX)
    )
    pairs = cast("Any", spark).client.config(operation).pairs
    return {name.removeprefix(settings.PREFIX): value for name, value in pairs}


def read_plan(spark: SparkSession, frame: DataFrame) -> ProtoRelation:
    """Return the relation of a DataFrame."""
    plan = cast("Any", frame)._plan.to_proto(cast("Any", spark).client)
    return renumber_plans(plan.root)
