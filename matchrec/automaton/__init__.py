"""Compile a row pattern to an NFA^b program, and fold it to the choices that a search has.

`A B+?` becomes the program on the left, and the folding on the right:

    0 start                  0
        begin A -> 1             A -> 1
    1                        1
        begin B -> 2             B -> 2
    2                        2
        proceed -> 3             accept
        take B -> 2
    3 final

`compile.compile_pattern` takes these steps for a plan:

    program             the program of a row pattern: states and edges
    compile_program     compiles the row pattern of a query
    compile_stages      compiles stages, which SASE+ text and the Pattern API describe
    folding             the choices of each state, without proceed edges
    fold_program        folds the program of a query
    fold_stages         folds the program of stages
    compiled_pattern    the result: program, folding, and facts about them

These modules do a part of a step:

    remaining_steps     keys of the states of stages: remaining steps, constraints on the next rows
    explore_states      finds and numbers the states that can be reached
    facts               facts about the states of a folding that hold for any rows
    follow_sets         the variables that begin and end matches, and that follow each other
    ambiguity           whether runs can take the same rows in several ways
    run_endings         the kinds of output of a run whose window or partition ends
    dot                 draws a program

Other modules change a folding for a purpose: `negation` replaces NOTs by tests. `determinise` makes
a folding that finds each match in one way only. `occurrences` makes a folding whose choices say
which occurrence of a variable a row takes, for which `sibling_states` copies states.
"""
