"""A regular expression of Java goes in, the places where it is found in a text come out.

The time is bounded by the size of the expression times that of the text, whatever they are, where
Java's and Python's own searches may take years. What is taken means what it means in Java; all else
is refused by name.

    syntax     the text of an expression becomes a tree
    program    the tree becomes instructions
    search     finds the program in texts, with compiled code
"""
