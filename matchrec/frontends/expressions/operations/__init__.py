"""The operations of an expression: tokens and references go in, operations come out."""
