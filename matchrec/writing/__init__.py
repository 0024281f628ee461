"""A SASE+ query or a Pattern goes in, SQL text that asks for the same comes out.

    stages    a pattern of stages → the same as one row pattern
    names, forms   what of a plan its text may change
    convert   text, or a Pattern → ReadQuery → Conversion: text, and notes on what is lost

What was written is read again and compared with the plan: what SQL cannot say is an error, and no
part is dropped without a note.
"""
