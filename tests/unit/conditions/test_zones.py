"""Names of time zones that the setting of Spark may have."""

import pytest

from matchrec.conditions.functions.calendar import (
    SECOND,
    find_zone,
    has_fixed_offset,
    is_known_zone,
)

HOUR = 3600 * SECOND


@pytest.mark.parametrize(
    ("name", "hours"),
    [
        ("z", 0),
        ("UTC+08:00", 8),
        ("gmt+8", 8),
        ("-03:00", -3),
        ("europe/paris", 1),
        ("hst", -10),
        ("est", -5),
    ],
)
def test_a_zone_has_its_offset_of_winter(name: str, hours: int) -> None:
    assert find_zone(name).find_offset(0) == hours * HOUR


def test_unknown_names_are_not_zones() -> None:
    assert not is_known_zone("Mars/Base")
    assert not is_known_zone("PST")
    assert not has_fixed_offset("Mars/Base")
    assert has_fixed_offset("EST")
