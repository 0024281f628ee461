"""SQL MATCH_RECOGNIZE, row pattern recognition, for Apache Spark.

    matchrec.session()                         a session, where there is none: on Sail or Spark

    matchrec.sql(spark, query)                 a query text, as spark.sql takes it
    matchrec.match_recognize(df, clause)       the text between the parentheses, over a DataFrame
    matchrec.sase(df, text, order_by=...)      a SASE+ query over a DataFrame of events
    matchrec.detect(df, pattern, order_by=...) a Pattern, built by calls, over a DataFrame of events
    matchrec.match_rules(df, {"name": rule}, ...) many rules of all three languages in one pass
    matchrec.sweep(df, clause, {"days": [...]}) one clause with many values of its markers
    matchrec.install(spark)                    spark.sql understands the clause from now on

    matchrec.query(...)                        one of the first four, before it runs
        .dataframe()                           what it gives
        .aggregate(...)                        how many matches there are, without building them
        .explain(), .why(...), .coverage()     how it runs, why it matches or not, how far rows come
        .against(labels, ...)                  which labelled incidents it hits, and false alarms
        .plot(x=..., y=...)                    its matches drawn over the rows they were found in
        .to_sql(...)                            the query in the SQL of a product

    matchrec.Options(algorithm=..., sort=...)     how a query is run
    matchrec.Pattern.begin("a").next("b")...   an event pattern, built by calls
    matchrec.rows_of(result)                   the rows of MATCHED_ROWS(), one row each
    matchrec.unwind(graph)                     the matches of the compressed form of SASE+
    matchrec.convert(text, read=..., write=...) Snowflake, Oracle, ..., SASE+ as SQL of a product
    matchrec.Counters()                        what a query's matching costs, once it has run
    matchrec.progress(spark)                   how far the queries are that run inside
    matchrec.tune(spark)                       two settings that make a session's queries faster
    matchrec.warnings                          the classes of warnings

In a notebook, `%load_ext matchrec` makes `%%matchrec` known.

The names are loaded on first use: a Spark worker, which needs none of them, starts without sqlglot.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from matchrec.loading import naming_extra, without_collector

if TYPE_CHECKING:
    from matchrec import warnings as warnings
    from matchrec.api.convert import convert as convert
    from matchrec.api.events import detect as detect
    from matchrec.api.events import sase as sase
    from matchrec.api.events import unwind as unwind
    from matchrec.api.query import Query as Query
    from matchrec.api.rules import RuleMatches as RuleMatches
    from matchrec.api.rules import match_rules as match_rules
    from matchrec.api.sql import install as install
    from matchrec.api.sql import match_recognize as match_recognize
    from matchrec.api.sql import query as query
    from matchrec.api.sql import rows_of as rows_of
    from matchrec.api.sql import sql as sql
    from matchrec.api.sql import uninstall as uninstall
    from matchrec.api.sweep import sweep as sweep
    from matchrec.charts.backtest import Backtest as Backtest
    from matchrec.charts.sweep import Sweep as Sweep
    from matchrec.errors import MatchRecognizeError as MatchRecognizeError
    from matchrec.errors import MatchRecognizeParseError as MatchRecognizeParseError
    from matchrec.errors import MatchRecognizePlanError as MatchRecognizePlanError
    from matchrec.errors import MatchRecognizeRunError as MatchRecognizeRunError
    from matchrec.errors import MatchRecognizeUnsupportedError as MatchRecognizeUnsupportedError
    from matchrec.explanation import Explanation as Explanation
    from matchrec.explanation.coverage import Coverage as Coverage
    from matchrec.frontends.pattern.builder import AfterMatch as AfterMatch
    from matchrec.frontends.pattern.builder import Pattern as Pattern
    from matchrec.spark.actions import progress as progress
    from matchrec.spark.counters import Counters as Counters
    from matchrec.spark.environment import tune as tune
    from matchrec.spark.question import Options as Options
    from matchrec.spark.sail.start import session as session
    from matchrec.tracing.why import Why as Why

_ERRORS = ("", "Parse", "Plan", "Run", "Unsupported")
_HOMES = {
    "matchrec.api.convert": ("convert",),
    "matchrec.api.events": ("detect", "sase", "unwind"),
    "matchrec.api.query": ("Query",),
    "matchrec.api.rules": ("RuleMatches", "match_rules"),
    "matchrec.api.sql": ("install", "match_recognize", "query", "rows_of", "sql", "uninstall"),
    "matchrec.spark.sail.start": ("session",),
    "matchrec.api.sweep": ("sweep",),
    "matchrec.charts.backtest": ("Backtest",),
    "matchrec.charts.sweep": ("Sweep",),
    "matchrec.errors": tuple(f"MatchRecognize{kind}Error" for kind in _ERRORS),
    "matchrec.explanation": ("Explanation",),
    "matchrec.explanation.coverage": ("Coverage",),
    "matchrec.frontends.pattern.builder": ("AfterMatch", "Pattern"),
    "matchrec.spark.actions": ("progress",),
    "matchrec.spark.counters": ("Counters",),
    "matchrec.spark.question": ("Options",),
    "matchrec.spark.environment": ("tune",),
    "matchrec.tracing.why": ("Why",),
}

__all__ = [name for names in _HOMES.values() for name in names]


def __getattr__(name: str) -> Any:
    """A public name, from the module that has it: nothing is loaded before it is used."""
    if name == "__version__":
        from importlib.metadata import version

        return version("matchrec")
    if name == "warnings":  # not in __all__: the library has a module of this name, too
        return import_module("matchrec.warnings")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with without_collector(), naming_extra():
        home = import_module(next(home for home, names in _HOMES.items() if name in names))
    found = globals()[name] = getattr(home, name)
    return found


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext matchrec` in a notebook: see `matchrec.notebook`."""
    from matchrec.notebook.magic import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext matchrec`."""
    from matchrec.notebook.magic import unload

    unload(shell)


def __dir__() -> list[str]:
    return sorted((*__all__, "__version__", "warnings"))
