"""Conditions that depend on the run go in, steps and code over registers come out.

The computation state of a run is a vector of registers, just those values that later conditions
read: positions of rows, variables of rows, counts, sums and extremes. When a row is mapped to a
variable, steps bring the registers up to date; then the variable's code says whether it may be.
`B.price > LAST(A.price)` is one register and three instructions:

    mapped to A    SET_ROW r0
    code of B      READ price, current row; READ price, r0; COMPARE_FLOAT >

Conditions over rows at a fixed distance depend on no run: `vectors` evaluates them for all rows.

Source: SASE+, "Computation state": the value vector V and its masks M.
"""
