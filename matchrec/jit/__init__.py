"""Compile functions over numbers and arrays to machine code that Python calls.

numba compiles a function when it is first called, and keeps the machine code on disk. No other
package of matchrec imports numba.

    decorators   `@kernel`, `@inner`, `@spliced` and others: the ways to compile a function
    parts        functions that only kernels call
    first_steps  Python takes the first steps of a kernel while the kernel is not compiled
    callbacks    pointers to functions that kernels call
    views        arguments of kernels in another form, over the same memory
    bits         a float as the 64 bits that hold it
    array_types  the types of arrays, for annotations

Compiled functions on disk:

    cached_function  a function that is compiled, or loaded, for each combination of types
    disk_cache       the overview; copies, checks and locks the files of a function
    cache_files      the files of one function, and the digests that reveal damage
    cache_folders    the folders in which numba may keep files
    compile_lock     one process compiles a function, and the others wait for it
    sources          a digest of the sources, so that code from other sources is not used
    trust            the rule for folders from which compiled code may be loaded
"""
