"""Draw tables of crimes in the order of their times, like those of published benchmarks.

`berlin` follows the generator of Humboldt-Universität (`published` names it): one crime a minute in
each of ten districts, seven kinds, places around a centre that moves with the district. `crimes`
follows Chicago's, which Zhu, Huang and Chaudhuri use: one crime after the other at any time of the
day, some kinds far more frequent than others, each in a beat of a district. A series of kinds is
planted in it: the first ones of every 2,000 crimes happen in one beat, one of each kind of the
series. Every second series is in the same beat. The tables `lengths_N` have no crimes; a match over
them has N rows.
"""

from __future__ import annotations

from random import Random

from tests.benchmarks.drawn_tables import FIRST_TIME, DrawnTable, DrawnTables, draw_fraction

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
DISTRICTS = 25  # of Chicago
BEATS = 12  # of each district
KINDS = 35
MEAN_DISTANCE = 80_000  # milliseconds between one crime and the next
SERIES_DISTANCE = 2_000  # crimes from the start of one planted series to the next
SERIES_LETTERS = "ABCDEFG"  # placeholders in the queries for the kinds of the series
LENGTHS = tuple(1_000 << power for power in range(6))


def draw_crimes(seed: int, rows: int) -> DrawnTables:
    """Return all tables of a seed.

    Args:
        rows: the number of rows of each table at scale 1.
    """
    draw = Random(f"crimes {seed}")
    salt = draw.randrange(1 << 40)
    series = draw.sample(range(KINDS // 7, KINDS + 1), len(SERIES_LETTERS))
    home = draw.randrange(DISTRICTS)
    tables = {
        "berlin": DrawnTable(draw_berlin(salt), rows, 1, scales_keys=False),
        "crimes": DrawnTable(draw_chicago(salt, series, home), rows, 1, scales_keys=False),
    }
    for length in LENGTHS:
        columns = draw_lengths(salt, length)
        tables[f"lengths_{length}"] = DrawnTable(columns, rows, 1, scales_keys=False)
    words = dict(zip(SERIES_LETTERS, map(str, series), strict=True))
    return DrawnTables(tables, words | {"district": str(1 + home)})


def draw_berlin(salt: int) -> tuple[str, ...]:
    """Return the columns of `berlin`. Ids ascend with time and, in a minute, with the district."""
    names = ", ".join(f"'{name}'" for name in DISTRICTS_OF_BERLIN)
    count = len(DISTRICTS_OF_BERLIN)
    return (
        "CAST(id AS INT) AS id",
        f"element_at(array({names}), CAST(id % {count} AS INT) + 1) AS district",
        f"timestamp_seconds({FIRST_TIME} + id DIV {count} * 60) AS at",
        f"{choose_kind(draw_fraction(salt))} AS kind",
        f"round(52.52 + 0.02 * (id % {count}) + 0.01 * {draw_normal(salt + 1)}, 6) AS lat",
        f"round(13.405 + 0.02 * (id % {count}) + 0.01 * {draw_normal(salt + 3)}, 6) AS lon",
    )


def choose_kind(fraction: str) -> str:
    """Return SQL for a kind, which is as frequent as its share says.

    Args:
        fraction: SQL for a random number in (0, 1).
    """
    *kinds, last = KINDS_OF_BERLIN
    below = 0.0
    cases = []
    for kind in kinds:
        below += KINDS_OF_BERLIN[kind]
        cases.append(f"WHEN {fraction} < {below:.2f} THEN '{kind}'")
    return f"CASE {' '.join(cases)} ELSE '{last}' END"


def draw_normal(salt: int) -> str:
    """Return SQL for a normally distributed number for each row (Box and Muller)."""
    return f"(sqrt(-2 * ln({draw_fraction(salt)})) * cos(2 * pi() * {draw_fraction(salt + 1)}))"


def draw_chicago(salt: int, series: list[int], home: int) -> tuple[str, ...]:
    """Return the columns of `crimes`.

    Beats are numbered within their districts and are a few kilometres apart.

    Args:
        series: the kinds of the planted series.
        home: the number from which district and beat of every second series are computed.
    """
    kinds = ", ".join(map(str, series))
    is_planted = f"id % {SERIES_DISTANCE} < {len(series)}"
    kind = f"1 + floor({KINDS} * power({draw_fraction(salt)}, 3))"
    spot = f"xxhash64(IF({is_planted}, -id DIV {SERIES_DISTANCE}, id), {salt + 1}L)"
    spot = f"IF({is_planted} AND id DIV {SERIES_DISTANCE} % 2 = 0, {home}L, {spot})"
    district = f"1 + pmod({spot}, {DISTRICTS}L)"
    beat = f"pmod({spot} DIV 100, {BEATS}L)"
    delay = f"pmod(xxhash64(id, {salt + 2}L), {MEAN_DISTANCE}L)"
    in_series = f"element_at(array({kinds}), CAST(id % {SERIES_DISTANCE} AS INT) + 1)"
    return (
        "id",
        f"{FIRST_TIME}000 + id * {MEAN_DISTANCE} + {delay} AS at",
        f"CAST(IF({is_planted}, {in_series}, {kind}) AS INT) AS kind",
        f"CAST({district} AS INT) AS district",
        f"CAST(100 * ({district}) + {beat} AS INT) AS beat",
        f"round(41.65 + 0.015 * ({district}) + 0.003 * {draw_normal(salt + 3)}, 6) AS lat",
        f"round(-87.85 + 0.025 * {beat} + 0.003 * {draw_normal(salt + 5)}, 6) AS lon",
    )


def draw_lengths(salt: int, length: int) -> tuple[str, ...]:
    """Return columns with a `k` that falls after every `length` rows and stays equal between."""
    return (
        "id",
        f"-(id DIV {length}) AS k",
        f"CAST(floor({draw_fraction(salt)} * 1000) AS BIGINT) AS x",
    )
