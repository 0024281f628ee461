"""Record how the search of one partition went, trial by trial, and show it to people.

There is one attempt for each starting row, shown as text, as a table and as a picture. A trace is
slow: it follows one run at a time and writes everything down.
"""
