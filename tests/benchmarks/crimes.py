"""Crimes of a city in the order of their times, as published benchmarks have them, made anew.

`berlin` follows the generator of Humboldt-Universität (`published` names it): one crime a minute in
each of ten districts, seven kinds, places around a centre that moves with the district. `crimes`
follows Chicago's, which Zhu, Huang and Chaudhuri take: one after the other at any time of the day,
some kinds far more frequent than others, each in a beat of a district. In it a series of kinds is
planted: of so many crimes, the first ones happen in one beat, one of each kind of the series; every
second time in the same beat. The tables of `lengths` are no crimes: their matches are of so many
rows.
"""

from __future__ import annotations

from random import Random

from tests.benchmarks.drawn_tables import FIRST_TIME, Drawn, DrawnTable, share

DISTRICTS_OF_BERLIN = (
    *("Mitte", "Kreuzberg", "Pankow", "Wilmersdorf", "Spandau"),
    *("Steglitz", "Tempelhof", "Neukölln", "Treptow", "Marzahn"),
)
KINDS_OF_BERLIN = {
    "THEFT": 0.35,
    "BATTERY": 0.20,
    "CRIMINAL DAMAGE": 0.15,
    "ASSAULT": 0.10,
    "ROBBERY": 0.10,
    "NARCOTICS": 0.09,
    "HOMICIDE": 0.01,
}
DISTRICTS, BEATS = 25, 12  # of Chicago, and of each of its districts
KINDS = 35
MEAN = 80_000  # milliseconds from one crime to the next
EVERY = 2_000  # crimes of which the first ones are planted
PLANTED = "ABCDEFG"  # letters of the series' kinds, in the words of the texts
LENGTHS = tuple(1_000 << power for power in range(6))


def draw_crimes(seed: int, rows: int) -> Drawn:
    """All tables of a seed. rows: of each at scale 1."""
    draw = Random(f"crimes {seed}")
    salt = draw.randrange(1 << 40)
    series = draw.sample(range(KINDS // 7, KINDS + 1), len(PLANTED))
    home = draw.randrange(DISTRICTS)
    tables = {
        "berlin": DrawnTable(berlin(salt), rows, 1, grows=False),
        "crimes": DrawnTable(chicago(salt, series, home), rows, 1, grows=False),
    }
    tables |= {
        f"lengths_{one}": DrawnTable(lengths(salt, one), rows, 1, grows=False) for one in LENGTHS
    }
    words = dict(zip(PLANTED, map(str, series), strict=True))
    return Drawn(tables, words | {"district": str(1 + home)})


def berlin(salt: int) -> tuple[str, ...]:
    """Ids ascend with time; of one minute's crimes, with the district."""
    names = ", ".join(f"'{one}'" for one in DISTRICTS_OF_BERLIN)
    count = len(DISTRICTS_OF_BERLIN)
    return (
        "CAST(id AS INT) AS id",
        f"element_at(array({names}), CAST(id % {count} AS INT) + 1) AS district",
        f"timestamp_seconds({FIRST_TIME} + id DIV {count} * 60) AS at",
        f"{kind_of_berlin(share(salt))} AS kind",
        f"round(52.52 + 0.02 * (id % {count}) + 0.01 * {normal(salt + 1)}, 6) AS lat",
        f"round(13.405 + 0.02 * (id % {count}) + 0.01 * {normal(salt + 3)}, 6) AS lon",
    )


def kind_of_berlin(place: str) -> str:
    """By its share of all crimes."""
    *listed, last = KINDS_OF_BERLIN
    below, cases = 0.0, []
    for one in listed:
        below += KINDS_OF_BERLIN[one]
        cases.append(f"WHEN {place} < {below:.2f} THEN '{one}'")
    return f"CASE {' '.join(cases)} ELSE '{last}' END"


def normal(salt: int) -> str:
    """A number of the normal distribution for each row (Box and Muller)."""
    return f"(sqrt(-2 * ln({share(salt)})) * cos(2 * pi() * {share(salt + 1)}))"


def chicago(salt: int, series: list[int], home: int) -> tuple[str, ...]:
    """Beats are numbered within their districts, and lie a few kilometres from each other.

    home: the spot of every second planted series, whose remainder is its district.
    """
    listed = ", ".join(map(str, series))
    planted = f"id % {EVERY} < {len(series)}"
    kind = f"1 + floor({KINDS} * power({share(salt)}, 3))"
    spot = f"xxhash64(IF({planted}, -id DIV {EVERY}, id), {salt + 1}L)"
    spot = f"IF({planted} AND id DIV {EVERY} % 2 = 0, {home}L, {spot})"
    district, beat = f"1 + pmod({spot}, {DISTRICTS}L)", f"pmod({spot} DIV 100, {BEATS}L)"
    in_series = f"element_at(array({listed}), CAST(id % {EVERY} AS INT) + 1)"
    return (
        "id",
        f"{FIRST_TIME}000 + id * {MEAN} + pmod(xxhash64(id, {salt + 2}L), {MEAN}L) AS at",
        f"CAST(IF({planted}, {in_series}, {kind}) AS INT) AS kind",
        f"CAST({district} AS INT) AS district",
        f"CAST(100 * ({district}) + {beat} AS INT) AS beat",
        f"round(41.65 + 0.015 * ({district}) + 0.003 * {normal(salt + 3)}, 6) AS lat",
        f"round(-87.85 + 0.025 * {beat} + 0.003 * {normal(salt + 5)}, 6) AS lon",
    )


def lengths(salt: int, length: int) -> tuple[str, ...]:
    """A column that falls after so many rows each time, and stays the same between."""
    return ("id", f"-(id DIV {length}) AS k", f"CAST(floor({share(salt)} * 1000) AS BIGINT) AS x")
