"""Coverage: how far the starting rows of a query come, and what ends them.

What the workers have counted goes in; a funnel comes out, as text, table and picture.

    summary   counts → figures          text      the lines, and the answer at their end
    figures   what is said of a clause  picture   SVG
    coverage  all clauses of a query
"""

from matchrec.explanation.coverage.coverage import Coverage

__all__ = ["Coverage"]
