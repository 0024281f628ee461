"""The PATTERN grammar: the text of a row pattern goes in, its tree with spans comes out.

A (B | C)+? $   →   Concatenation(A, Quantified(Alternation(B, C), 1, reluctant), PartitionEnd)
"""
