"""The arrays that these kernels share, beside those of `kernels.layout`.

nodes: int64[n, 5], the shared buffer: a pointer from each selected row to the one before, for every
run that selects it. A join stands where runs have merged: it leads to the ends of both.
runs: int64[2, r, 3], those before this row and those behind it, in turn, in the order in which
depth-first search would come to them.
path: int64[5, p], a match's rows and choices, those of the best match so far, and for a search
that goes back, whether the row at a depth may be skipped and how many matches there were before it.
ways: int64[q, 2], joins whose other side is still to be unwound, and how many rows lie behind.
absent: int64[a, 6], columns below. members: bool[a, 2, v], the variables in front of that part and
behind it. following: int64[a, n + 1], the next row from a row on that satisfies the row condition.
closing: int64[0 or 1, 4], the condition of the match as a whole.
counters: int64[2, 8], rows below; the second row keeps them for a step that must be done again.
"""

from matchrec.engine.kernels import layout

# Columns of `nodes`.
NODE_CHOICE = 0  # by which the row was mapped, JOIN for a join
NODE_ROW = 1
NODE_BEFORE = 2  # the node of the row before, or -1; of a join, its first side
NODE_OTHER = 3  # of a join, its second side
NODE_START = 4  # the latest first row of what ends here
NODE_SIZE = 5
JOIN = -1

# Columns of `runs`.
RUN_STATE = 0
RUN_NODE = 1
RUN_START = 2  # the latest first row of the runs that this one stands for
RUN_SIZE = 3

# Rows of `path`.
ROWS = 0
CHOICES = 1
BEST_ROWS = 2
BEST_CHOICES = 3
MARKS = 4
PATH_SIZE = 5

# Columns of `absent`.
KIND = 0
ABSENT_WORD = 1
ABSENT_MASK = 2
ABSENT_CODE = 3
ABSENT_CODE_END = 4
ABSENT_SIZE = 5
IN_THE_MIDDLE = 0
AT_THE_BEGINNING = 1
AT_THE_END = 2

# Columns of `closing`.
CLOSING_WORD = 0
CLOSING_MASK = 1
CLOSING_CODE = 2
CLOSING_CODE_END = 3
CLOSING_SIZE = 4

# Which rows may be skipped, and which matches come out.
STRICT = 0
TILL_NEXT = 1
TILL_ANY = 2
PREFERRED = 0
ALL = 1
NON_OVERLAPPING = 2

# Indices of `progress` beyond those of `kernels.layout`.
BANK = layout.PROGRESS_SIZE  # of the runs before the row
COUNT = layout.PROGRESS_SIZE + 1  # of these runs
BEST_LENGTH = layout.PROGRESS_SIZE + 2  # of the best match so far, whose last row is BEST_END
PROGRESS_SIZE = layout.PROGRESS_SIZE + 3

# What `counters` count.
READS = 0  # how often a run has looked at a row
RUNS_CREATED = 1
MOST_ALIVE = 2
FORKS = 3
MERGES = 4
NODES_CREATED = 5
NODES_PRUNED = 6
MATCHES_FOUND = 7
COUNTERS = 8
