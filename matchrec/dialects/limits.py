"""Parts of the clause that a product lacks, so that a translation to it is an error or gets a note.

The table `limits.txt` has a row for each `Feature`, with the products that lack it. `note_limits`
looks up every feature that a clause has:

    SUBSET U = (A, B)      written for BigQuery     an error: BigQuery lacks SUBSET
    WITHIN INTERVAL ...    written for Trino        an error that says which condition to write
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from matchrec.dialects.edits import TranslationNote
from matchrec.dialects.features import Feature, FeatureUse, find_features
from matchrec.dialects.products import Product
from matchrec.errors import MatchRecognizeUnsupportedError
from matchrec.errors.sql.products import product_without_within, unsupported_by_product
from matchrec.source import read_package_table
from matchrec.syntax.nodes import MatchRecognize


@dataclass(frozen=True, slots=True)
class ProductLimit:
    """A row of the table: a part of the clause that some products lack."""

    # How messages call the part.
    words: str
    # The names of the products that lack the part.
    lacking: frozenset[str]
    # The names of the products whose documentation rejects the part, although the products may have
    # it. A query with the part is translated for them, with a note.
    rejecting: frozenset[str]
    # What to write instead; None if there is nothing.
    replacement: str | None = None

    @property
    def hint(self) -> str | None:
        """Return the sentence that says what to write instead; None if there is nothing."""
        return f"write {self.replacement}" if self.replacement else None


@cache
def read_limits() -> dict[Feature, ProductLimit]:
    """Return the rows of the table, one for each feature."""
    rows = read_package_table("matchrec.dialects", "limits.txt")
    return {Feature[name]: _read_limit(*cells) for name, *cells in rows}


def _read_limit(words: str, products: str, replacement: str | None = None) -> ProductLimit:
    """Return a row of the table, given its cells after the name.

    Args:
        words: how messages call the part.
        products: the products, as in `oracle (trino)`: Oracle lacks it, and Trino rejects it.
        replacement: what to write instead; None if there is nothing.
    """
    names = products.split()
    lacking = frozenset(name for name in names if not name.startswith("("))
    rejecting = frozenset(name.strip("()") for name in names if name.startswith("("))
    return ProductLimit(words, lacking, rejecting, replacement)


def has_feature(product: Product, feature: Feature) -> bool:
    """Return whether a product has a part of the clause, even if its documentation rejects it."""
    return product.name not in read_limits()[feature].lacking


def _rejects_feature(product: Product, feature: Feature) -> bool:
    """Return whether the documentation of a product rejects a part, which then gets a note."""
    return product.name in read_limits()[feature].rejecting


def note_limits(clause: MatchRecognize, read: Product, write: Product) -> Iterator[TranslationNote]:
    """Yield a note on each feature that the documentation of the written product rejects.

    The note points at the first use of the feature in the order of `find_features`.

    Args:
        clause: the clause.
        read: the product whose SQL it is.
        write: the product that is written.

    Raises:
        MatchRecognizeUnsupportedError: the product that is written lacks a part of the clause, or
            the clause has shared conditions, and the product that is read lacks these.
    """
    notes: dict[Feature, TranslationNote] = {}
    for feature, span in find_features(clause, read):
        # The grammar of all products has shared conditions, so nothing else rejects them in a
        # clause of a product without them.
        if feature is Feature.SHARED and not has_feature(read, feature):
            raise _make_limit_error(FeatureUse(feature, span), read)
        if not has_feature(write, feature):
            # The condition that replaces WITHIN calls FIRST on a key of ORDER BY.
            can_be_condition = clause.order_by and not _rejects_feature(write, Feature.FIRST)
            if feature is Feature.WITHIN and can_be_condition:
                condition = _write_within_as_condition(clause)
                raise product_without_within(span, product=write.title, condition=condition)
            raise _make_limit_error(FeatureUse(feature, span), write)
        if _rejects_feature(write, feature) and feature not in notes:
            limit = read_limits()[feature]
            hint = f": {limit.hint}" if limit.hint else ""
            message = f"{write.title} rejects {limit.words}{hint}"
            notes[feature] = TranslationNote(message, span, is_rejected=True)
    yield from notes.values()


def _make_limit_error(use: FeatureUse, product: Product) -> MatchRecognizeUnsupportedError:
    """Return the error for a part of a clause that a product lacks."""
    limit = read_limits()[use.feature]
    return unsupported_by_product(
        use.span, product=product.title, what=limit.words, hint=limit.hint
    )


def _write_within_as_condition(clause: MatchRecognize) -> str:
    """Return the condition that each variable would need instead of WITHIN.

    The clause must have WITHIN and ORDER BY.

        ORDER BY ts ... WITHIN INTERVAL 1 HOUR      ts < FIRST(ts) + INTERVAL '1' HOUR
        WITHIN 5 ROWS                               count(*) <= 5
    """
    rows = clause.window_of_rows
    if rows is not None:
        return f"count(*) <= {rows.interval.text}"
    within = clause.within
    assert within is not None, "the window of a match is one of rows or of time"
    order = clause.order_by[0].expression.text
    length = re.sub(r"(?i)^INTERVAL (\d+) (\w+)$", r"INTERVAL '\1' \2", within.interval.text)
    return f"{order} < FIRST({order}) + {length}"
