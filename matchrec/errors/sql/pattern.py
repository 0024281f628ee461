"""Errors in a row pattern, of NOT in it, of navigation among its rows, and of frames of rows.

`name` is the variable that NOT forbids, or the function that navigates.
"""

from __future__ import annotations

from matchrec.errors.kinds import MatchRecognizeParseError
from matchrec.errors.language import part
from matchrec.errors.message import give_codes, parse_error, plan_error, unsupported
from matchrec.source import Span

stray_character = parse_error("""unexpected `{text}` in PATTERN
    case ,: write A B for one after the other, PERMUTE(A, B) for any order
    case .: write a variable without a condition in DEFINE for any row, such as X*? for `.*?`;
        conditions on columns belong in DEFINE
    case :: a parameter can be the bound of a quantifier only: A{:n}
    case -: variables in a row are written with a space, A B, a name with `_`, a_b, and an exclusion
        {- A -}
    case !: write a variable whose condition in DEFINE is the negation
    case [: so many rows are written in braces, A{1,3}, one of several with |: (A | B)
    case = | < | >: conditions belong in DEFINE: DEFINE A AS x > 1
    case & | ~: variables in a row are written with a space: A B
    case ': quote a variable's name with backticks
    case /: a comment is written /* ... */ or -- ... to the end of the line
    PATTERN takes variables, ( ) | * + ? {n,m} ^ $ {- -} and PERMUTE(...)""")
stray_number = parse_error("""unexpected `{text}` in PATTERN
    a name starts with a letter; a number of repetitions follows its variable: A{2}""")


# B(3,), which a Python f-string makes of B{3,}; `written` is `(3,)`.
eaten_quantifier = parse_error("""`{written}` in PATTERN is not a quantifier
    code: braces-lost-in-pattern
    note: a Python f-string turns {part}{braced} into {part}{written}
    write {part}{{braced}} in an f-string, or pass a plain string""")

# B{{3,}} in a plain string; `written` is what the braces hold.
doubled_braces = parse_error("""doubled braces in PATTERN
    note: only a Python f-string needs them, which turns {{ into {
    write {{written}}""")


def reserved_word(word: str, where: str, span: Span) -> MatchRecognizeParseError:
    """NOT, AND, NULL as a pattern variable, not in quotes."""
    meant = _MEANT.get(word) if where == "PATTERN" else None
    return _reserved_word(span, word=word, where=where, meant=meant)


_reserved_word = parse_error("""reserved word `{word}` as a pattern variable in {where}
    note: {meant:some}
    write `{word}` in backticks, if a variable is called so""")
_MEANT = {
    "AND": "variables in a row are written with a space, A B; conditions belong in DEFINE",
    "OR": "one of several is written with |: (A | B)",
    "NULL": "a pattern without rows is written ()",
    **dict.fromkeys(("THEN", "BY"), "variables in a row are written with a space, A B"),
    "WITHIN": "the length of a match follows the parentheses: PATTERN (A B) WITHIN INTERVAL 1 HOUR",
}
empty_alternative = parse_error("""`|` in PATTERN has nothing on one side
    write () for an alternative without rows, (A | ()), or remove the `|`""")
empty_exclusion = parse_error("""exclusion with nothing in it in PATTERN
    write {- A -}, or leave the exclusion out""")
unclosed_name = parse_error(
    "quoted name in PATTERN is not closed",
    hint="add the second quote",
    code="unclosed-variable-name",
)
comment_after_brace = parse_error("""`{--` in PATTERN: `--` starts a comment
    write {- A -} for an exclusion""")
unclosed_comment = parse_error("""comment in PATTERN is not closed
    add `*/` where the comment ends""")
empty_name = parse_error("""pattern variable without a name in PATTERN
    code: empty-variable-name
    write a name between the quotes, or () for a pattern without rows""")
unclosed_bracket = parse_error("""`{opening}` is not closed in PATTERN
    add `{closing}` where the group ends""")
unopened_bracket = parse_error("""`{closing}` in PATTERN closes nothing
    remove it, or add `{opening}` where the group starts""")
wrong_bracket = parse_error("""`{opening}` in PATTERN is closed by `{found}`
    close it with `{closing}`, and close inner groups before outer ones""")
group_of_regular_expressions = parse_error("""`(?` of regular expressions in PATTERN
    write a group as (A | B)""")
nothing_to_repeat = parse_error("""quantifier `{quantifier}` in PATTERN has nothing to repeat
    write it after a variable or a group: A{quantifier}""")
two_quantifiers = parse_error("""two quantifiers, `{first}` and `{second}`, for one part of PATTERN
    keep one, or write parentheses: (A{first}){second}""")
bounds_reversed = parse_error("""quantifier in PATTERN asks for at least {least} and at most {most}
    write {{most},{least}}""")
bound_too_large = unsupported("""quantifier in PATTERN has a bound over {limit:,}
    lower it, or write {n,} for no upper bound""")

malformed_quantifier = parse_error("""malformed quantifier in PATTERN
    write {2}, {2,}, {,5} or {2,5}, with whole numbers, or {- A -} for an exclusion""")
parameter_without_name = parse_error("""`{mark}` without a name in a quantifier in PATTERN
    write {:name}, {:low,:high}, or {?} for a value by its place""")

# `{@n}`, BigQuery's parameter, in Spark SQL.
foreign_parameter = unsupported("""parameter `@{name}` in PATTERN is of another SQL
    write :{name}, or pass {option[dialect=bigquery]}""")

# An argument that cannot be a bound of a quantifier, an offset, or a number of rows or matches.
value_is_no_number = plan_error("""parameter `{parameter}`, {what}, is
        {value}
    code: parameter-not-a-number
    pass a whole number from {least} on, smaller than 2 to the power of 31""")
empty_permutation_part = parse_error("""PERMUTE in PATTERN has a part with nothing in it
    write the parts with commas between them: PERMUTE(A, B)""")
nested_too_deep = unsupported("""PATTERN is nested more than {limit} groups deep
    code: pattern-nested-too-deep
    remove groups that hold one part only""")

# A row pattern whose automaton would outgrow a limit; `what` is what there are too many of.
pattern_too_large = plan_error("""{word.pattern} is too large: its automaton has over {limit:,}
        {what}
    {word.smaller}""")
nothing_negated = parse_error("""NOT in PATTERN is about one row: a variable, or one of several
    code: malformed-not
    write NOT B, or NOT (B | C); if a variable is called NOT, write it in backticks""")
negation_repeated = parse_error("""NOT in PATTERN matches no row, so it has no quantifier
    code: not-with-quantifier
    write NOT B once; it forbids each such row by itself""")

# `NOT B A` where rows follow each other.
negation_at_start = unsupported("""NOT in PATTERN with no row of the match before it
    code: not-at-start
    write it after a variable, A NOT B; what the first row must not be belongs in its condition, and
        the row before it is read with PREV""")

# `A (NOT B | NOT C)` at the end.
several_ends = unsupported("""PATTERN may end with one NOT or with another
    code: several-nots-at-end
    end it with one NOT, such as NOT (B | C)""")
preferred_negation = unsupported("""NOT in PATTERN where rows are skipped is tested on all matches,
        not on preferred ones
    code: not-with-preferred-matches
    write ALL MATCHES or NON-OVERLAPPING MATCHES after the event selection""")

# `(A NOT B)+ C` where rows are skipped.
nested_negation = unsupported("""NOT inside a group, an exclusion or PERMUTE, where rows are skipped
    code: not-inside-group
    write it between two parts of the whole pattern, A NOT B C""")

# `A NOT B C?` where rows are skipped. side: before or after.
negation_beside_optional = unsupported("""NOT in PATTERN where all that stands {side} it may have no
        rows, and rows are skipped
    code: not-beside-optional
    write a variable {side} it that has a row in every match""")

# `A NOT B` where rows are skipped, without WITHIN. end: beginning or end.
negation_without_window = plan_error("""NOT {name} at the {end} of PATTERN has no WITHIN, and rows
        are skipped
    code: not-without-within
    add WITHIN: such a row must not come in the window of the match""")

# `A NOT B C A`, and `A NOT B C B`, where rows are skipped.
variable_beside_negation = unsupported("""`{name}` stands {places}, where rows are skipped
    code: variable-reused-beside-not
    use another variable with the condition of `{name}` in one of the places""")
negated_variable = plan_error("""`{name}` in {clause} stands under NOT in PATTERN: no row is mapped
        to it
    code: variable-under-not
    name a variable that has rows""")
reads_forbidden_row = unsupported("""{what} in the condition of `{name}`, which stands under NOT
    code: reads-row-under-not
    {hint}""")
no_column = plan_error("""{function} in {clause} reads no column
    code: navigation-without-column
    write {function}(A.x) or {function}(CLASSIFIER())""")
wrong_nesting = plan_error("""{inner} cannot stand in {outer} in {clause}
    code: wrong-navigation-nesting
    note: only PREV and NEXT may hold another navigation: FIRST or LAST, and nothing else
    write PREV(FIRST(A.x, 2), 3), with the whole expression in the inner one""")
bad_offset = plan_error("""offset of {function} in {clause} is `{written}`, not a constant whole
        number of rows
    code: malformed-offset
    write a number from 0 on; left out, it is {default}""")
offset_too_large = unsupported("""offset of {function} in {clause} is over {limit:,}
    write a number of rows that a partition can have""")

# An offset below 0: so many `rows` the other way.
negative_offset = plan_error("""offset of {function} in {clause} is `{written}`; the least offset
        is 0
    case NEXT: write PREV(x, {rows}) to go the other way
    case FIRST: write LAST(x, {rows}) to go the other way
    case LAST: write FIRST(x, {rows}) to go the other way
    write NEXT(x, {rows}) to go the other way""")
wrong_number_of_arguments = plan_error("""{function} in {clause} takes {expected}, {given} given
    case PREV | NEXT | FIRST | LAST: write {function}(A.x) or {function}(A.x, 2)
    case CLASSIFIER | MATCHED_ROWS: write {function}() or {function}(A)
    case MATCH_NUMBER | MATCH_ROW_NUMBER: write {function}()
    case COUNT: write count(*) for all rows, count(A.*) for the rows of A, or pass
        {option[dialect=trino]}""")


def modifier_of_navigation(
    function: str, modifier: str, clause: str, span: Span
) -> MatchRecognizeParseError:
    modifier = f"{modifier} NULLS" if modifier in ("IGNORE", "RESPECT") else modifier
    hint = _MODIFIED.get((function, modifier), f"remove {modifier}").format(define=part("DEFINE"))
    taken = "a variable" if function == "CLASSIFIER" else "an offset"
    return _modifier_of_navigation(
        span, modifier=modifier, function=function, clause=clause, taken=taken, cure=hint
    )


_modifier_of_navigation = parse_error("""{modifier} with {function} in {clause}
    code: navigation-modifier
    note: {function} reads one row of the match and takes {taken} only
    {cure}""")

_MODIFIED = {
    ("FIRST", "FILTER"): "test the row in {define}, or write min_by(A.x, order) FILTER (WHERE ...)",
    ("LAST", "FILTER"): "test the row in {define}, or write max_by(A.x, order) FILTER (WHERE ...)",
    ("FIRST", "IGNORE NULLS"): "write min_by(A.x, order) FILTER (WHERE A.x IS NOT NULL)",
    ("LAST", "IGNORE NULLS"): "write max_by(A.x, order) FILTER (WHERE A.x IS NOT NULL)",
}

# OVER without a frame of rows, or with more than that.
no_frame = unsupported("""OVER in {part[DEFINE]} without a frame of rows, and nothing else, is not
        supported
    code: over-without-frame
    note: the rows are those of the clause's PARTITION BY and ORDER BY
    condition: MATCH_RECOGNIZE_UNSUPPORTED_WINDOW_FUNCTION
    write OVER ({frame})""")
frame_without_rows = plan_error("""this frame ends before it starts
    write OVER (ROWS BETWEEN 2 PRECEDING AND CURRENT ROW), the earlier row first""")
frame_of_variable = unsupported("""OVER after an aggregate over the rows of `{name}` is not
        supported
    note: a frame is made of the rows of the partition, whatever is mapped
    remove `{name}.`, or remove OVER""")
distinct_with_frame = unsupported("""DISTINCT in an aggregate with OVER is not supported
    write size(collect_set(x) OVER (...)) for the count of distinct values""")

give_codes(globals())
