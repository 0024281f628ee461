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
    """A kind of query. Its texts have placeholders, such as `{x}`, for the words of `Drawn`."""

    name: str
    table: str  # key of the table's name among the words
    query: str
    aim: float  # see `Workload.aim`
    by_window: str | None = None
    order: str | None = None  # column of ORDER BY, if it is not `{t}` of the words
    first_order: str = ""  # a column before it in ORDER BY

    def workload(self, drawn: DrawnTables) -> Workload:
        """Return the workload with the words of a seed in place of the placeholders."""
        table = drawn.words[self.table]
        words = {**drawn.words, "table": table}
        words["t"] = self.order or words["t"]
        order = [name for name in (self.first_order, "{t}") if name]
        query = f"PARTITION BY {{k}} ORDER BY {', '.join(order)} {self.query}"
        by_window = None if self.by_window is None else self.by_window.format_map(words)
        # ALL ROWS PER MATCH returns every column, so the identity must read every column too.
        reads_all = "ALL ROWS PER MATCH" in query
        read_words = [] if reads_all else [word for word in COLUMNS if f"{{{word}}}" in query]
        return Workload(
            self.name,
            table,
            write_clause(table, query.format_map(words)),
            self.aim,
            (words["k"],),
            tuple(name.format_map(words) for name in order),
            by_window,
            reads=tuple(words[word] for word in read_words),
        )


COLUMNS = "kgtxyeod"  # the words that name columns, one letter each


def list_kinds(drawn: DrawnTables) -> Iterator[Workload]:
    """Yield every kind as a workload over the tables of a seed."""
    for kind in KINDS:
        yield kind.workload(drawn)


FIXED_ROWS = """MEASURES A.{t} AS a, B.{t} AS b, C.{t} AS c AFTER MATCH SKIP TO NEXT ROW
  PATTERN (A B C) DEFINE A AS {x} > {most}, B AS {y} < {few}, C AS {x} < {least}"""
SHAPE = "PATTERN (STRT DOWN+ UP+) DEFINE DOWN AS {x} < PREV({x}), UP AS {x} > PREV({x})"
VSHAPE = f"""MEASURES STRT.{{t}} AS start_ts, LAST(DOWN.{{t}}) AS bottom_ts,
    LAST(UP.{{t}}) AS end_ts, LAST(DOWN.{{x}}) AS bottom
  {SHAPE}"""
LOW_HIGH = "PATTERN (LOW+ HIGH) DEFINE LOW AS {x} < {low}, HIGH AS {x} > {high}"
RUNS = f"""MEASURES FIRST(LOW.{{t}}) AS s, HIGH.{{t}} AS e, count(LOW.*) AS n,
    sum(LOW.{{y}}) AS total
  {LOW_HIGH}"""
EVENTS = """MEASURES V.{t} AS view_ts, C.{t} AS cart_ts, P.{t} AS purchase_ts
  PATTERN (V X*? C Y*? P) """
NAMED = "V AS {e} = '{first}', C AS {e} = '{second}'%s, P AS {e} = '{third}'%s"
BOUNDED = f"""{EVENTS}
  DEFINE X AS %s, Y AS %s, {NAMED}"""


def bound_funnel(bound: str) -> str:
    """Return the funnel with a bound in the condition of every variable.

    Args:
        bound: a condition in which NAME is replaced by the variable.
    """
    x_bound, y_bound, c_bound, p_bound = (bound.replace("NAME", name) for name in "XYCP")
    return BOUNDED % (x_bound, y_bound, f" AND {c_bound}", f" AND {p_bound}")


FUNNEL = by_hand.FUNNEL.replace("{within}", "< {t} + INTERVAL '{minutes}' MINUTE")

KINDS = (
    Kind("A B C, few matches", "readings", FIXED_ROWS, 0.75, kinds_by_hand.FIXED),
    Kind(
        "A B C D by neighbours",
        "readings",
        """MEASURES A.{t} AS s, D.{t} AS e, D.{x} - A.{x} AS rise
  AFTER MATCH SKIP TO LAST D PATTERN (A B C D)
  DEFINE B AS {x} > PREV({x}) + {jump} AND {t} - PREV({t}) <= {near},
    C AS {x} > PREV({x}) + {jump} AND {t} - PREV({t}) <= {near},
    D AS {x} < PREV({x}) - {jump} AND {t} - PREV({t}) <= {near}""",
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
        f"MEASURES CLASSIFIER() AS c, FIRST(LOW.{{t}}) AS s ALL ROWS PER MATCH {LOW_HIGH}",
        1.0,
        kinds_by_hand.RUNS_ALL_ROWS,
    ),
    Kind(
        "LOW+ HIGH, ALL ROWS of 30 columns",
        "wide",
        f"MEASURES CLASSIFIER() AS c, FIRST(LOW.{{t}}) AS s ALL ROWS PER MATCH {LOW_HIGH}",
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
        first_order="{g}",
    ),
    Kind("V-shape, tiny partitions", "tiny", VSHAPE, 0.75, by_hand.VSHAPE),
    Kind("V-shape, key and order in text", "in_text", VSHAPE, 0.75, by_hand.VSHAPE),
    Kind("V-shape, 30 columns", "wide", VSHAPE, 0.75, by_hand.VSHAPE),
    Kind(
        "V-shape, ALL ROWS",
        "readings",
        f"""MEASURES CLASSIFIER() AS c, MATCH_NUMBER() AS m, sum({{y}}) AS total
  ALL ROWS PER MATCH {SHAPE}""",
        1.0,
    ),
    Kind(
        "W-shape",
        "readings",
        """MEASURES STRT.{t} AS s, LAST(DOWN.{x}) AS bottom, LAST(UP.{t}) AS middle,
    LAST(AGAIN.{x}) AS next_bottom, LAST(BACK.{t}) AS e
  AFTER MATCH SKIP TO LAST BACK PATTERN (STRT DOWN+ UP+ AGAIN+ BACK+)
  DEFINE DOWN AS {x} < PREV({x}), UP AS {x} > PREV({x}),
    AGAIN AS {x} < PREV({x}), BACK AS {x} > PREV({x})""",
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
        bound_funnel("NAME.{t} < V.{t} + INTERVAL '{minutes}' MINUTE"),
        0.5,
        FUNNEL,
    ),
    Kind(
        "funnel, bounds of numbers",
        "visits",
        bound_funnel("NAME.{t} - V.{t} <= {bound}"),
        0.5,
        by_hand.FUNNEL.replace("{within}", "- {t} <= {bound}"),
        order="seconds",
    ),
    Kind(
        "funnel, conditions between",
        "visits",
        f"""{EVENTS.replace("*?", "*")} WITHIN INTERVAL '{{minutes}}' MINUTE
  DEFINE X AS {{e}} <> '{{second}}', Y AS {{e}} <> '{{third}}', {NAMED % ("", "")}""",
        0.5,
        FUNNEL,
    ),
    Kind(
        "sessions",
        "readings",
        """MEASURES FIRST({t}) AS s, LAST({t}) AS e, count(*) AS n, sum({y}) AS total
  PATTERN (A B*) DEFINE B AS {t} - PREV({t}) <= {pause}""",
        0.85,
        kinds_by_hand.SESSIONS,
    ),
    Kind(
        "islands of equal states",
        "states",
        """MEASURES A.{t} AS s, LAST({t}) AS e, A.{e} AS state, count(*) AS n
  PATTERN (A B*) DEFINE B AS {e} = PREV({e})""",
        0.75,
        kinds_by_hand.ISLANDS,
    ),
    Kind(
        "stuck gauge",
        "states",
        """MEASURES A.{t} AS s, LAST({t}) AS e, A.{x} AS shown, count(*) AS n
  PATTERN (A B{{5,}}) DEFINE B AS {x} = PREV({x})""",
        0.75,
        kinds_by_hand.STUCK,
    ),
    Kind(
        "four failures, then success",
        "sign_ins",
        """MEASURES FIRST(F.{t}) AS s, S.{t} AS e PATTERN (F{{4}} S)
  DEFINE F AS {e} = '{failed}', S AS {e} = '{passed}' AND {t} - FIRST(F.{t}) <= {spell}""",
        0.75,
        kinds_by_hand.SIGN_INS,
    ),
    Kind(
        "hysteresis",
        "readings",
        """MEASURES FIRST(HI.{t}) AS s, LO.{t} AS e, count(HI.*) AS n
  PATTERN (HI+ MID* LO)
  DEFINE HI AS {x} > {high}, MID AS {x} BETWEEN {low} AND {high}, LO AS {x} < {low}""",
        0.75,
        kinds_by_hand.HYSTERESIS,
    ),
    Kind(
        "rotations that pass a delay on",
        "flights",
        """MEASURES A.{t} AS s, LAST(B.{t}) AS e, A.{x} AS delay, count(*) AS n
  PATTERN (A B{{2,}}) DEFINE B AS {o} = PREV({d}) AND {x} >= PREV({x})""",
        0.75,
        kinds_by_hand.ROTATIONS,
    ),
    Kind(
        "A B C D that overlap",
        "readings",
        """MEASURES A.{t} AS s, D.{t} AS e, C.{y} AS amount AFTER MATCH SKIP TO NEXT ROW
  PATTERN (A B C D)
  DEFINE A AS {x} > {high}, B AS {x} < {high}, C AS {x} < {low}, D AS {y} >= {few}""",
        0.75,
        kinds_by_hand.OVERLAPS,
    ),
    Kind(
        "long bounded quantifier",
        "readings",
        """MEASURES B.{t} AS e, LAST(A.{t}) AS last_a, count(A.*) AS n
  PATTERN (A{{{shortest},{longest}}} B)
  DEFINE A AS {x} < {nearly_all}, B AS {x} >= {nearly_all} AND {y} >= {few}""",
        0.85,
        kinds_by_hand.LONG,
    ),
    Kind(
        "navigation on the run",
        "readings",
        """MEASURES A.{t} AS s, LAST(B.{t}) AS e, C.{x} AS x
  PATTERN (A B+ C)
  DEFINE B AS B.{x} > FIRST(A.{x}) - {jump} AND sum(B.{y}) < {sum}, C AS C.{x} < A.{x} - {jump}""",
        1.0,
    ),
)
