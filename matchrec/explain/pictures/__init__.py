"""Pictures: railroad diagrams of row patterns and stages, and what figures and HTML have in common.

In a railroad diagram, the straight line from left to right is the preferred path. The condition of
a variable is shown when the pointer is over it.
"""
