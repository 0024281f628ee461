"""What a plan asks for as text of another language: SQL, SASE+ or calls of a Pattern.

    read     text, or a Pattern → Reading: a plan, the text and the places of its parts
    written  Reading → Conversion: text, and notes on what is lost

Each language writes the plan that all of them are read into, so n readers and n writers are enough.
What was written is read again and compared with the plan: what a language cannot say is an error.
"""
