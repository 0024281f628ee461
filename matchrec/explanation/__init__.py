"""Explanation: what a query's clauses compile to, stage by stage, and which engine runs them.

An executed clause goes in; text in the order of the stages comes out, and pictures.

    clause            the sections            selection        strategy, window, absences, switches
    formulas          of the program's edges  vector           the computation state, V and M
    nondeterminism    its sources, its cost   program          the program as text
    explanation       all clauses of a query
"""

from matchrec.explanation.clause import ExplainedClause
from matchrec.explanation.explanation import Explanation

__all__ = ["ExplainedClause", "Explanation"]
