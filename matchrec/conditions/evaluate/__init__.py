"""Compile conditions that depend on the run to steps and code over registers.

The computation state of a run is a vector of registers. They hold only what later conditions read:
positions of rows, variables of rows, counts, sums and extremes. When a row is mapped to a variable,
steps update the registers; then the variable's code decides whether the condition holds.
`B.price > LAST(A.price)` is one register and three instructions:

    mapped to A    SET_ROW r0
    code of B      READ price, current row; READ price, r0; COMPARE_FLOAT >

Conditions over rows at a fixed distance do not depend on the run: `vectors` evaluates them for all
rows at once.

Source: SASE+, "Computation state": the value vector V and its masks M.
"""
