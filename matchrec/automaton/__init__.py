"""The NFA^b program: a row pattern goes in, states with ordered edges come out.

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
