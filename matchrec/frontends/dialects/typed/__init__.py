"""Rules that ask for types: a node and the kinds of columns go in, what means the same comes out.

`-` of two times is a number of days in Oracle, `/` of two integers drops the fraction in Trino.
Which one a query means depends on the types of its columns, so Spark is asked for these first, and
only by a query in which a rule has met a column.
"""
