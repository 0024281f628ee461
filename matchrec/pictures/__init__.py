"""A row pattern, or a pattern of stages, as a railroad diagram in SVG.

A tree and the conditions of its variables go in; SVG comes out, in which the straight way from
left to right is the preferred one, and a variable shows its condition under the pointer.
"""
