"""A task and one partition go in; how the search went comes out, trial by trial, for people.

There is an attempt for each starting row, as text, a table and a picture. Speed is dropped: one run
at a time, and all is written down.
"""
