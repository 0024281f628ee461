"""Sail: an engine that accepts PySpark's calls and SQL, in this program or behind a server.

This is the only package that knows Sail. A session on Sail is a session of Spark Connect like any
other. Probes, which run once per session, find out what Sail accepts or computes differently from
Spark. No version is compared.

    server                starts a session on Sail in this program
    backend               the methods of `spark.backend.Backend` in which Sail differs from Spark
    probes                find out how a session differs from Spark
    plan_text             reads Sail's plan of a query, which is a text
    doubles, strings,     rewrite expressions that Sail computes differently
    negation, guards,
    sums
    number_families,      find the types of expressions for these rewrites
    operand_types
    zones, files          give columns the types and time zones that they have on Spark
    sizes                 estimate how many rows an input has
    refusals,             put into plain words why Sail refuses a query, or cannot compute a value
    refused_names,
    value_failures
    message_tables        looks an error up in the tables of these modules
    statements            decides whether Spark, too, rejects a statement that Sail rejects
    hidden_operations,    find operations and arguments in texts that are not parsed
    call_arguments
    ending                waits for Sail's tasks when the program ends
"""
