"""SQL text in a dialect goes in, its tokens come out, and where its relations stand.

sqlglot is called, never extended; only kinds of tokens and positions are taken from it. Every
parser of ours reads `Token`s, most by a `Cursor`; SQL text is a `TokenSequence`.
"""
