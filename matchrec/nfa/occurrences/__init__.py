"""A row pattern goes in; out comes its program, whose choices say which occurrence a row takes.

occurrences   pattern → program by occurrence
copies        states that the same occurrences lead to, told apart
"""

from matchrec.nfa.occurrences.occurrences import (
    Occurrences,
    compile_occurrences,
    occurrences_of_stages,
)

__all__ = ["Occurrences", "compile_occurrences", "occurrences_of_stages"]
