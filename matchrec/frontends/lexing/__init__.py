"""What sqlglot says of a text in a dialect: its tokens, and where the columns stand.

sqlglot is asked, never extended; only kinds of tokens and positions are taken from it.
"""
