"""Draw tables of random data: a seed chooses names, types, distributions and numbers of keys.

The shape of the data is the same for all seeds: order values ascend without ties at a mean
distance, and a fixed share of the rows is below each threshold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from pyspark.sql import DataFrame, SparkSession

WORDS: dict[str, tuple[str, ...]] = {
    "k": ("symbol", "device", "account", "station", "sensor"),
    "t": ("ts", "at", "seen", "clock", "moment"),
    "x": ("price", "heat", "speed", "pressure", "score"),
    "y": ("volume", "units", "bytes", "points", "weight"),
    "e": ("event", "action", "kind", "activity", "page"),
}
GROUPS = ("day", "batch", "shift")  # names of a first ORDER BY column
FUNNEL_STEPS = (
    ("view", "cart", "purchase"),
    ("open", "edit", "save"),
    ("login", "search", "book"),
    ("ring", "answer", "hang up"),
)
OTHER_EVENTS = ("scroll", "help", "hover", "back")
FRACTIONS = 1 << 20  # different values of a column
FIRST_TIME = 1_600_000_000
UNREAD_COLUMNS = 26  # columns that no condition reads: a wide table has 30
LONG_KEYS = 200
STATES = (("on", "off", "idle"), ("ok", "warm", "hot", "off"), ("open", "ajar", "shut"))
PORTS = 40


@dataclass(frozen=True)
class Distribution:
    """A distribution of values."""

    text: str  # SQL for a random value, with {u} for a random number in (0, 1)
    value_at: Callable[[float], float]  # the value below which this share of the rows is


def list_distributions(draw: Random) -> list[Distribution]:
    """Return three distributions with drawn numbers: even, bell-shaped, and many small values."""
    low = draw.randint(1, 100)
    span = draw.randint(50, 500)
    return [
        Distribution(f"{low} + {span} * {{u}}", lambda u: low + span * u),
        Distribution(
            f"{10 * span} + {low} * ln({{u}} / (1 - {{u}}))",
            lambda u: 10 * span + low * math.log(u / (1 - u)),
        ),
        Distribution(f"{low} * exp(4 * {{u}})", lambda u: low * math.exp(4 * u)),
    ]


@dataclass(frozen=True)
class DrawnTable:
    """A table that is computed from row numbers."""

    items: tuple[str, ...]  # its columns: SQL over `id`, with {keys} for the number of keys
    rows: int  # at scale 1
    keys: int  # at scale 1
    keys_grow: bool = True  # whether a scale multiplies the keys, or the rows of each key

    def frame(self, spark: SparkSession, scale: float = 1.0) -> DataFrame:
        """Return the table at a scale; all keys have the same number of rows."""
        keys = max(1, round(self.keys * scale)) if self.keys_grow else self.keys
        rows = keys * max(1, round(self.rows * scale / keys))
        return spark.range(rows).selectExpr(*(item.format(keys=keys) for item in self.items))


@dataclass(frozen=True)
class DrawnTables:
    """The tables of a seed and the words for queries over them."""

    tables: Mapping[str, DrawnTable]  # by name
    words: Mapping[str, str]  # names and thresholds, by their placeholders in the queries


def draw_fraction(salt: int) -> str:
    """Return SQL for a random number in (0, 1) for each row; each salt gives other numbers."""
    return f"((pmod(xxhash64(id, {salt}L), {FRACTIONS}L) + 0.5D) / {FRACTIONS})"


def draw_tables(seed: int, rows: int) -> DrawnTables:
    """Return all tables of a seed.

    Args:
        rows: the number of rows of each table at scale 1.
    """
    draw = Random(f"tables {seed}")
    salt = draw.randrange(1 << 40)
    words = {name: draw.choice(choices) for name, choices in WORDS.items()}
    values = draw.choice(list_distributions(draw))
    amounts = draw.randint(500, 5000)
    mean = draw.randint(20, 90)
    number = f"{FIRST_TIME} + id DIV {{keys}} * {mean} + pmod(xxhash64(id, {salt}L), {mean}L)"
    text_key = f"format_string('{draw.choice('KSUX')}%07d', id % {{keys}})"
    key = draw.choice((text_key, "xxhash64(id % {keys})", "id % {keys}"))
    order = draw.choice((number, f"timestamp_seconds({number})"))
    read = (
        f"round({values.text.format(u=draw_fraction(salt + 1))}, 2) AS {words['x']}",
        f"CAST(floor({draw_fraction(salt + 2)} * {amounts}) AS BIGINT) AS {words['y']}",
    )
    plain = (f"{key} AS {words['k']}", f"{order} AS {words['t']}", *read)
    texts = (f"{text_key} AS {words['k']}", f"format_string('%012d', {number}) AS {words['t']}")
    keys = max(1, rows // draw.randint(800, 3000))
    tables = {
        "readings": DrawnTable(plain, rows, keys),
        "tiny": DrawnTable(plain, rows, max(1, rows // draw.randint(8, 14))),
        "few_keys": DrawnTable(plain, rows, draw.randint(4, 12), keys_grow=False),
        "in_text": DrawnTable((*texts, *read), rows, keys),
        "wide": DrawnTable((*plain, *draw_unread_columns(salt)), rows, keys),
        "visits": DrawnTable(draw_visits(draw, salt, words), rows, max(1, rows // 100)),
    }
    names = {name: f"{name}_{draw.randrange(1000)}" for name in tables}
    words |= (
        names | draw_thresholds(draw, values, amounts) | draw_spans(draw, mean, order != number)
    )
    drawn_tables = {names[name]: drawn_table for name, drawn_table in tables.items()}
    draw = Random(f"runs {seed}")  # tables whose rows depend on the rows before them
    for name, make in {
        "states": draw_states,
        "sign_ins": draw_sign_ins,
        "flights": draw_flights,
    }.items():
        words[name] = f"{name}_{draw.randrange(1000)}"
        keys = max(1, rows // (10 if make is draw_sign_ins else draw.randint(800, 3000)))
        drawn_tables[words[name]] = DrawnTable((*plain[:2], *make(draw, salt, words)), rows, keys)
    draw = Random(f"keys {seed}")
    words["g"] = draw.choice(GROUPS)
    words["rest"] = ", ".join(name_unread(index) for index in range(UNREAD_COLUMNS))
    group = f"CAST({TICK} DIV {draw.randint(300, 700)} AS INT) AS {words['g']}"
    long_key = f"{write_long_text('id % {keys}', salt)} AS {words['k']}"
    for name, drawn_table in {
        "four_keys": DrawnTable(plain, rows, 4, keys_grow=False),
        "one_key": DrawnTable(plain, rows, 1, keys_grow=False),
        "long_keys": DrawnTable((long_key, *plain[1:]), rows, LONG_KEYS, keys_grow=False),
        "grouped": DrawnTable((*plain, group), rows, max(1, rows // draw.randint(800, 3000))),
    }.items():
        words[name] = f"{name}_{draw.randrange(1000)}"
        drawn_tables[words[name]] = drawn_table
    return DrawnTables(drawn_tables, words)


def write_long_text(number: str, salt: int) -> str:
    """Return SQL for a text of 36 characters, in the form of a UUID, that a number determines."""
    digits = f"md5(CAST({number} + {salt}L AS STRING))"
    parts = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
    texts = ", ".join(f"substring({digits}, {start}, {length})" for start, length in parts)
    return f"concat_ws('-', {texts})"


def draw_states(draw: Random, salt: int, words: dict[str, str]) -> tuple[str, ...]:
    """Return columns: a state that lasts some rows, and a gauge that is stuck at times."""
    shorter, longer = draw.sample((5, 7, 11, 13), 2)
    state = hash_by_key(f"{TICK} DIV {shorter}, {TICK} DIV {longer}, {salt}L")
    block = f"pmod({hash_by_key(f'{TICK} DIV {draw.randint(7, 12)}, {salt}L')}, 100L)"
    is_stuck = f"{block} < {draw.randint(2, 8)}"
    gauge = f"IF({is_stuck}, {block}, pmod({hash_by_key(f'id, {salt}L')}, 100000L)) / 100"
    return f"{choose_name(draw.choice(STATES), state)} AS {words['e']}", f"{gauge} AS {words['x']}"


def draw_sign_ins(draw: Random, salt: int, words: dict[str, str]) -> tuple[str, ...]:
    """Return the column of sign-in events of an account; about half of them are failures."""
    words |= {"failed": draw.choice(("failed", "refused")), "passed": "passed"}
    names = [words[name] for name in ("failed", "passed") for _ in range(draw.randint(3, 5))]
    return (f"{choose_name([*names, 'reset'], hash_by_key(f'id, {salt}L'))} AS {words['e']}",)


def draw_flights(draw: Random, salt: int, words: dict[str, str]) -> tuple[str, ...]:
    """Return the columns of flights, whose keys are aircraft.

    Most flights start where the aircraft landed before. Some delays last for several flights.
    """
    words["o"] = draw.choice(("origin", "departed"))
    words["d"] = draw.choice(("destination", "reached"))
    flight_hash = hash_by_key(f"id, {salt}L")
    span = draw.randint(30, 60)
    gap = f"IF(pmod({flight_hash}, {draw.randint(10, 30)}L) = 0, 7, 0)"
    block = hash_by_key(f"{TICK} DIV {draw.randint(4, 6)}, {salt}L")
    is_passed_on = f"pmod({block}, 100L) < {draw.randint(10, 30)}"
    return (
        f"{write_port(gap, salt)} AS {words['o']}",
        f"{write_port('1', salt)} AS {words['d']}",
        f"pmod(IF({is_passed_on}, {block}, {flight_hash}), {span}L) AS {words['x']}",
    )


def write_port(flights_later: str, salt: int) -> str:
    """Return SQL for the airport where an aircraft is that many flights later."""
    port_hash = hash_by_key(f"{TICK} + {flights_later}, {salt}L")
    return f"format_string('P%02d', pmod({port_hash}, {PORTS}L))"


TICK = "id DIV {keys}"  # how many rows of its key come before a row


def hash_by_key(columns: str) -> str:
    """Return SQL for a hash of the key and of some columns, which are SQL, too."""
    return f"xxhash64(id % {{keys}}, {columns})"


def choose_name(names: Sequence[str], number: str) -> str:
    """Return SQL for the name whose index is the remainder of a number."""
    listed = ", ".join(f"'{name}'" for name in names)
    return f"element_at(array({listed}), CAST(pmod({number}, {len(names)}L) AS INT) + 1)"


def draw_unread_columns(salt: int) -> tuple[str, ...]:
    """Return columns of several types that no condition reads."""
    forms = ("{u} * 1000", "CAST({u} * 1e9 AS BIGINT)", "format_string('a note of %d', id % 9973)")
    columns = []
    for index in range(UNREAD_COLUMNS):
        form = forms[index % len(forms)]
        value = form.format(u=draw_fraction(salt + 10 + index))
        columns.append(f"{value} AS {name_unread(index)}")
    return tuple(columns)


def name_unread(index: int) -> str:
    """Return the name of a column of a wide table that no condition reads."""
    return f"other_{index}"


def draw_visits(draw: Random, salt: int, words: dict[str, str]) -> tuple[str, ...]:
    """Return the columns of events of some users, half a minute apart.

    Their time is there as a number and as a timestamp.
    """
    steps = draw.choice(FUNNEL_STEPS)
    words |= {"first": steps[0], "second": steps[1], "third": steps[2]}
    other_events = list(OTHER_EVENTS) * draw.randint(2, 4)
    events = [steps[0]] * draw.randint(3, 8) + [steps[1]] * 2 + [steps[2]] + other_events
    draw.shuffle(events)
    listed = ", ".join(f"'{event_name}'" for event_name in events)
    number = f"{FIRST_TIME} + id DIV {{keys}} * 30 + pmod(xxhash64(id, {salt + 3}L), 30L)"
    event = (
        f"element_at(array({listed}), CAST({draw_fraction(salt + 4)} * {len(events)} AS INT) + 1)"
    )
    return (
        f"format_string('U%07d', id % {{keys}}) AS {words['k']}",
        f"timestamp_seconds({number}) AS {words['t']}",
        f"{number} AS seconds",
        f"{event} AS {words['e']}",
        f"CAST({draw_fraction(salt + 5)} * 500 AS INT) AS {words['y']}",
    )


def draw_thresholds(draw: Random, values: Distribution, amounts: int) -> dict[str, str]:
    """Return thresholds as text, by their placeholders.

    Many rows are below `low` and above `high`; few are below `least` and above `most`.
    """
    rare = draw.uniform(0.02, 0.06)
    shares = {"least": rare, "most": 1 - rare}
    shares |= {"low": draw.uniform(0.2, 0.4), "high": draw.uniform(0.7, 0.9)}
    shares |= {"nearly_all": draw.uniform(0.93, 0.98)}
    values_by_name = {name: f"{values.value_at(share):.2f}" for name, share in shares.items()}
    jump = (values.value_at(0.75) - values.value_at(0.25)) * draw.uniform(0.1, 0.4)
    counts = {"shortest": draw.randint(5, 12), "longest": draw.randint(30, 60)}
    return (
        values_by_name
        | {"jump": f"{jump:.2f}", "few": str(round(amounts * rare)), "sum": str(20 * amounts)}
        | {name: str(share) for name, share in counts.items()}
    )


def draw_spans(draw: Random, mean: int, is_time: bool) -> dict[str, str]:
    """Return lengths of time as text, by their placeholders.

    The distance of most neighbouring rows is at most `near`, and that of all but a few is at most
    `pause`.
    """
    near, pause = (round(mean * (2 - math.sqrt(2 * share))) for share in (0.2, 0.03))
    minutes = draw.randint(20, 60)
    template = "INTERVAL '{}' SECOND" if is_time else "{}"
    return {
        "near": template.format(near),
        "pause": template.format(pause),
        "spell": template.format(5 * mean),
        "minutes": str(minutes),
        "bound": str(60 * minutes),
    }
