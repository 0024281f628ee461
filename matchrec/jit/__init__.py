"""Compile functions over numbers and arrays to machine code that Python calls.

numba compiles a function when it is first called, and keeps it on disk. No other package of
matchrec imports numba.

    decorators   `@kernel`, `@inner`, `@spliced` and others: the ways to compile a function
    parts        functions that only kernels call
    first_steps  Python takes the first steps of a kernel, while it is not compiled
    disk_cache   compiled functions on disk, one for each combination of types
    trust        which folders compiled code may be loaded from
    callbacks    pointers to functions that kernels call
    views        arguments of kernels in another form, over the same memory
    bits         a float as the 64 bits that hold it
"""
