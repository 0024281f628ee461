"""The context of a rule: the products, the clause and part around an expression, and its columns.

What a rule finds out, in addition to the new expression, is collected in `RuleFindings`: notes on
what differs, and columns whose types would decide what an expression means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeVar, get_type_hints

from sqlglot import exp

from matchrec.dialects.edits import TranslationNote
from matchrec.dialects.products import Product
from matchrec.dialects.rules.value_kinds import ValueKind, find_kind
from matchrec.dialects.rules.visible_columns import Presence, VisibleColumns
from matchrec.plan.clauses import RowsPerMatch
from matchrec.source import Span
from matchrec.syntax.clause_parts import ClausePart
from matchrec.syntax.nodes import MatchRecognize

Node = TypeVar("Node", bound=exp.Expr)

# A mark on nodes that sqlglot reads alike in the dialects of both products, although the products
# understand them differently. A text with such a node is never left as the user wrote it.
DIFFERS = "differs"


def mark_node(node: Node, mark: str) -> Node:
    """Mark a node for later rules, and return it."""
    node.meta[mark] = True
    return node


@dataclass(frozen=True, slots=True)
class RuleFindings:
    """What rules have found out while they rewrote one fragment.

    `translate_fragment` makes an empty one for each fragment, and returns it.
    """

    # Notes on what differs, in the order in which rules added them. Their spans are filled in by
    # `FragmentTranslator`, because rules do not know where the fragment is.
    notes: list[TranslationNote] = field(default_factory=list)
    # The names of columns whose kinds rules requested, but that are not known.
    untyped_columns: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RuleContext:
    """Where an expression is, from which product, and for which product it is written."""

    # The product whose SQL the expression is.
    read: Product
    # The product for which it is written.
    write: Product
    # The clause that the expression is in; None outside of clauses.
    clause: MatchRecognize | None = None
    # The part of the clause that the expression is in; None outside of clauses.
    part: ClausePart | None = None
    # The columns that the expression can name.
    columns: VisibleColumns = field(default_factory=VisibleColumns)
    # Pattern variables that must be quoted to keep their case: the text as written, by the name in
    # upper case.
    quoted_variables: Mapping[str, str] = field(default_factory=dict)
    # Collects what rules find out. Fragments do not share their findings.
    findings: RuleFindings = field(default_factory=RuleFindings)

    @property
    def is_measure(self) -> bool:
        """Return whether the expression is a part of MEASURES."""
        return self.part is ClausePart.MEASURES

    @property
    def is_condition(self) -> bool:
        """Return whether the expression is a part of DEFINE."""
        return self.part is ClausePart.DEFINE

    @property
    def is_measure_of_rows(self) -> bool:
        """Return whether it is a measure of each row of a match, because of ALL ROWS PER MATCH."""
        if self.clause is None or not self.is_measure:
            return False
        rows_per_match = self.clause.rows_per_match or RowsPerMatch.ONE_ROW
        return not rows_per_match.summarizes_matches

    @property
    def first_sort_key(self) -> str | None:
        """Return the text of the first key in the clause's ORDER BY; None if there is none."""
        keys = self.clause.order_by if self.clause else ()
        return keys[0].expression.text if keys else None

    def make_part_context(self, part: ClausePart) -> RuleContext:
        """Return the context of an expression in a part of the clause."""
        return replace(self, part=part)

    def request_kind(self, node: exp.Expr) -> ValueKind | None:
        """Return the kind of an expression that a rule needs; None if it is not known.

        The columns whose kinds are not known are added to `findings.untyped_columns`, so that the
        session looks up their types and the query is translated once more.
        """
        return find_kind(node, self._request_kind_of_column)

    def _request_kind_of_column(self, column: exp.Column) -> ValueKind | None:
        """Return the kind of a column. If it is not known, record the column and return None."""
        kind = self.columns.find_kind(column)
        if kind is None:
            self.findings.untyped_columns.append(column.name)
        return kind

    def request_presence(self, select: exp.Select, name: str) -> Presence:
        """Return whether a relation that a query reads has a column of this name, if it is known.

        If it is not known, the name is added to `findings.untyped_columns`.
        """
        presence = self.columns.find_presence(select, name)
        if presence is Presence.UNKNOWN:
            self.findings.untyped_columns.append(name)
        return presence

    def add_note(self, message: str, *, is_compensated: bool = False) -> None:
        """Add a note on a difference between the two products to the findings.

        Args:
            message: the difference, in one sentence.
            is_compensated: see `TranslationNote.is_compensated`.
        """
        self.findings.notes.append(TranslationNote(message, Span(0, 0), is_compensated))


# Rewrites a node of the type that its first parameter has. A rule returns the node itself, which it
# may change, or another node that replaces it. It raises UnsupportedError if the product that is
# written has nothing that means the same.
RewriteRule = Callable[[Any, RuleContext], exp.Expr]


def apply_rule(rule: RewriteRule, tree: exp.Expr, context: RuleContext) -> exp.Expr:
    """Return the tree with a rule applied to each node of its type.

    Inner nodes come first. A node is still in the tree when the rule gets it, so the rule can look
    at the nodes around it.

    Args:
        rule: the rule.
        tree: the tree, which is changed. If the rule replaces its root, the result is another tree.
        context: where the expression is, which the rule gets.

    Raises:
        UnsupportedError: the rule raises it.
    """
    types = _find_node_types(rule)
    nodes = [node for node in tree.dfs() if isinstance(node, types)]
    for node in reversed(nodes):
        rewritten = rule(node, context)
        if rewritten is node:
            continue
        if node is tree:
            return rewritten
        node.replace(rewritten)
    return tree


@cache
def _find_node_types(rule: RewriteRule) -> Any:
    """Return the class, or union of classes, of the nodes that a rule rewrites.

    It is the annotation of the rule's first parameter.
    """
    return next(iter(get_type_hints(rule).values()))
