"""Compiles functions over numbers and arrays to machine code that Python calls.

numba compiles a function when it is first called, and keeps it on disk. No other package of
matchrec imports numba.
"""
