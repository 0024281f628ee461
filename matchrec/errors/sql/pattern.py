"""Errors in a row pattern, in navigation among its rows, and in frames of rows.

In messages about NOT, `name` is the variable that NOT forbids.
"""

from __future__ import annotations

from matchrec.errors.kinds import MatchRecognizeParseError
from matchrec.errors.language import current_surface, name_part
from matchrec.errors.message import give_codes, parse_error, plan_error, unsupported
from matchrec.source import Span

stray_character = parse_error("""`{text}` is not allowed in PATTERN
    case ,: write A B for one after the other, PERMUTE(A, B) for any order
    case .: write a variable without a condition in DEFINE for any row, such as X*? for `.*?`;
        conditions on columns belong in DEFINE
    case :: write a parameter only as the bound of a quantifier: A{:n}
    case -: write A B for A and then B, a_b for a name with `_`, {- A -} for an exclusion
    case !: write a variable whose condition in DEFINE is the negation
    case [: write A{1,3} for a number of rows, (A | B) for one of several variables
    case = | < | >: write the condition in DEFINE: DEFINE A AS x > 1
    case & | ~: write A B for A and then B, PERMUTE(A, B) for any order
    case ': write the variable's name in backticks
    case /: write a comment as /* ... */, or as -- ... to the end of the line
    case ->: write A B for A and then B
    write variables, ( ) | * + ? {n,m} ^ $ {- -} or PERMUTE(...)""")
stray_number = parse_error("""`{text}` is not allowed in PATTERN
    start a name with a letter; write a number of repetitions after its variable: A{2}""")


def eaten_quantifier(span: Span, written: str, part: str, braced: str) -> MatchRecognizeParseError:
    """Return the error for B(3,), which a Python f-string makes of B{3,}.

    Args:
        span: the parentheses.
        written: the parentheses with what they hold, `(3,)`.
        part: what they follow, `B`.
        braced: the quantifier that is meant, `{3,}`.
    """
    is_python = current_surface().is_python
    eaten = _eaten_by_f_string if is_python else _quantifier_in_parentheses
    return eaten(span, written=written, part=part, braced=braced)


_eaten_by_f_string = parse_error("""`{written}` in PATTERN is not a quantifier
    code: braces-lost-in-pattern
    note: a Python f-string turns {part}{braced} into {part}{written}
    write {part}{{braced}} in an f-string, or pass a plain string""")
_quantifier_in_parentheses = parse_error(
    "`{written}` in PATTERN is not a quantifier",
    hint="write {part}{braced}",
    code="braces-lost-in-pattern",
)


def doubled_braces(span: Span, written: str) -> MatchRecognizeParseError:
    """Return the error for B{{3,}} outside a Python f-string; `written` is what the braces hold."""
    error = _doubled_braces(span, written=written)
    if current_surface().is_python:
        error.notes = ("only Python f-strings need doubled braces: they turn {{ into {",)
    return error


_doubled_braces = parse_error("""doubled braces are not allowed in PATTERN
    write {{written}}""")


def reserved_word(word: str, where: str, span: Span) -> MatchRecognizeParseError:
    """Return the error for a reserved word, such as AND, as a pattern variable without quotes."""
    note = _NOTES_ON_WORDS.get(word) if where == "PATTERN" else None
    return _reserved_word(span, word=word, where=where, meant=note)


_reserved_word = parse_error("""reserved word `{word}` is not allowed as a pattern variable in
        {where}
    note: {meant:some}
    write `{word}` in backticks if it is the name of a variable""")
# For reserved words in PATTERN: how to write what was probably meant.
_NOTES_ON_WORDS = {
    "AND": "A B means A, then B; conditions belong in DEFINE",
    "OR": "(A | B) means A or B",
    "NULL": "() is a pattern without rows",
    **dict.fromkeys(("THEN", "BY"), "A B means A, then B"),
    "WITHIN": "the length of a match follows the parentheses: PATTERN (A B) WITHIN INTERVAL 1 HOUR",
}
empty_alternative = parse_error("""`|` in PATTERN has nothing on one side
    write () for an alternative without rows, (A | ()), or remove the `|`""")
empty_exclusion = parse_error("""the exclusion in PATTERN is empty
    write {- A -}, or remove the exclusion""")
unclosed_name = parse_error(
    "quoted name in PATTERN is not closed",
    hint="add the second quote",
    code="unclosed-variable-name",
)
comment_after_brace = parse_error("""`--` in `{--` starts a comment in PATTERN
    write {- A -} for an exclusion""")
unclosed_comment = parse_error("""comment in PATTERN is not closed
    add `*/` where the comment ends""")
empty_name = parse_error("""missing name between the quotes in PATTERN
    code: empty-variable-name
    write a name between the quotes, or () for a pattern without rows""")
unclosed_bracket = parse_error("""`{opening}` is not closed in PATTERN
    add `{closing}` where the group ends""")
unopened_bracket = parse_error("""`{closing}` in PATTERN closes nothing
    remove it, or add `{opening}` where the group starts""")
wrong_bracket = parse_error("""`{opening}` in PATTERN is closed by `{found}`
    close it with `{closing}`, and close inner groups before outer ones""")
group_of_regular_expressions = parse_error("""`(?` is not allowed in PATTERN
    write a group as (A | B)""")
nothing_to_repeat = parse_error("""quantifier `{quantifier}` in PATTERN has nothing to repeat
    write it after a variable or a group: A{quantifier}""")
two_quantifiers = parse_error("""one part of PATTERN has two quantifiers, `{first}` and `{second}`
    keep one, or write parentheses: (A{first}){second}""")
bounds_reversed = parse_error("""the quantifier in PATTERN asks for at least {least} and at most
        {most}
    write {{most},{least}}""")
bound_too_large = unsupported("""the quantifier in PATTERN has a bound over {limit:,}
    lower it, or write {n,} for no upper bound""")

malformed_quantifier = parse_error("""the quantifier in PATTERN is malformed
    write {2}, {2,}, {,5} or {2,5}, with whole numbers, or {- A -} for an exclusion""")
parameter_without_name = parse_error("""missing name after `{mark}` in a quantifier in PATTERN
    write {:name}, {:low,:high}, or {?} for a value by its position""")

# `{@n}`, a parameter of BigQuery, is not one of Spark SQL.
foreign_parameter = unsupported("""parameter `@{name}` is not supported in PATTERN
    write :{name}, or pass {option[dialect=bigquery]}""")

# An argument that cannot be a bound of a quantifier, an offset, or a number of rows or matches.
value_is_no_number = plan_error("""parameter `{parameter}`, {what}, is {value}
    code: parameter-not-a-number
    pass a whole number from {least} to 2,147,483,647""")
empty_permutation_part = parse_error("""PERMUTE in PATTERN has an empty part
    write the parts with commas between them: PERMUTE(A, B)""")
nested_too_deep = unsupported("""PATTERN is nested more than {limit} groups deep
    code: pattern-nested-too-deep
    remove groups that hold one part only""")

# The automaton of a row pattern would be too large; `what` names the parts that are too many.
pattern_too_large = plan_error("""{word.pattern} is too large: its automaton has over {limit:,}
        {what}
    {word.smaller}""")
nothing_negated = parse_error("""NOT in PATTERN needs one variable, or one of several
    code: malformed-not
    write NOT B, or NOT (B | C); if a variable is called NOT, write it in backticks""")
negation_repeated = parse_error("""a quantifier is not allowed after NOT in PATTERN
    code: not-with-quantifier
    note: NOT matches no row, so there is nothing to repeat
    write NOT B once; it forbids every such row""")

# `NOT B A` if the rows of a match are consecutive.
negation_at_start = unsupported("""NOT is not supported before the first row of a match in PATTERN
    code: not-at-start
    write NOT after a variable, A NOT B; write what the first row must not be in its condition, and
        read the row before it with PREV""")

# `A (NOT B | NOT C)` at the end.
several_ends = unsupported("""a PATTERN that can end with one of several NOTs is not supported
    code: several-nots-at-end
    end it with one NOT, such as NOT (B | C)""")
preferred_negation = unsupported("""NOT in PATTERN is not supported for preferred matches that may
        skip rows
    code: not-with-preferred-matches
    write ALL MATCHES or NON-OVERLAPPING MATCHES after the event selection""")

# `(A NOT B)+ C` if a match may skip rows.
nested_negation = unsupported("""NOT inside a group, an exclusion or PERMUTE is not supported for
        matches that may skip rows
    code: not-inside-group
    write it between two parts of the whole pattern, A NOT B C""")

# `A NOT B C?` if a match may skip rows. `side` is before or after.
negation_beside_optional = unsupported("""NOT is not supported if all variables {side} it in PATTERN
        are optional and matches may skip rows
    code: not-beside-optional
    write a variable {side} it that has a row in every match""")

# `A NOT B` without WITHIN if a match may skip rows. `end` is beginning or end.
negation_without_window = plan_error("""missing WITHIN for NOT {name} at the {end} of PATTERN
    code: not-without-within
    note: rows may be skipped, so NOT forbids such a row in the whole window of the match
    add WITHIN after PATTERN (...), such as WITHIN INTERVAL 1 HOUR""")

# `A NOT B C A` and `A NOT B C B` if a match may skip rows.
variable_beside_negation = unsupported("""`{name}` {places} is not supported for matches that may
        skip rows
    code: variable-reused-beside-not
    write another variable with the same condition in one of the two places""")
negated_variable = plan_error("""`{name}` in {clause} has no rows, because PATTERN has it under NOT
    code: variable-under-not
    name a variable that has rows""")
reads_forbidden_row = unsupported("""{what} is not supported in the condition of `{name}`, which is
        under NOT
    code: reads-row-under-not
    {hint}""")
no_column = plan_error("""{function} in {clause} reads no column
    code: navigation-without-column
    write {function}(A.x) or {function}(CLASSIFIER())""")
wrong_nesting = plan_error("""{inner} is not allowed in {outer} in {clause}
    code: wrong-navigation-nesting
    note: only PREV and NEXT may contain another navigation, which is FIRST or LAST
    write PREV(FIRST(A.x, 2), 3), with the whole expression in the inner one""")
bad_offset = plan_error("""offset of {function} in {clause} is `{written}`, not a constant whole
        number of rows
    code: malformed-offset
    write a number from 0 on; left out, it is {default}""")
offset_too_large = unsupported("""offset of {function} in {clause} is over {limit:,}
    write a number of rows that a partition can have""")

# A negative offset; `rows` is the number of rows in the opposite direction.
negative_offset = plan_error("""offset of {function} in {clause} is `{written}`; the least offset
        is 0
    case NEXT: write PREV(x, {rows}) to go the other way
    case FIRST: write LAST(x, {rows}) to go the other way
    case LAST: write FIRST(x, {rows}) to go the other way
    write NEXT(x, {rows}) to go the other way""")
wrong_number_of_arguments = plan_error("""{function} in {clause} takes {expected}, not {given}
    case PREV | NEXT | FIRST | LAST: write {function}(A.x) or {function}(A.x, 2)
    case CLASSIFIER | MATCHED_ROWS: write {function}() or {function}(A)
    case MATCH_NUMBER | MATCH_ROW_NUMBER: write {function}()
    case COUNT: write count(*) for all rows, count(A.*) for the rows of A, or pass
        {option[dialect=trino]}""")


def modifier_of_navigation(
    function: str, modifier: str, clause: str, span: Span
) -> MatchRecognizeParseError:
    """Return the error for FILTER, IGNORE NULLS or another modifier of a navigation.

    Args:
        function: the navigation, such as FIRST.
        modifier: the first word of the modifier, such as IGNORE.
        clause: the clause of the expression.
        span: the modifier in the text of the query.
    """
    if modifier in ("IGNORE", "RESPECT"):
        modifier = f"{modifier} NULLS"
    cure = _CURES_OF_MODIFIERS.get((function, modifier), f"remove {modifier}")
    hint = cure.format(define=name_part("DEFINE"))
    argument = "a variable" if function == "CLASSIFIER" else "an offset"
    return _modifier_of_navigation(
        span, modifier=modifier, function=function, clause=clause, taken=argument, cure=hint
    )


_modifier_of_navigation = parse_error("""{modifier} is not allowed with {function} in {clause}
    code: navigation-modifier
    note: {function} reads one row of the match and takes {taken} only
    {cure}""")

# For a navigation and a modifier: what to write instead.
_CURES_OF_MODIFIERS = {
    ("FIRST", "FILTER"): "test the row in {define}, or write min_by(A.x, order) FILTER (WHERE ...)",
    ("LAST", "FILTER"): "test the row in {define}, or write max_by(A.x, order) FILTER (WHERE ...)",
    ("FIRST", "IGNORE NULLS"): "write min_by(A.x, order) FILTER (WHERE A.x IS NOT NULL)",
    ("LAST", "IGNORE NULLS"): "write max_by(A.x, order) FILTER (WHERE A.x IS NOT NULL)",
}

# OVER that is not exactly a frame of rows.
no_frame = unsupported("""OVER without a frame of rows is not supported in {part[DEFINE]}
    code: over-without-frame
    note: OVER takes only a frame; the rows are those of the clause's PARTITION BY and ORDER BY
    condition: MATCH_RECOGNIZE_UNSUPPORTED_WINDOW_FUNCTION
    write OVER ({frame})""")
frame_without_rows = plan_error("""this frame ends before it starts
    write OVER (ROWS BETWEEN 2 PRECEDING AND CURRENT ROW), the earlier row first""")
frame_of_variable = unsupported("""OVER after an aggregate over the rows of `{name}` is not
        supported
    note: a frame has rows of the partition, whichever variables they are mapped to
    remove `{name}.`, or remove OVER""")
distinct_with_frame = unsupported("""DISTINCT in an aggregate with OVER is not supported
    write size(collect_set(x) OVER (...)) for the count of distinct values""")

give_codes(globals())
