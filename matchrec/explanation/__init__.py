"""Explanation: an executed query goes in; text in the order of its stages comes out, and pictures.

    explanation   all clauses of a query      formulas   of edges; nondeterminism, V and M
    clause        the sections of one         coverage   how far starting rows come

Dropped is what only an engine reads: layouts, places in arrays, bits.
"""

from matchrec.explanation.clause import ExplainedClause
from matchrec.explanation.explanation import Explanation

__all__ = ["ExplainedClause", "Explanation"]
