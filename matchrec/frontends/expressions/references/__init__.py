"""What reads rows of a match: calls and columns of an expression go in, references come out."""
