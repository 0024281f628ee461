"""Kinds of queries over fresh random data, each with equivalent window SQL if there is any.

A seed chooses names, types, distributions, thresholds and numbers of keys (`drawn_tables`). A
kind fixes the row pattern, what its conditions read, and how often they hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.benchmarks import by_hand, kinds_by_hand
from tests.benchmarks.drawn_tables import DrawnTables
from tests.benchmarks.workloads import Workload, write_clause


@dataclass(frozen=True)
class Kind:
    """A kind of query.

    Its texts have placeholders, such as `{value}`, for the replacements of `DrawnTables`.
    """

    name: str
    table: str  # placeholder of the table's name
    query: str
    aim: float  # see `Workload.aim`
    by_window: str | None = None
    order: str | None = None  # column of ORDER BY, if it is not `{time}`
    first_order: str = ""  # a column before it in ORDER BY

    def workload(self, drawn: DrawnTables) -> Workload:
        """Return the workload, with the texts of a seed instead of the placeholders."""
        table = drawn.replacements[self.table]
        replacements = {**drawn.replacements, "table": table}
        replacements["time"] = self.order or replacements["time"]
        order = [name for name in (self.first_order, "{time}") if name]
        query = f"PARTITION BY {{key}} ORDER BY {', '.join(order)} {self.query}"
        by_window = None if self.by_window is None else self.by_window.format_map(replacements)
        # ALL ROWS PER MATCH returns every column, so the identity must read every column too.
        reads_all = "ALL ROWS PER MATCH" in query
        read_columns = [] if reads_all else [name for name in COLUMNS if f"{{{name}}}" in query]
        return Workload(
            self.name,
            table,
            write_clause(table, query.format_map(replacements)),
            self.aim,
            (replacements["key"],),
            tuple(name.format_map(replacements) for name in order),
            by_window,
            reads=tuple(replacements[name] for name in read_columns),
        )


# The placeholders that stand for columns.
COLUMNS = ("key", "group", "time", "value", "amount", "event", "origin", "destination")


def list_kinds(drawn: DrawnTables) -> Iterator[Workload]:
    """Yield every kind as a workload over the tables of a seed."""
    for kind in KINDS:
        yield kind.workload(drawn)


FIXED_ROWS = """MEASURES A.{time} AS a, B.{time} AS b, C.{time} AS c AFTER MATCH SKIP TO NEXT ROW
  PATTERN (A B C) DEFINE A AS {value} > {most}, B AS {amount} < {few}, C AS {value} < {least}"""
SHAPE = (
    "PATTERN (STRT DOWN+ UP+) DEFINE DOWN AS {value} < PREV({value}), UP AS {value} > PREV({value})"
)
VSHAPE = f"""MEASURES STRT.{{time}} AS start_ts, LAST(DOWN.{{time}}) AS bottom_ts,
    LAST(UP.{{time}}) AS end_ts, LAST(DOWN.{{value}}) AS bottom
  {SHAPE}"""
LOW_HIGH = "PATTERN (LOW+ HIGH) DEFINE LOW AS {value} < {low}, HIGH AS {value} > {high}"
RUNS = f"""MEASURES FIRST(LOW.{{time}}) AS s, HIGH.{{time}} AS e, count(LOW.*) AS n,
    sum(LOW.{{amount}}) AS total
  {LOW_HIGH}"""
EVENTS = """MEASURES V.{time} AS view_ts, C.{time} AS cart_ts, P.{time} AS purchase_ts
  PATTERN (V X*? C Y*? P) """
NAMED = "V AS {event} = '{first}', C AS {event} = '{second}'%s, P AS {event} = '{third}'%s"
BOUNDED = f"""{EVENTS}
  DEFINE X AS %s, Y AS %s, {NAMED}"""


def bound_funnel(bound: str) -> str:
    """Return the funnel with a bound in the condition of every variable.

    Args:
        bound: a condition in which NAME is replaced by the variable.
    """
    x_bound, y_bound, c_bound, p_bound = (bound.replace("NAME", name) for name in "XYCP")
    return BOUNDED % (x_bound, y_bound, f" AND {c_bound}", f" AND {p_bound}")


FUNNEL = by_hand.FUNNEL.replace("{within}", "< {time} + INTERVAL '{minutes}' MINUTE")

KINDS = (
    Kind("A B C, few matches", "readings", FIXED_ROWS, 0.75, kinds_by_hand.FIXED),
    Kind(
        "A B C D by neighbours",
        "readings",
        """MEASURES A.{time} AS s, D.{time} AS e, D.{value} - A.{value} AS rise
  AFTER MATCH SKIP TO LAST D PATTERN (A B C D)
  DEFINE B AS {value} > PREV({value}) + {jump} AND {time} - PREV({time}) <= {near},
    C AS {value} > PREV({value}) + {jump} AND {time} - PREV({time}) <= {near},
    D AS {value} < PREV({value}) - {jump} AND {time} - PREV({time}) <= {near}""",
        0.85,
        kinds_by_hand.STEPS,
    ),
    Kind("A B C, four keys", "four_keys", FIXED_ROWS, 0.75, kinds_by_hand.FIXED),
    Kind("LOW+ HIGH, count and sum", "readings", RUNS, 0.75, kinds_by_hand.RUNS),
    Kind("LOW+ HIGH, few keys", "few_keys", RUNS, 0.75, kinds_by_hand.RUNS),
    Kind("LOW+ HIGH, tiny partitions", "tiny", RUNS, 0.75, kinds_by_hand.RUNS),
    Kind(
        "LOW+ HIGH, ALL ROWS",
        "readings",
        f"MEASURES CLASSIFIER() AS c, FIRST(LOW.{{time}}) AS s ALL ROWS PER MATCH {LOW_HIGH}",
        1.0,
        kinds_by_hand.RUNS_ALL_ROWS,
    ),
    Kind(
        "LOW+ HIGH, ALL ROWS of 30 columns",
        "wide",
        f"MEASURES CLASSIFIER() AS c, FIRST(LOW.{{time}}) AS s ALL ROWS PER MATCH {LOW_HIGH}",
        1.0,
        kinds_by_hand.RUNS_ALL_ROWS_WIDE,
    ),
    Kind("V-shape", "readings", VSHAPE, 0.75, by_hand.VSHAPE),
    Kind("V-shape, few keys", "few_keys", VSHAPE, 0.75, by_hand.VSHAPE),
    Kind("V-shape, one key", "one_key", VSHAPE, 0.75, by_hand.VSHAPE),
    Kind("V-shape, 200 long text keys", "long_keys", VSHAPE, 0.75, by_hand.VSHAPE),
    Kind(
        "V-shape, ORDER BY of two columns",
        "grouped",
        VSHAPE,
        0.75,
        kinds_by_hand.VSHAPE_OF_TWO,
        first_order="{group}",
    ),
    Kind("V-shape, tiny partitions", "tiny", VSHAPE, 0.75, by_hand.VSHAPE),
    Kind("V-shape, key and order in text", "in_text", VSHAPE, 0.75, by_hand.VSHAPE),
    Kind("V-shape, 30 columns", "wide", VSHAPE, 0.75, by_hand.VSHAPE),
    Kind(
        "V-shape, ALL ROWS",
        "readings",
        f"""MEASURES CLASSIFIER() AS c, MATCH_NUMBER() AS m, sum({{amount}}) AS total
  ALL ROWS PER MATCH {SHAPE}""",
        1.0,
    ),
    Kind(
        "W-shape",
        "readings",
        """MEASURES STRT.{time} AS s, LAST(DOWN.{value}) AS bottom, LAST(UP.{time}) AS middle,
    LAST(AGAIN.{value}) AS next_bottom, LAST(BACK.{time}) AS e
  AFTER MATCH SKIP TO LAST BACK PATTERN (STRT DOWN+ UP+ AGAIN+ BACK+)
  DEFINE DOWN AS {value} < PREV({value}), UP AS {value} > PREV({value}),
    AGAIN AS {value} < PREV({value}), BACK AS {value} > PREV({value})""",
        0.85,
        kinds_by_hand.WSHAPE,
    ),
    Kind(
        "funnel, WITHIN",
        "visits",
        f"{EVENTS} WITHIN INTERVAL '{{minutes}}' MINUTE DEFINE {NAMED % ('', '')}",
        0.5,
        FUNNEL,
    ),
    Kind(
        "funnel, bounds of times",
        "visits",
        bound_funnel("NAME.{time} < V.{time} + INTERVAL '{minutes}' MINUTE"),
        0.5,
        FUNNEL,
    ),
    Kind(
        "funnel, bounds of numbers",
        "visits",
        bound_funnel("NAME.{time} - V.{time} <= {bound}"),
        0.5,
        by_hand.FUNNEL.replace("{within}", "- {time} <= {bound}"),
        order="seconds",
    ),
    Kind(
        "funnel, conditions between",
        "visits",
        f"""{EVENTS.replace("*?", "*")} WITHIN INTERVAL '{{minutes}}' MINUTE
  DEFINE X AS {{event}} <> '{{second}}', Y AS {{event}} <> '{{third}}', {NAMED % ("", "")}""",
        0.5,
        FUNNEL,
    ),
    Kind(
        "sessions",
        "readings",
        """MEASURES FIRST({time}) AS s, LAST({time}) AS e, count(*) AS n, sum({amount}) AS total
  PATTERN (A B*) DEFINE B AS {time} - PREV({time}) <= {pause}""",
        0.85,
        kinds_by_hand.SESSIONS,
    ),
    Kind(
        "islands of equal states",
        "states",
        """MEASURES A.{time} AS s, LAST({time}) AS e, A.{event} AS state, count(*) AS n
  PATTERN (A B*) DEFINE B AS {event} = PREV({event})""",
        0.75,
        kinds_by_hand.ISLANDS,
    ),
    Kind(
        "stuck gauge",
        "states",
        """MEASURES A.{time} AS s, LAST({time}) AS e, A.{value} AS shown, count(*) AS n
  PATTERN (A B{{5,}}) DEFINE B AS {value} = PREV({value})""",
        0.75,
        kinds_by_hand.STUCK,
    ),
    Kind(
        "four failures, then success",
        "sign_ins",
        """MEASURES FIRST(F.{time}) AS s, S.{time} AS e PATTERN (F{{4}} S)
  DEFINE F AS {event} = '{failed}',
    S AS {event} = '{passed}' AND {time} - FIRST(F.{time}) <= {spell}""",
        0.75,
        kinds_by_hand.SIGN_INS,
    ),
    Kind(
        "hysteresis",
        "readings",
        """MEASURES FIRST(HI.{time}) AS s, LO.{time} AS e, count(HI.*) AS n
  PATTERN (HI+ MID* LO)
  DEFINE HI AS {value} > {high}, MID AS {value} BETWEEN {low} AND {high}, LO AS {value} < {low}""",
        0.75,
        kinds_by_hand.HYSTERESIS,
    ),
    Kind(
        "rotations that pass a delay on",
        "flights",
        """MEASURES A.{time} AS s, LAST(B.{time}) AS e, A.{value} AS delay, count(*) AS n
  PATTERN (A B{{2,}}) DEFINE B AS {origin} = PREV({destination}) AND {value} >= PREV({value})""",
        0.75,
        kinds_by_hand.ROTATIONS,
    ),
    Kind(
        "A B C D that overlap",
        "readings",
        """MEASURES A.{time} AS s, D.{time} AS e, C.{amount} AS amount AFTER MATCH SKIP TO NEXT ROW
  PATTERN (A B C D)
  DEFINE A AS {value} > {high}, B AS {value} < {high}, C AS {value} < {low},
    D AS {amount} >= {few}""",
        0.75,
        kinds_by_hand.OVERLAPS,
    ),
    Kind(
        "long bounded quantifier",
        "readings",
        """MEASURES B.{time} AS e, LAST(A.{time}) AS last_a, count(A.*) AS n
  PATTERN (A{{{shortest},{longest}}} B)
  DEFINE A AS {value} < {nearly_all}, B AS {value} >= {nearly_all} AND {amount} >= {few}""",
        0.85,
        kinds_by_hand.LONG,
    ),
    Kind(
        "navigation on the run",
        "readings",
        """MEASURES A.{time} AS s, LAST(B.{time}) AS e, C.{value} AS x
  PATTERN (A B+ C)
  DEFINE B AS B.{value} > FIRST(A.{value}) - {jump} AND sum(B.{amount}) < {sum},
    C AS C.{value} < A.{value} - {jump}""",
        1.0,
    ),
)
