"""A SASE+ query or a Pattern goes in, SQL text that asks for the same comes out.

What was written is read again and compared with the plan: what SQL cannot say is an error, and no
part is dropped without a note.
"""
