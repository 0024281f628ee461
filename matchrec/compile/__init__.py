"""Compile a plan to a `CompiledQuery`: columns for Spark, a task for the search, and reads.

A query is here what one clause asks for, or one rule of a rule set: each rule is compiled to a
query, and the queries of a set share what Spark computes.

`spark.compile.compile_request` takes the steps in this order. Each is a function in a module of its
own, and makes one type of query from another (module, function, result):

    resolved_query    resolve_query         ResolvedQuery: names are columns of the input, and the
                                            row pattern is compiled
    split_query       split_query           SplitQuery: conditions are split for who reads
                                            neighbouring rows
    joined_queries    join_query            JoinedQueries: what Spark computes of each row
    rule_set          join_rule_queries     the same for several rules, which share rows and bits
    typed_conditions  type_conditions       TypedConditions: what the workers and the search compute
    build_query       translate_outputs     TranslatedOutputs: the result as SQL over reads
    build_query       build_compiled_query  CompiledQuery: all that workers and Spark need

No step changes what it gets, so conditions can be split again for another choice of who sorts.

These modules do a part of a step:

    read_guards           guards what could raise errors on rows that are in no match
    columns               the columns that each part of a query reads
    sent_columns          the columns that are sent to the workers
    origins               where the user wrote what Spark computes, for errors
    compiled_query        `CompiledQuery` and the records in it
    lookaround            how far a query looks around a run
    pruning               rows that need not be sent, and shortcuts

These compile what few plans have:

    negation              NOT in a row pattern whose matches skip no rows
    totals                aggregates over all matches
    absences              rows that must be absent, if matches are added up without being built
    absence_conditions    whether the condition of such a row can be tested when it arrives

These compile a query to count how far its starting rows come:

    coverage              the query, and the task of the workers
    guarded_tests         tests that can be computed for every row
    counted_coverage      what the workers have counted
"""
