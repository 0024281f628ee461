"""Compile a row pattern to an NFA^b program: states with ordered edges.

`A B+?` becomes

    0 start
        begin A -> 1
    1
        begin B -> 2
    2
        proceed -> 3
        take B -> 2
    3 final
"""
