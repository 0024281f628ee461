"""A server of Spark Connect in front of another one, which adds MATCH_RECOGNIZE to its SQL.

    client ──────────▶ gateway ──────────▶ engine
    Scala, Go, Rust,   `forward`           Sail, Spark, or a cluster
    R, SQL tools

Clients of Spark Connect in other languages cannot import matchrec. They connect to the gateway as
to any server. It forwards every call unchanged, except a call whose plan holds SQL with a clause:

1. `statements` finds the SQL in the message.
2. `planner` runs the SQL with `matchrec.sql`, in a second session with the user and the session id
   of the client. So the query sees the client's temporary views, settings and catalog.
3. The resulting DataFrame is a plan without the clause, which replaces the SQL.

The modules:

    serve        starts a gateway
    listener     where the gateway listens, and who is allowed to connect
    defaults     where it listens by default
    engines      finds or starts the server of the engine
    server       the event loop and the threads of a gateway
    forward      the calls of clients: forwarded, or answered here
    executions   the executions that were planned here, for clients whose connection breaks
    statements   finds and replaces SQL in messages
    planner      plans SQL in the sessions of clients
    settings     options of matchrec that a session sets with SET
    status       errors as clients of Spark Connect read them

Source: the protocol, spark/sql/connect/common/src/main/protobuf/spark/connect/base.proto.
"""
