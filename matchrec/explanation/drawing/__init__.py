"""The program of a clause as text and as a picture: a counted loop stands in both once.

A program and the formulas of its edges go in; lines or SVG come out.

    repeats     the states that stand in a row several times     layout      where states are drawn
    lines       the program as text                              paths       lines between them
    automaton   the program as SVG
"""
