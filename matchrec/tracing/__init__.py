"""A task and one partition → how the search went, trial by trial, for people to read.

What goes in is what an engine is asked; what comes out are attempts, one for each starting row, and
text, a table and a picture of them. Speed is dropped: one run at a time, and all is written down.
"""
