"""The aggregates that Python computes, each as an accumulator to which rows are added in order.

Each one updates its state as Spark updates its buffer, operation by operation. So floating-point
results agree to the last bit if Spark adds the rows in the same order. Values are compared and
sorted as in Spark.

    accumulator     what all aggregates have in common, also DISTINCT
    sums, chosen_rows, collected_values, statistics, percentiles    the aggregates, by what they do
    result_types    the type of an aggregate, from the types of its arguments
    table           all aggregates by their names, and what to write instead of other aggregates
    shared_lists    aggregates of lists that share their rows, for the search
"""
