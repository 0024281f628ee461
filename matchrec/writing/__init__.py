"""What SASE+ and a Pattern ask for as text of SQL.

    read     text, or a Pattern → ReadQuery: a plan, the text and the place of its row pattern
    written  ReadQuery → Conversion: text, and notes on what is lost

What was written is read again and compared with the plan: what SQL cannot say is an error.
"""
