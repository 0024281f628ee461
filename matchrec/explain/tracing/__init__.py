"""Record how the search of one partition went, trial by trial, and show it to people.

    search           the search that records its trials; an attempt has one starting row
    trace            which attempts a trace has
    condition_parts  the parts of a condition, whose values are shown
    explainer        the values of these parts in each trial
    story            the text of a trace, from which all forms are made
    shown_lines      the lines of a long attempt that are shown
    story_text       the story as text
    story_picture    the story as a picture
    why              `Why`, what `Query.why` returns

A trace is slow: it follows one run at a time and writes everything down.
"""
