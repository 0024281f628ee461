"""A place in SQL text goes in, an error with its wording comes out.

clause          in how the clause is put together
pattern         in PATTERN, of navigation and frames
expression      in MEASURES and DEFINE
window          in a row pattern window
foreign_names   functions of other products
"""
