"""Compiled code that computes conditions on the run.

machine      runs the instructions of conditions, and the steps that update registers
functions    the functions that instructions call: mathematics and arithmetic
arithmetic   arithmetic and comparison as in Spark SQL
strict_math  logarithms and powers as in Java's StrictMath
"""
