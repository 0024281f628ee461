"""Functions of Spark over several rows of a run, which Python computes while a kernel searches.

Spark computes what reads one row, and kernels compute arithmetic. This package has other functions,
as in `levenshtein(name, LAST(A.name)) < 2`. They are slower, about a microsecond for each value,
and `explain` names them. A function is here only if its values are those of Spark. The tests
compare them.

    function     what a function takes and returns, and how it is computed
    comparisons, numerals, texts, times, casts, nested    the functions, by what they are about
    number_conversions, number_texts    how numbers become other numbers, and are read from texts
    calendar     days and time zones
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matchrec.conditions.functions.function import Function

# The name of a function for arithmetic of times is this prefix and the operator, such as `TIME +`.
# The operator itself is the name of arithmetic of decimals.
TIME_PREFIX = "TIME "


@cache
def load_functions() -> Mapping[str, Function]:
    """Return all functions by their names.

    They are loaded when a condition first needs one, because most conditions need none.
    """
    from matchrec.conditions.functions.casts import CASTS
    from matchrec.conditions.functions.comparisons import COMPARISONS
    from matchrec.conditions.functions.nested import NESTED_FUNCTIONS
    from matchrec.conditions.functions.numerals import NUMERALS
    from matchrec.conditions.functions.texts import TEXTS
    from matchrec.conditions.functions.times import TIME_FUNCTIONS

    tables = COMPARISONS, CASTS, NUMERALS, TEXTS, TIME_FUNCTIONS, NESTED_FUNCTIONS
    return {name: function for table in tables for name, function in table.items()}
