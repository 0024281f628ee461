"""A row pattern or stages, and the conditions of their variables, go in; SVG and HTML come out.

In a railroad diagram the straight way from left to right is the preferred one, and a variable shows
its condition under the pointer.
"""
