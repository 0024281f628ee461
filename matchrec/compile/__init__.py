"""Compile a plan to a `CompiledQuery`: columns for Spark, a task for the search, and reads.

In this package, a query is one clause, or one rule of a rule set. The queries of a rule set share
the values that Spark computes.

`spark.compile.compile_request` calls one function for each step, in this order:

    Module            Function              Result
    resolved_query    resolve_query         ResolvedQuery: names are columns of the input, and the
                                            row pattern is compiled
    split_query       split_query           SplitQuery: conditions are split between Spark, the
                                            worker and the search
    joined_queries    join_query            JoinedQueries: what Spark computes for each row
    rule_set          join_rule_queries     the same for several rules, which share rows and bits
    typed_conditions  type_conditions       TypedConditions: what the workers and the search compute
    build_query       QueryCompiler         TranslatedOutputs: the result as SQL over reads,
                                            then CompiledQuery: everything that workers and
                                            Spark need

No step changes its input. So after another choice of who sorts, conditions can be split again.

These modules do a part of a step:

    read_guards           guards of expressions that could raise errors on rows in no match
    columns               the columns that each part of a query reads
    sent_columns          the columns that are sent to the workers
    origins               where the user wrote the values that Spark computes, for errors
    compiled_query        `CompiledQuery` and the records in it
    lookaround            how far a query looks around a run
    pruning               rows that need not be sent, and shortcuts

These modules compile parts that few plans have:

    negation              NOT in a row pattern whose matches skip no rows
    totals                aggregates over all matches
    absences              rows that must be absent, if matches are added up without being built
    absence_conditions    whether the condition of such a row can be tested when it arrives

These modules compile a query to count how far its starting rows come:

    coverage              the query, and the task of the workers
    guarded_tests         tests that can be computed for every row
    counted_coverage      the numbers that the workers have counted
"""
