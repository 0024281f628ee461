"""Turn matches into output rows, and find what each measure reads on each of them.

The input is the matches of some partitions. The result is, for every output row, the position of
its input row and the positions of the rows that its measures read. Values are not copied here:
positions are enough to build a column of any type.

When a query is compiled:

    schema              lists the columns of the result
    measure_translator  translates measures to SQL over reads; `measure_sql` has its pieces
    read_collector      collects the reads, and the columns that they need
    worker_aggregates   decides which aggregates become reads
    reads               defines what a read is

In a worker:

    rows                lists the output rows
    match_reader        finds the rows that each output row reads
    aggregates          finds counts, sums and extremes, with `total_kernels` and `exact_sums`
"""
