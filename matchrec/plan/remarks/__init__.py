"""A plan that may be run → what in it is nearly never meant, as warnings.

A rule is one function, and one class of `errors.warnings`, whose sentence says when it applies.
"""
