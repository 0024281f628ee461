"""Products: the records that are made of the table."""

from __future__ import annotations

from matchrec.dialects.products import PRODUCTS, SNOWFLAKE, SPARK


def test_products_can_be_members_of_a_set() -> None:
    assert len({*PRODUCTS.values(), SPARK, SNOWFLAKE}) == len(PRODUCTS)
