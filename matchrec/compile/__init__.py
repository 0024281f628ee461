"""Compile a plan to a `CompiledQuery`: columns for Spark, a task for the search, and reads.

`spark.compile.compile_request` takes the steps in this order. Each is a function in a module of its
own, and makes one type of query from another (module, function, result):

    resolved_query    resolve_query         ResolvedQuery: names are columns of the input, and the
                                            row pattern is compiled
    split_query       split_query           SplitQuery: conditions are split for who reads
                                            neighbouring rows
    joined_queries    join_query            JoinedQueries: what Spark computes of each row
    rule_set          join_rule_queries     the same for several rules, which share rows and bits
    typed_conditions  type_conditions       TypedConditions: what the workers and the search compute
    build_query       build_compiled_query  CompiledQuery: all that workers and Spark need

No step changes what it gets, so conditions can be split again for another choice of who sorts.

Other modules do a part of a step. `columns` and `sent_columns` find the columns that are computed
and sent, `read_guards` keeps expressions from raising errors, and `origins` finds the text to show
in an error of Spark. `negation`, `absences` and `totals` compile what few plans have. `coverage`
compiles a query to be counted. `pruning` finds rows that need not be sent.
"""
