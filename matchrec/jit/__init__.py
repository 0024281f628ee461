"""A function over numbers and arrays goes in, machine code that Python calls comes out.

Compiled by numba when it is first called, and kept on disk. No other room knows numba.
"""
