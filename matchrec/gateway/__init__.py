"""A server of Spark Connect in front of another one, which adds MATCH_RECOGNIZE to its SQL.

    client ──────────▶ gateway ──────────▶ engine
    Scala, Go, Rust,   `forward`           Sail, Spark, or a cluster
    R, SQL tools

Clients of Spark Connect in other languages cannot import matchrec. They connect to the gateway as
to any server. It forwards every call unchanged, except a call whose plan holds SQL with a clause:

1. `statements` finds such SQL in a message.
2. `planner` runs it with `matchrec.sql`, in a second session with the user and the session id of
   the client. So it sees the client's temporary views, settings and catalog.
3. The resulting DataFrame is a plan without the clause. It replaces the SQL.

`executions` remembers what was planned, for clients whose connection breaks. `status` writes errors
as clients of Spark Connect read them.

Source: the protocol, spark/sql/connect/common/src/main/protobuf/spark/connect/base.proto.
"""
