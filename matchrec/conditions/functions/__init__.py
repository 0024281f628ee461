"""Functions of Spark over several rows of a run that Python computes while a kernel searches.

What looks at one row is Spark's, and what is arithmetic is compiled; this is for the rest, such as
`levenshtein(name, LAST(A.name)) < 2`. It is slower, about a microsecond for each value, and
`explain` names it. A function is here only if it gives what Spark gives; the tests ask Spark.

    function     what a function takes, what it gives, how it is computed
    and beside it, by what they are of: `texts`, `numerals`, `times`, `casts`, `nested`
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matchrec.conditions.functions.function import Function


@cache
def functions() -> Mapping[str, Function]:
    """All functions by name, loaded when a condition first asks: most conditions call none."""
    from matchrec.conditions.functions.casts import CASTS
    from matchrec.conditions.functions.comparisons import COMPARISONS
    from matchrec.conditions.functions.nested import NESTED_FUNCTIONS
    from matchrec.conditions.functions.numerals import NUMERALS
    from matchrec.conditions.functions.texts import TEXTS
    from matchrec.conditions.functions.times import TIME_FUNCTIONS

    tables = COMPARISONS, CASTS, NUMERALS, TEXTS, TIME_FUNCTIONS, NESTED_FUNCTIONS
    return {name: function for table in tables for name, function in table.items()}
