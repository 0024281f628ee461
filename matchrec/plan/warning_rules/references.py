"""Facts about references and texts in conditions, for several rules."""

from __future__ import annotations

import re
from dataclasses import replace

from matchrec.errors.run.origins import read_users_text
from matchrec.errors.wording import join_lines
from matchrec.plan import pattern as patterns
from matchrec.plan.change_expressions import map_column_references
from matchrec.plan.clauses import Definition
from matchrec.plan.expression import ColumnReference, Reference, Scalar, Term, render
from matchrec.plan.match_plan import MatchPlan
from matchrec.plan.show import show_scalar

# Each comparison, by what it is with its operands exchanged.
MIRRORED = {"=": "=", "<=>": "<=>", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def reads_nearby_row(
    reference: ColumnReference, definition: Definition, plan: MatchPlan, *, offset: int
) -> bool:
    """Return whether a reference always reads the row at an offset from the row that is tested.

    Args:
        reference: a reference in the condition.
        definition: the condition, with the variable to which it belongs.
        plan: the plan that has the condition.
        offset: the offset in the partition: 0 for the tested row, -1 for the row before it.
    """
    navigation = reference.navigation
    if not navigation.is_last or navigation.physical_offset != offset:
        return False
    # The test of a stage, or a match condition, reads the tested row only through its own name.
    if plan.staging is not None or definition.variable == plan.match_condition:
        return navigation.variable == definition.variable
    return plan.ids[definition.variable] in plan.members[navigation.variable]


def show_plain_argument(reference: ColumnReference) -> str:
    """Return the argument of a reference, without backticks that the name does not need."""
    if len(reference.column_path) != 1:
        return reference.argument
    name = reference.column_path[0]
    return name if name.isascii() and name.isidentifier() else reference.argument


def use_plain_argument(reference: ColumnReference) -> ColumnReference:
    """Return the reference with the argument that `show_plain_argument` writes."""
    return replace(reference, argument=show_plain_argument(reference))


# A string literal whose only escapes are quotes: `'it''s'`, `'it\'s'`, `"it's"`.
_STRING_LITERAL = re.compile(
    r"""' ([^'\\] | '' | \\')* ' | " ([^"\\] | "" | \\")* " """, re.VERBOSE | re.DOTALL
)


def find_string_literal(operand: Scalar) -> str | None:
    """Return a literal text with its quotes; None for any other operand.

    The text can contain quotes. Whether a doubled quote is a quote or nothing depends on a setting
    of Spark. The result is also None for a text with other escapes.
    """
    if operand.references:
        return None
    text = render(operand, str).strip()
    return text if _STRING_LITERAL.fullmatch(text) else None


def find_literal_text(operand: Scalar) -> str | None:
    """Return a literal text as `find_string_literal` does, if its meaning depends on no setting.

    The result is also None for a text that contains its own quotes or escapes.
    """
    literal = find_string_literal(operand)
    if literal is None:
        return None
    inner_text = literal[1:-1]
    return None if literal[0] in inner_text or "\\" in inner_text else literal


def find_only_reference(scalar: Scalar) -> Reference | None:
    """Return the reference that is the whole expression; None for any other expression."""
    if not isinstance(scalar, Term) or len(scalar.pieces) != 1:
        return None
    (piece,) = scalar.pieces
    return None if isinstance(piece, str) else piece


def show_users_operand(operand: Scalar, example: str | None = None) -> str:
    """Return an operand as the user wrote it.

    Several blanks become one.

    Args:
        operand: an operand of a condition.
        example: what to return if the user's text is not known, because the operand's SQL is not
            the user's. None to return this SQL then.
    """
    users_text = read_users_text(operand.span)
    if users_text:
        return " ".join(users_text.split())
    return example or show_scalar(map_column_references(operand, use_plain_argument))


def show_users_pattern(pattern: patterns.RowPattern) -> str:
    """Return a part of PATTERN as the user wrote it."""
    users_text = read_users_text(pattern.span) if pattern.span is not None else None
    return join_lines(users_text) if users_text else patterns.show_pattern(pattern)
