"""Translate one expression or query with sqlglot and our rules.

1. `operator_groups` adds parentheses, and `function_masks` adds prefixes, so that sqlglot reads the
   text as the product does. sqlglot parses the text to a tree.
2. Our rules rewrite the tree, and `sqlglot_printing` prints the tree.
3. If both products are kinds of Spark, a text with the same meaning in both stays as it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError, UnsupportedError

from matchrec.dialects.function_masks import FunctionNames, mask_functions
from matchrec.dialects.operator_groups import parenthesize_chains
from matchrec.dialects.products import Product
from matchrec.dialects.rules.by_product import find_rules
from matchrec.dialects.rules.context import DIFFERS, RuleContext, RuleFindings, apply_rule
from matchrec.dialects.sqlglot_dialects import get_dialect, tokenize_product_sql
from matchrec.dialects.sqlglot_printing import print_tree


class FragmentTranslation(NamedTuple):
    """The translation of a fragment."""

    # The new text; None if the fragment can stay as it is.
    text: str | None
    # What the rules have found out about the fragment.
    findings: RuleFindings


def translate_fragment(text: str, context: RuleContext) -> FragmentTranslation:
    """Translate a fragment to the SQL of the product that is written.

    Args:
        text: the fragment, with names instead of its holes.
        context: where the fragment is, and the two products.

    Raises:
        ParseError: the product that is read has no such syntax.
        TokenError: the tokens of the text cannot be read.
        UnsupportedError: the product that is written has nothing that means the same.
    """
    findings = RuleFindings()
    new_text = _rewrite_fragment(text, replace(context, findings=findings))
    return FragmentTranslation(new_text, findings)


def _rewrite_fragment(text: str, context: RuleContext) -> str | None:
    """Return the text of a translated fragment; None if it can stay as it is.

    The arguments and errors are the same as for `translate_fragment`. The findings of the rules are
    added to `context.findings`.
    """
    read = context.read
    functions = read.pattern_function_names if context.clause is not None else None
    tree = _parse(text, read, functions)
    for rule in find_rules(read, context.write):
        tree = apply_rule(rule, tree, context)
    may_stay = _may_have_same_meaning(text, tree, context)
    translation = print_tree(tree, context)
    if may_stay and _is_read_as(translation, text, context):
        return None
    return translation


def _may_have_same_meaning(text: str, tree: exp.Expr, context: RuleContext) -> bool:
    """Return whether a text may mean the same in both products: only if both are kinds of Spark.

    Args:
        text: the fragment.
        tree: the tree of the fragment, which the rules have rewritten and marked with `DIFFERS`.
        context: the two products.
    """
    if not (context.read.is_spark and context.write.is_spark):
        return False
    if not context.read.lacks_sqlglot_dialect:
        return True
    # Spark reads `a[1]`, too, but counts elements from 0.
    has_element = "[" in text
    return not has_element and not any(DIFFERS in node.meta for node in tree.walk())


def _is_read_as(translation: str, text: str, context: RuleContext) -> bool:
    """Return whether the product that is written reads the user's text as it reads the translation.

    That is so if sqlglot reads the text in the dialect of that product, and prints the translation.
    """
    functions: FunctionNames | None = {} if context.clause is not None else None
    try:
        unchanged = print_tree(_parse(text, context.write, functions), context)
    except (ParseError, TokenError, UnsupportedError):
        return False
    return translation == unchanged


def _parse(text: str, product: Product, functions: FunctionNames | None) -> exp.Expr:
    """Return the tree of a fragment in which functions of row patterns have their prefix.

    Args:
        text: the fragment.
        product: the product whose SQL it is.
        functions: see `mask_functions`.

    Raises:
        ParseError: the text is not one statement or expression, or a function lacks an argument.
        TokenError: the tokens of the text cannot be read.
    """
    grouped = parenthesize_chains(text, tokenize_product_sql(text, product), product)
    masked = mask_functions(grouped, tokenize_product_sql(grouped, product), functions)
    statements = get_dialect(product).parser().parse(tokenize_product_sql(masked, product), masked)
    trees = [tree for tree in statements if tree is not None]
    if len(trees) != 1:
        raise ParseError("one statement or expression is expected")
    if any(_lacks_argument(call) for call in trees[0].find_all(exp.Func)):
        raise ParseError("a function lacks an argument")
    # The parser may have used one node in two places. In a copy they are two nodes.
    return trees[0].copy()


def _lacks_argument(call: exp.Func) -> bool:
    """Return whether sqlglot has parsed a call without an argument that it needs.

    The oldest version of sqlglot that we support reports such a call by itself only in a process
    that has loaded `unittest`.
    """
    for name, is_needed in call.arg_types.items():
        argument = call.args.get(name)
        while isinstance(argument, exp.Order | exp.Limit):  # `ARRAY_AGG(ORDER BY y LIMIT 2)`
            argument = argument.this
        if is_needed and argument in (None, []):
            return True
    return False
