"""Scalar syntax: the text of one expression goes in, a `Scalar` with its references comes out.

Spark's tokens (`tokens`) and columns (`sqlglot_columns`) lie side by side in an `Analysis`. What
reads rows of a match is taken out as references (`references`, `navigation`, `aggregates`); the
operations around it are read by precedence (`operations`). Layout is dropped; every word that is
Spark's stays as it was written.
"""
