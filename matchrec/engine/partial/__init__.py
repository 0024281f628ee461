"""Runs that come out beside the matches: live where their window, or their partition, ends.

Goes in: a task, its partitions, and the matches that an algorithm has found. Comes out: the matches
and, of starting rows that begin none, the most preferred run that is live at the end.
"""
