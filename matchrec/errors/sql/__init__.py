"""Errors in the text of a SQL query, and advice on what to write instead.

query           the query around a clause
clause          the parts of a clause, and their order
tokens          words, signs and brackets that cannot be where they are
pattern         PATTERN, navigation and frames
expression      MEASURES and DEFINE
unknown_names   columns and functions that do not exist
window          row pattern windows, and queries of other products
type_mismatches hints for values of two types
foreign_names   hints for functions of other products
engine_errors   what an engine's error means
ungrouped       columns outside GROUP BY
"""
