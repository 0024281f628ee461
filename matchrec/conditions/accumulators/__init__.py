"""The aggregates that Python computes, each as an accumulator: rows are added one by one, in order.

Every one follows Spark's own update of its buffer, operation by operation, so that floating-point
results agree to the last bit with Spark's where it adds the rows in the same order.

    aggregate     what an aggregate takes and gives, and a result for each list of rows
    values        when values are equal, and how they are sorted
    catalogue     all aggregates by their names
"""
