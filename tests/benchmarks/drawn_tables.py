"""Draw tables of random data: a seed chooses names, types, distributions and numbers of keys.

The shape of the data is the same for all seeds: order values ascend without ties at a mean
distance, and a fixed share of the rows is below each threshold.

Columns are SQL over the row number `id`. Ids go round the keys: with 3 keys, row 7 is the third row
of key 1. `{keys}` in the SQL stands for the number of keys, which depends on the scale.

Queries over the tables have placeholders for names, thresholds and lengths of time, such as
`{value} < {low}`, because each seed draws others. `DrawnTables.replacements` has a text for each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from pyspark.sql import DataFrame, SparkSession

# The names that columns can have, by the placeholders of the columns.
COLUMN_NAMES: dict[str, tuple[str, ...]] = {
    # The PARTITION BY column.
    "key": ("symbol", "device", "account", "station", "sensor"),
    # The ORDER BY column: a number of seconds, a timestamp or a text.
    "time": ("ts", "at", "seen", "clock", "moment"),
    # A number that most conditions read.
    "value": ("price", "heat", "speed", "pressure", "score"),
    # A whole number that is independent of the value.
    "amount": ("volume", "units", "bytes", "points", "weight"),
    # A text with few different values.
    "event": ("event", "action", "kind", "activity", "page"),
}
# Names of a first ORDER BY column.
GROUP_NAMES = ("day", "batch", "shift")
FUNNEL_STEPS = (
    ("view", "cart", "purchase"),
    ("open", "edit", "save"),
    ("login", "search", "book"),
    ("ring", "answer", "hang up"),
)
OTHER_EVENTS = ("scroll", "help", "hover", "back")
STATES = (("on", "off", "idle"), ("ok", "warm", "hot", "off"), ("open", "ajar", "shut"))
PORT_COUNT = 40
LONG_KEY_COUNT = 200
# The number of columns that no condition reads: a wide table has 30 columns.
UNREAD_COLUMN_COUNT = 26
# The number of different fractions in (0, 1) that `draw_fraction` returns.
FRACTION_COUNT = 1 << 20
# The first time, in seconds since 1970: 13 September 2020.
FIRST_TIME = 1_600_000_000
# SQL for the number of earlier rows with the same key.
EARLIER_ROWS = "id DIV {keys}"


@dataclass(frozen=True)
class Distribution:
    """A distribution of values."""

    # SQL for a random value, with `{fraction}` for a random number in (0, 1).
    sql: str
    # Returns the value below which a share of the rows is.
    find_value: Callable[[float], float]


@dataclass(frozen=True)
class DrawnTable:
    """A table that is computed from row numbers. All keys have the same number of rows."""

    # SQL for the columns, with their names.
    columns: tuple[str, ...]
    # The number of rows and of keys at scale 1. Other scales multiply the number of rows.
    row_count: int
    key_count: int
    # Whether a scale also multiplies the number of keys. Otherwise, each key gets more rows.
    scales_keys: bool = True

    def create_frame(self, spark: SparkSession, scale: float = 1.0) -> DataFrame:
        """Return the table at a scale. The number of rows is rounded to a multiple of the keys."""
        keys = max(1, round(self.key_count * scale)) if self.scales_keys else self.key_count
        rows = keys * max(1, round(self.row_count * scale / keys))
        return spark.range(rows).selectExpr(*(column.format(keys=keys) for column in self.columns))


@dataclass(frozen=True)
class DrawnTables:
    """Tables, and what queries over them need."""

    # By their names, which differ between seeds.
    tables: Mapping[str, DrawnTable]
    # The texts for the placeholders of queries: names of tables and columns, and constants.
    replacements: Mapping[str, str]


@dataclass(frozen=True)
class DrawnColumns:
    """Columns of a table, and what queries over them need."""

    # SQL for the columns, with their names.
    columns: tuple[str, ...]
    # The texts for placeholders that only queries over these columns have.
    replacements: Mapping[str, str]


@dataclass(frozen=True)
class SharedColumns:
    """The columns that most tables of a seed have, and the parameters from which they are made."""

    # A number that makes the hashes of each seed different.
    salt: int
    # The names of columns, by their placeholders: the keys of `COLUMN_NAMES`.
    names: Mapping[str, str]
    # The distribution of the value column.
    distribution: Distribution
    # The amounts are below this limit.
    amount_limit: int
    # The mean distance between the times of neighbouring rows, in seconds.
    mean_distance: int
    # Whether the time column has timestamps, and not numbers of seconds.
    has_timestamps: bool
    # SQL for the key and for the time, with their names.
    key_and_time: tuple[str, str]
    # The same for tables whose key and time are texts.
    key_and_time_in_text: tuple[str, str]
    # SQL for the value and the amount, with their names.
    value_and_amount: tuple[str, str]

    @property
    def plain(self) -> tuple[str, ...]:
        """Return SQL for the key, the time, the value and the amount."""
        return (*self.key_and_time, *self.value_and_amount)


def draw_tables(seed: int, rows: int) -> DrawnTables:
    """Return all tables of a seed.

    Args:
        seed: the same seed always gives the same tables. Benchmarks print it.
        rows: the number of rows of each table at scale 1.
    """
    # Each group of tables has its own generator, so that a new table in one group does not change
    # the tables of the others. Within a group, each call draws the next numbers: the order of the
    # calls is a part of the data.
    rng = Random(f"tables {seed}")
    shared = draw_shared_columns(rng)
    groups = (
        draw_plain_tables(rng, shared, rows),
        draw_run_tables(Random(f"runs {seed}"), shared, rows),
        draw_key_tables(Random(f"keys {seed}"), shared, rows),
    )
    tables: dict[str, DrawnTable] = {}
    replacements = dict(shared.names)
    for group in groups:
        tables.update(group.tables)
        replacements.update(group.replacements)
    return DrawnTables(tables, replacements)


def draw_shared_columns(rng: Random) -> SharedColumns:
    """Return the columns that most tables of a seed have."""
    salt = rng.randrange(1 << 40)
    names = {placeholder: rng.choice(choices) for placeholder, choices in COLUMN_NAMES.items()}
    distribution = rng.choice(draw_distributions(rng))
    amount_limit = rng.randint(500, 5000)
    mean_distance = rng.randint(20, 90)
    seconds = write_times(mean_distance, salt)
    key_text = f"format_string('{rng.choice('KSUX')}%07d', id % {{keys}})"
    key = rng.choice((key_text, "xxhash64(id % {keys})", "id % {keys}"))
    time = rng.choice((seconds, f"timestamp_seconds({seconds})"))
    value = distribution.sql.format(fraction=draw_fraction(salt + 1))
    amount = f"CAST(floor({draw_fraction(salt + 2)} * {amount_limit}) AS BIGINT)"
    return SharedColumns(
        salt=salt,
        names=names,
        distribution=distribution,
        amount_limit=amount_limit,
        mean_distance=mean_distance,
        has_timestamps=time != seconds,
        key_and_time=(f"{key} AS {names['key']}", f"{time} AS {names['time']}"),
        key_and_time_in_text=(
            f"{key_text} AS {names['key']}",
            f"format_string('%012d', {seconds}) AS {names['time']}",
        ),
        value_and_amount=(
            f"round({value}, 2) AS {names['value']}",
            f"{amount} AS {names['amount']}",
        ),
    )


def draw_distributions(rng: Random) -> list[Distribution]:
    """Return three distributions with drawn numbers: even, bell-shaped, and many small values."""
    low = rng.randint(1, 100)
    span = rng.randint(50, 500)
    return [
        Distribution(f"{low} + {span} * {{fraction}}", lambda share: low + span * share),
        Distribution(
            f"{10 * span} + {low} * ln({{fraction}} / (1 - {{fraction}}))",
            lambda share: 10 * span + low * math.log(share / (1 - share)),
        ),
        Distribution(f"{low} * exp(4 * {{fraction}})", lambda share: low * math.exp(4 * share)),
    ]


def draw_rows_per_key(rng: Random) -> int:
    """Return the number of rows of each key of a table with keys of ordinary size."""
    return rng.randint(800, 3000)


def count_keys(rows: int, rows_per_key: int) -> int:
    """Return the number of keys of a table, at least 1."""
    return max(1, rows // rows_per_key)


def draw_table_names(rng: Random, tables: Mapping[str, DrawnTable]) -> DrawnTables:
    """Return tables with drawn names, and the names by their placeholders.

    Args:
        rng: the generator of the names.
        tables: the tables, by the placeholders of their names.
    """
    names = {placeholder: f"{placeholder}_{rng.randrange(1000)}" for placeholder in tables}
    return DrawnTables({names[placeholder]: table for placeholder, table in tables.items()}, names)


# Tables whose rows are independent of each other.


def draw_plain_tables(rng: Random, shared: SharedColumns, rows: int) -> DrawnTables:
    """Return the tables whose rows do not depend on other rows.

    They differ in the number of keys, the types of the key and the time, and the number of columns.
    """
    plain = shared.plain
    keys = count_keys(rows, draw_rows_per_key(rng))
    tiny_keys = count_keys(rows, rng.randint(8, 14))
    few_keys = rng.randint(4, 12)
    visits = draw_visits(rng, shared)
    tables = {
        "readings": DrawnTable(plain, rows, keys),
        "tiny": DrawnTable(plain, rows, tiny_keys),
        "few_keys": DrawnTable(plain, rows, few_keys, scales_keys=False),
        "in_text": DrawnTable((*shared.key_and_time_in_text, *shared.value_and_amount), rows, keys),
        "wide": DrawnTable((*plain, *write_unread_columns(shared.salt)), rows, keys),
        "visits": DrawnTable(visits.columns, rows, count_keys(rows, 100)),
    }
    named_tables = draw_table_names(rng, tables)
    replacements = {
        **visits.replacements,
        **named_tables.replacements,
        **draw_thresholds(rng, shared),
        **draw_spans(rng, shared),
        "rest": ", ".join(name_unread(index) for index in range(UNREAD_COLUMN_COUNT)),
    }
    return DrawnTables(named_tables.tables, replacements)


def draw_visits(rng: Random, shared: SharedColumns) -> DrawnColumns:
    """Return the columns of events of some users, half a minute apart.

    The time is in two columns: a timestamp, and a number of seconds.
    """
    steps = rng.choice(FUNNEL_STEPS)
    other_events = list(OTHER_EVENTS) * rng.randint(2, 4)
    events = [steps[0]] * rng.randint(3, 8) + [steps[1]] * 2 + [steps[2]] + other_events
    rng.shuffle(events)
    salt = shared.salt
    seconds = write_times(30, salt + 3)
    event_index = f"{draw_fraction(salt + 4)} * {len(events)}"
    columns = (
        f"format_string('U%07d', id % {{keys}}) AS {shared.names['key']}",
        f"timestamp_seconds({seconds}) AS {shared.names['time']}",
        f"{seconds} AS seconds",
        f"{choose_text(events, event_index)} AS {shared.names['event']}",
        f"CAST({draw_fraction(salt + 5)} * 500 AS INT) AS {shared.names['amount']}",
    )
    return DrawnColumns(columns, dict(zip(("first", "second", "third"), steps, strict=True)))


def write_unread_columns(salt: int) -> tuple[str, ...]:
    """Return SQL for columns of several types that no condition reads."""
    forms = (
        "{fraction} * 1000",
        "CAST({fraction} * 1e9 AS BIGINT)",
        "format_string('a note of %d', id % 9973)",
    )
    columns = []
    for index in range(UNREAD_COLUMN_COUNT):
        form = forms[index % len(forms)]
        value = form.format(fraction=draw_fraction(salt + 10 + index))
        columns.append(f"{value} AS {name_unread(index)}")
    return tuple(columns)


def name_unread(index: int) -> str:
    """Return the name of a column of a wide table that no condition reads."""
    return f"other_{index}"


def draw_thresholds(rng: Random, shared: SharedColumns) -> dict[str, str]:
    """Return thresholds and bounds of quantifiers as text, by their placeholders.

    Many values are below `low` and above `high`; few are below `least` and above `most`. Few
    amounts are below `few`.
    """
    find_value = shared.distribution.find_value
    rare = rng.uniform(0.02, 0.06)
    shares = {
        "least": rare,
        "most": 1 - rare,
        "low": rng.uniform(0.2, 0.4),
        "high": rng.uniform(0.7, 0.9),
        "nearly_all": rng.uniform(0.93, 0.98),
    }
    jump = (find_value(0.75) - find_value(0.25)) * rng.uniform(0.1, 0.4)
    return {
        **{placeholder: f"{find_value(share):.2f}" for placeholder, share in shares.items()},
        "jump": f"{jump:.2f}",
        "few": str(round(shared.amount_limit * rare)),
        "sum": str(20 * shared.amount_limit),
        "shortest": str(rng.randint(5, 12)),
        "longest": str(rng.randint(30, 60)),
    }


def draw_spans(rng: Random, shared: SharedColumns) -> dict[str, str]:
    """Return lengths of time as text, by their placeholders.

    The distance of most neighbouring rows is at most `near`, and the distance of nearly all of them
    is at most `pause`.
    """
    mean = shared.mean_distance
    # The distance of two neighbours has a triangular distribution from 0 to twice the mean. A share
    # of the distances is above the result.
    near, pause = (round(mean * (2 - math.sqrt(2 * share))) for share in (0.2, 0.03))
    minutes = rng.randint(20, 60)
    template = "INTERVAL '{}' SECOND" if shared.has_timestamps else "{}"
    return {
        "near": template.format(near),
        "pause": template.format(pause),
        "spell": template.format(5 * mean),
        "minutes": str(minutes),
        "bound": str(60 * minutes),
    }


# Tables whose rows depend on the rows before them.


def draw_run_tables(rng: Random, shared: SharedColumns, rows: int) -> DrawnTables:
    """Return the tables in which values last for some rows or are passed on to the next row."""
    names = {}
    tables = {}
    replacements: dict[str, str] = {}
    # For each table: the number of rows of a key, or None to draw it, and what draws the columns.
    for placeholder, fixed_rows_per_key, draw_columns in (
        ("states", None, draw_states),
        ("sign_ins", 10, draw_sign_ins),
        ("flights", None, draw_flights),
    ):
        names[placeholder] = f"{placeholder}_{rng.randrange(1000)}"
        keys = count_keys(rows, fixed_rows_per_key or draw_rows_per_key(rng))
        drawn_columns = draw_columns(rng, shared)
        columns = (*shared.key_and_time, *drawn_columns.columns)
        tables[names[placeholder]] = DrawnTable(columns, rows, keys)
        replacements.update(drawn_columns.replacements)
    return DrawnTables(tables, {**names, **replacements})


def draw_states(rng: Random, shared: SharedColumns) -> DrawnColumns:
    """Return columns: a state that lasts some rows, and a gauge that is stuck at times."""
    salt = shared.salt
    shorter, longer = rng.sample((5, 7, 11, 13), 2)
    state = hash_by_key(f"{EARLIER_ROWS} DIV {shorter}, {EARLIER_ROWS} DIV {longer}, {salt}L")
    block_hash = hash_by_key(f"{EARLIER_ROWS} DIV {rng.randint(7, 12)}, {salt}L")
    block = f"pmod({block_hash}, 100L)"
    is_stuck = f"{block} < {rng.randint(2, 8)}"
    gauge = f"IF({is_stuck}, {block}, pmod({hash_by_key(f'id, {salt}L')}, 100000L)) / 100"
    columns = (
        f"{choose_text_by_hash(rng.choice(STATES), state)} AS {shared.names['event']}",
        f"{gauge} AS {shared.names['value']}",
    )
    return DrawnColumns(columns, {})


def draw_sign_ins(rng: Random, shared: SharedColumns) -> DrawnColumns:
    """Return the column of sign-in events of an account; about half of them are failures."""
    failed = rng.choice(("failed", "refused"))
    passed = "passed"
    events = [failed] * rng.randint(3, 5) + [passed] * rng.randint(3, 5) + ["reset"]
    event = choose_text_by_hash(events, hash_by_key(f"id, {shared.salt}L"))
    columns = (f"{event} AS {shared.names['event']}",)
    return DrawnColumns(columns, {"failed": failed, "passed": passed})


def draw_flights(rng: Random, shared: SharedColumns) -> DrawnColumns:
    """Return the columns of flights, whose keys are aircraft.

    Most flights start where the aircraft landed before. Some delays last for several flights.
    """
    salt = shared.salt
    origin = rng.choice(("origin", "departed"))
    destination = rng.choice(("destination", "reached"))
    flight_hash = hash_by_key(f"id, {salt}L")
    delay_limit = rng.randint(30, 60)
    gap = f"IF(pmod({flight_hash}, {rng.randint(10, 30)}L) = 0, 7, 0)"
    block = hash_by_key(f"{EARLIER_ROWS} DIV {rng.randint(4, 6)}, {salt}L")
    is_passed_on = f"pmod({block}, 100L) < {rng.randint(10, 30)}"
    delay = f"pmod(IF({is_passed_on}, {block}, {flight_hash}), {delay_limit}L)"
    columns = (
        f"{write_port(gap, salt)} AS {origin}",
        f"{write_port('1', salt)} AS {destination}",
        f"{delay} AS {shared.names['value']}",
    )
    return DrawnColumns(columns, {"origin": origin, "destination": destination})


def write_port(flights_later: str, salt: int) -> str:
    """Return SQL for the airport where an aircraft is that many flights later."""
    port_hash = hash_by_key(f"{EARLIER_ROWS} + {flights_later}, {salt}L")
    return f"format_string('P%02d', pmod({port_hash}, {PORT_COUNT}L))"


# Tables with special keys.


def draw_key_tables(rng: Random, shared: SharedColumns, rows: int) -> DrawnTables:
    """Return the tables with very few keys, long keys, or two ORDER BY columns."""
    plain = shared.plain
    group_name = rng.choice(GROUP_NAMES)
    group = f"CAST({EARLIER_ROWS} DIV {rng.randint(300, 700)} AS INT) AS {group_name}"
    long_key = f"{write_uuid('id % {keys}', shared.salt)} AS {shared.names['key']}"
    grouped_keys = count_keys(rows, draw_rows_per_key(rng))
    tables = {
        "four_keys": DrawnTable(plain, rows, 4, scales_keys=False),
        "one_key": DrawnTable(plain, rows, 1, scales_keys=False),
        "long_keys": DrawnTable((long_key, *plain[1:]), rows, LONG_KEY_COUNT, scales_keys=False),
        "grouped": DrawnTable((*plain, group), rows, grouped_keys),
    }
    named_tables = draw_table_names(rng, tables)
    return DrawnTables(named_tables.tables, {**named_tables.replacements, "group": group_name})


# SQL for values.


def write_times(mean_distance: int, salt: int) -> str:
    """Return SQL for times in seconds that ascend with the rows of a key, without ties.

    Args:
        mean_distance: the mean distance of neighbouring times, in seconds.
        salt: each salt gives other distances.
    """
    delay = f"pmod(xxhash64(id, {salt}L), {mean_distance}L)"
    return f"{FIRST_TIME} + {EARLIER_ROWS} * {mean_distance} + {delay}"


def write_uuid(number: str, salt: int) -> str:
    """Return SQL for a text of 36 characters, in the form of a UUID, that a number determines."""
    digits = f"md5(CAST({number} + {salt}L AS STRING))"
    parts = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
    texts = ", ".join(f"substring({digits}, {start}, {length})" for start, length in parts)
    return f"concat_ws('-', {texts})"


def draw_fraction(salt: int) -> str:
    """Return SQL for a random number in (0, 1) for each row; each salt gives other numbers."""
    return f"((pmod(xxhash64(id, {salt}L), {FRACTION_COUNT}L) + 0.5D) / {FRACTION_COUNT})"


def hash_by_key(expressions: str) -> str:
    """Return SQL for a hash of the key and of other SQL expressions, with commas between them."""
    return f"xxhash64(id % {{keys}}, {expressions})"


def choose_text_by_hash(texts: Sequence[str], hash_sql: str) -> str:
    """Return SQL for the text whose index is the remainder of a hash."""
    return choose_text(texts, f"pmod({hash_sql}, {len(texts)}L)")


def choose_text(texts: Sequence[str], index: str) -> str:
    """Return SQL for the text with an index from 0, which is SQL, too, and is rounded down."""
    quoted_texts = ", ".join(f"'{text}'" for text in texts)
    return f"element_at(array({quoted_texts}), CAST({index} AS INT) + 1)"
