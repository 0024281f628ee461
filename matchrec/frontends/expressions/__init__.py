"""Scalar syntax: the text of one expression goes in, a `Scalar` with its references comes out.

An `Analysis` has Spark's tokens and columns side by side. What reads rows of a match is taken out
as references (`references`); the operations around it are read by precedence (`expression`), over
operands (`operands`). Layout is dropped; every word that is Spark's stays as it was written.
"""
