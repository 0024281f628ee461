"""Errors in the text of a row pattern."""

from matchrec.errors.arguments import shown
from matchrec.errors.kinds import (
    MatchRecognizeParseError,
    MatchRecognizePlanError,
    MatchRecognizeUnsupportedError,
)
from matchrec.errors.language import current
from matchrec.source import Span


def stray_character(character: str, span: Span) -> MatchRecognizeParseError:
    """A character that no row pattern holds."""
    hints = {
        ".": "write a variable without a condition in DEFINE for any row, such as X*? for `.*?`; "
        "conditions on columns belong in DEFINE",
        ":": "a parameter can be the bound of a quantifier only: A{:n}",
        "-": "variables in a row are written with a space, A B, and an exclusion {- A -}",
        "~": "variables in a row are written with a space: A B",
        "!": "write a variable whose condition in DEFINE is the negation",
        "[": "one of several is written with |: (A | B)",
        "=": "conditions belong in DEFINE: DEFINE A AS x > 1",
        ">": "conditions belong in DEFINE: DEFINE A AS x > 1",
        "<": "conditions belong in DEFINE: DEFINE A AS x > 1",
        "&": "variables in a row are written with a space: A B",
        "2": "a name starts with a letter; a number of repetitions follows its variable: A{2}",
        "'": "quote a variable's name with backticks",
        "/": "a comment is written /* ... */ or -- ... to the end of the line",
    }
    return MatchRecognizeParseError(
        f"unexpected `{character}` in PATTERN",
        span,
        hint=hints.get(
            "2" if character.isdigit() else character,
            "PATTERN takes variables, ( ) | * + ? {n,m} ^ $ {- -} and PERMUTE(...)",
        ),
    )


def reserved_word(word: str, where: str, span: Span) -> MatchRecognizeParseError:
    """NOT, AND, NULL as a pattern variable, not in quotes."""
    meant = _MEANT.get(word) if where == "PATTERN" else None
    return MatchRecognizeParseError(
        f"reserved word `{word}` as a pattern variable in {where}",
        span,
        notes=() if meant is None else (meant,),
        hint=f"write `{word}` in backticks, if a variable is called so",
    )


_MEANT = {
    "AND": "variables in a row are written with a space, A B; conditions belong in DEFINE",
    "OR": "one of several is written with |: (A | B)",
    "NULL": "a pattern without rows is written ()",
}


def empty_alternative(span: Span) -> MatchRecognizeParseError:
    """`(A | )`."""
    return MatchRecognizeParseError(
        "`|` in PATTERN has nothing on one side",
        span,
        hint="write () for an alternative without rows, (A | ()), or remove the `|`",
    )


def empty_exclusion(span: Span) -> MatchRecognizeParseError:
    """`{- -}`."""
    return MatchRecognizeParseError(
        "exclusion with nothing in it in PATTERN",
        span,
        hint="write {- A -}, or leave the exclusion out",
    )


def unclosed_name(span: Span) -> MatchRecognizeParseError:
    """A quoted name without its second quote."""
    return MatchRecognizeParseError(
        "quoted name in PATTERN is not closed", span, hint="add the second quote"
    )


def comment_after_brace(span: Span) -> MatchRecognizeParseError:
    """`{--`, which SQL reads as a brace and a comment."""
    return MatchRecognizeParseError(
        "`{--` in PATTERN: `--` starts a comment",
        span,
        hint="write {- A -} for an exclusion",
    )


def unclosed_comment(span: Span) -> MatchRecognizeParseError:
    """`/*` without `*/`."""
    return MatchRecognizeParseError(
        "comment in PATTERN is not closed", span, hint="add `*/` where the comment ends"
    )


def empty_name(span: Span) -> MatchRecognizeParseError:
    """A quoted name with nothing between the quotes."""
    return MatchRecognizeParseError(
        "pattern variable without a name in PATTERN",
        span,
        hint="write a name between the quotes, or () for a pattern without rows",
    )


def unclosed_bracket(opening: str, closing: str, span: Span) -> MatchRecognizeParseError:
    """`(`, `{-` or `PERMUTE(` that is never closed."""
    return MatchRecognizeParseError(
        f"`{opening}` is not closed in PATTERN", span, hint=f"add `{closing}` where the group ends"
    )


def unopened_bracket(opening: str, closing: str, span: Span) -> MatchRecognizeParseError:
    """`)` or `-}` that closes nothing."""
    return MatchRecognizeParseError(
        f"`{closing}` in PATTERN closes nothing",
        span,
        hint=f"remove it, or add `{opening}` where the group starts",
    )


def wrong_bracket(opening: Span, closing: Span, pair: str, found: str) -> MatchRecognizeParseError:
    """A group that is closed by the bracket of another kind; `pair` is e.g. `{- -}`."""
    start, end = pair.split()
    return MatchRecognizeParseError(
        f"`{start}` in PATTERN is closed by `{found}`",
        opening,
        closing,
        hint=f"close it with `{end}`, and close inner groups before outer ones",
    )


def group_of_regular_expressions(span: Span) -> MatchRecognizeParseError:
    """`(?:A|B)`."""
    return MatchRecognizeParseError(
        "`(?` of regular expressions in PATTERN", span, hint="write a group as (A | B)"
    )


def nothing_to_repeat(quantifier: str, span: Span) -> MatchRecognizeParseError:
    """A quantifier with nothing before it."""
    return MatchRecognizeParseError(
        f"quantifier `{quantifier}` in PATTERN has nothing to repeat",
        span,
        hint=f"write it after a variable or a group: A{quantifier}",
    )


def two_quantifiers(first: str, second: str, span: Span) -> MatchRecognizeParseError:
    """`A**`: a quantifier directly after another."""
    return MatchRecognizeParseError(
        f"two quantifiers, `{first}` and `{second}`, for one part of PATTERN",
        span,
        hint=f"keep one, or write parentheses: (A{first}){second}",
    )


def bounds_reversed(least: int, most: int, span: Span | None) -> MatchRecognizeParseError:
    """`{2,1}`."""
    return MatchRecognizeParseError(
        f"quantifier in PATTERN asks for at least {least} and at most {most}",
        span,
        hint=f"write {{{most},{least}}}",
    )


def bound_is_zero(span: Span | None) -> MatchRecognizeParseError:
    """`{0}`, `{,0}`."""
    return MatchRecognizeParseError(
        "quantifier in PATTERN allows at most 0 repetitions; the least upper bound is 1",
        span,
        hint="write () for a pattern without rows, or leave the part out",
    )


def bound_too_large(limit: int, span: Span | None) -> MatchRecognizeUnsupportedError:
    """`{99999999999}`."""
    return MatchRecognizeUnsupportedError(
        f"quantifier in PATTERN has a bound over {limit:,}",
        span,
        hint="lower it, or write {n,} for no upper bound",
    )


def malformed_quantifier(span: Span) -> MatchRecognizeParseError:
    """Braces that do not hold one or two numbers."""
    return MatchRecognizeParseError(
        "malformed quantifier in PATTERN",
        span,
        hint="write {n}, {n,}, {,m} or {n,m} with whole numbers, or {- A -} for an exclusion",
    )


def parameter_without_name(mark: str, span: Span) -> MatchRecognizeParseError:
    """`{:}`."""
    return MatchRecognizeParseError(
        f"`{mark}` without a name in a quantifier in PATTERN",
        span,
        hint="write {:name}, {:low,:high}, or {?} for a value by its place",
    )


def foreign_parameter(name: str, span: Span | None) -> MatchRecognizeUnsupportedError:
    """`{@n}`, BigQuery's parameter, in Spark SQL."""
    return MatchRecognizeUnsupportedError(
        f"parameter `@{name}` in PATTERN is of another SQL",
        span,
        hint=f'write :{name}, or pass dialect="bigquery"',
    )


def value_is_no_bound(parameter: str, value: object, span: Span | None) -> MatchRecognizePlanError:
    """An argument that cannot be the bound of a quantifier."""
    text = "NULL" if value is None else shown(value)
    return MatchRecognizePlanError(
        f"parameter `{parameter}`, the bound of a quantifier in PATTERN, is {text}",
        span,
        hint="pass a whole number from 0 on; for no bound leave it out, as in {2,}",
    )


def comma_outside_permute(span: Span) -> MatchRecognizeParseError:
    """A comma between variables."""
    return MatchRecognizeParseError(
        "unexpected `,` in PATTERN",
        span,
        hint="write A B for one after the other, PERMUTE(A, B) for any order",
    )


def empty_permutation_part(span: Span) -> MatchRecognizeParseError:
    """`PERMUTE()` or `PERMUTE(A, )`."""
    return MatchRecognizeParseError(
        "PERMUTE in PATTERN has a part with nothing in it",
        span,
        hint="write the parts with commas between them: PERMUTE(A, B)",
    )


def nested_too_deep(limit: int, span: Span) -> MatchRecognizeUnsupportedError:
    """Groups in groups beyond the limit."""
    return MatchRecognizeUnsupportedError(
        f"PATTERN is nested more than {limit} groups deep",
        span,
        hint="remove groups that hold one part only",
    )


def pattern_too_large(what: str, limit: int, span: Span | None) -> MatchRecognizePlanError:
    """A row pattern whose automaton would outgrow a limit; `what` is what there are too many of."""
    return MatchRecognizePlanError(
        f"{current().pattern} is too large: its automaton has over {limit:,} {what}",
        span,
        hint="lower the bounds of nested {n,m}, or the number of parts of PERMUTE",
    )
