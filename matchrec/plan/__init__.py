"""The meaning of a row pattern query, whichever front end asked for it.

In goes a front end's request, out comes a `MatchPlan`, checked and resolved; the syntax is dropped.
"""
