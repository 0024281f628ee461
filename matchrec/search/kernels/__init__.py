"""The compiled loops: flat arrays go in and are written to, a status comes out.

Nothing is allocated: a kernel runs until all partitions are searched or something
does not fit; it then says what must grow, and when called again goes on where `progress` says.
"""
