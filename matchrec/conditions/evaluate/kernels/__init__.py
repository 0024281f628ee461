"""Compiled code that computes conditions: the register machine, and mathematics as Spark has it."""
