"""The internal names of columns, from the user's rows to the result.

No other module spells one of these names, except for `__e`. `0 ...` stands for a number.

Before the match    __c0 ...       columns that are sent to the workers, and kept in streams
                    __x0 ...       SQL over one row: columns that other columns are made from
                    __s0 ...       values of the row at a fixed distance, such as `PREV(price)`
                    __bits0 ...    truth values, see below
                    __n            the number of a row in its partition
Through pandas      __null0 ...    truth values: which of the other columns are NULL
After the match     __r0 ...       what the workers read for the output, unless it is the result
                    __g0 ...       aggregates that Spark computes over the rows of a match
                    __v0 ...       an array with the values of such an aggregate
                    __e            a row of a match in a lambda, see `output.measure_sql`
                    __counters     what a worker has counted
                    __remaining    in coverage, how many rows the nearest run still needed
Rule sets           __rule, __kind, __k0 ..., __n, __first, __last, __events, __message
                                   see `worker.rule_batches`
Ranges              __class        the number of the class of the row's keys: equal for equal keys
                    __position     the position of a row in the order
                    __stretch      the number of a stretch of positions
                    __size         the number of rows of a stretch
                    __range        the number of a range of stretches
Streams             __bucket       the number of the bucket of the row's keys: equal for equal keys
                    __time         the column with the watermark
                    __t            the time of that column, in microseconds

Columns of bits hold the truth values of row conditions. Bit 0 of the first column marks the first
row of each partition. Bit c + 1 says whether condition c holds. A column has 62 bits, so condition
61 is bit 0 of the second column.
"""

from __future__ import annotations

from matchrec.compile.compiled_query import CompiledQuery, ResultForm
from matchrec.shortcuts import current_shortcuts

ROW_NUMBER = "__n"
COUNTERS = "__counters"
REMAINING_ROWS = "__remaining"
FIRST_BITS = "__bits0"  # the first column of bits; its bit 0 marks the first row of a partition

# Columns of streams.
EVENT_TIME = "__time"
EVENT_MICROSECONDS = "__t"
BUCKET = "__bucket"

# Columns of ranges.
KEY_CLASS = "__class"
ORDER_POSITION = "__position"
STRETCH = "__stretch"
STRETCH_ROWS = "__size"
RANGE = "__range"

# Columns of rule sets.
RULE_NUMBER = "__rule"
ROW_KIND = "__kind"
MATCH_NUMBER = "__n"
FIRST_ROW_ORDER = "__first"
LAST_ROW_ORDER = "__last"
MATCHED_ROWS = "__events"
FAILURE_MESSAGE = "__message"


# Names of columns with a number.


def name_column(index: int) -> str:
    """Return the name of a column that is sent to the workers, by its index in `SentColumns`."""
    return f"__c{index}"


def name_row_expression(number: int) -> str:
    """Return the name of SQL over one row, from which sent columns are made."""
    return f"__x{number}"


def name_shifted_value(number: int) -> str:
    """Return the name of a value of the row at a fixed distance, such as `PREV(price)`."""
    return f"__s{number}"


def name_bits(number: int) -> str:
    """Return the name of a column of bits, which hold the truth values of conditions."""
    return f"__bits{number}"


def name_null_bits(number: int) -> str:
    """Return the name of a column of bits that say which of the other columns are NULL."""
    return f"__null{number}"


def name_read(index: int) -> str:
    """Return the name of an output column of the workers, by the index of its read or slot."""
    return f"__r{index}"


def name_aggregate(index: int) -> str:
    """Return the name of an aggregate that Spark computes over the rows of a match."""
    return f"__g{index}"


def name_aggregated_values(index: int) -> str:
    """Return the name of the array of values that Spark aggregates, see `name_aggregate`."""
    return f"__v{index}"


def name_rule_key(index: int) -> str:
    """Return the name of a partition key in the output of a rule set."""
    return f"__k{index}"


# Columns of bits, each with several truth values.

BITS_PER_COLUMN = 62  # of a BIGINT


def count_bits_per_column() -> int:
    """Return how many truth values share a column of bits."""
    return BITS_PER_COLUMN if current_shortcuts().packing else 1


def count_bit_columns(condition_count: int) -> int:
    """Return how many columns of bits hold the mark of partitions and the conditions after it.

    Args:
        condition_count: the number of conditions.
    """
    return condition_count // count_bits_per_column() + 1


# Names of the output.


def name_output(compiled_query: CompiledQuery) -> list[str]:
    """Return the names of the output columns of the workers.

    If the only output is `LAST(B.price) AS top`, they are `["top"]`. If it is
    `LAST(B.price) - FIRST(A.price) AS rise`, which Spark computes from two reads, they are
    `["__r0", "__r1"]`.
    """
    if compiled_query.result_form is ResultForm.RETURNED:
        return [output.name for output in compiled_query.outputs]
    return [name_read(index) for index in range(len(compiled_query.reads))]
