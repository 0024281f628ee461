"""SASE+ text goes in, a `SaseQuery` comes out, in which no name is looked up.

`grammar.lark` is the grammar, `parser` runs lark on it, `tree` makes nodes of what lark has read.
Layout and comments are dropped.
"""
