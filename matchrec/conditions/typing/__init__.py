"""Turn residual conditions into run conditions: give each step the type that Spark gives it.

If Spark would convert a value in a way that the search cannot repeat, the condition is rejected.

    steps                types every step: columns, basic operations, and those that are rewritten
                         with them; calls the module for any other sort of step
    running_aggregates   types aggregates
    arithmetic           types arithmetic
    mathematics          types mathematical functions
    calls                types functions that Python computes

These modules use:

    typer                reads columns, and brings two values to one type
    operand_types        brings the operands of an operation to one type, by rules of the operation
    numbers              builds arithmetic of numbers, times and intervals
    constants            values that the user wrote, and NULL
    python_values        says which operations Python must compute
    arguments            converts the arguments of functions that Python computes
    failures             says which operations can fail
    run_columns          numbers the columns that the search reads

`known_types` finds the types of columns without asking Spark.
"""
