"""The clause itself: its tokens go in, a `MatchRecognize` comes out, in which no name is looked up.

`sections` finds where each part starts and ends, `grammar` reads the parts, `nodes` is what they
become. Layout and comments are dropped.
"""
