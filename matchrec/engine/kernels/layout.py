"""The arrays that kernels share: which column or index means what.

Few and plain arrays: numba counts references for every array it takes out of a tuple, which costs
more than a step of the search.

first: int64[s + 1], the choices of state s are rows first[s] .. first[s + 1] of `program`.
program: int64[c, 8], one cache line for each choice, columns as below.
satisfied: int64[n, w], the row conditions of `Partitions`, bit for bit.
found: int64[4, m + 1], what is known of each match, rows as below.
taken: int32[k], the choice taken at each mapped row, match after match.
"""

import numpy as np
import numpy.typing as npt

ByteArray = npt.NDArray[np.uint8]
ChoiceArray = npt.NDArray[np.int32]

# Columns of `program`, which are those of `nfa.tables.ProgramTables` and the row condition: the
# choice needs `satisfied[row, WORD] & MASK == MASK`; mask 0 needs nothing.
SOURCE = 0
TARGET = 1
VARIABLE = 2
GUARD = 3
MEMO = 4
WORD = 5
MASK = 6
SKIP_HERE = 7  # whether AFTER MATCH SKIP TO means rows of this choice
CHOICE_SIZE = 8

ACCEPT = -1  # the target of a choice that accepts

# Rows of `found`.
FOUND_PARTITION = 0
FOUND_NUMBER = 1
FOUND_START = 2
FOUND_OFFSET = 3

# What a kernel returns.
DONE = 0
OUTPUT_FULL = 1  # take the matches away; progress[NEEDED] rows must fit
PATH_FULL = 2
MEMO_FULL = 3
RUNS_FULL = 4
NODES_FULL = 5
SKIP_TO_NO_ROW = 6  # failures: at progress[PARTITION], progress[ROW]
SKIP_TO_FIRST_ROW = 7
OVERFLOW = 8
DIVISION_BY_ZERO = 9

# What a kernel keeps between calls, indices of `progress`.
PARTITION = 0  # the partition being searched
START = 1  # the next starting row
NUMBER = 2  # matches found in the partition
MATCHES = 3  # matches in the output
MAPPED = 4  # rows in the output
NEEDED = 5  # rows that the output must hold
ROW = 6  # where a failure showed
MEMO_FROM = 7  # remembered failures count from this row on
MEMO_TO = 8  # and before this one
PROGRESS_SIZE = 9

# AFTER MATCH SKIP.
TO_NEXT_ROW = 0
PAST_LAST_ROW = 1
TO_FIRST = 2
TO_LAST = 3
