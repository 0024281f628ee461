"""SQL MATCH_RECOGNIZE, row pattern recognition, for Apache Spark.

    matchrec.sql(spark, query)                 a query text, as spark.sql takes it
    matchrec.install(spark)                    spark.sql understands the clause from now on
    matchrec.match_recognize(df, clause)       the text between the parentheses, over a DataFrame
    matchrec.rows_of(result)                   the rows of MATCHED_ROWS(), one row each
    matchrec.sase(df, text, order_by=...)      a SASE+ query over a DataFrame of events
    matchrec.Pattern.begin("a").next("b")...   an event pattern, built by calls
    matchrec.detect(df, pattern, order_by=...) its matches over a DataFrame of events
    matchrec.AfterMatch.SKIP_TO_NEXT           where the search resumes after a match
    matchrec.match_all(df, {"name": rule}, ...) many rules of all three languages in one pass
    matchrec.unwind(graph)                     the matches of its compressed form
    matchrec.explain(spark, query)             what a query compiles to, and how it will run
    matchrec.explain_sase(df, text, ...)       the same of a SASE+ query
    matchrec.explain_pattern(df, pattern, ...) the same of a pattern
    matchrec.why(spark, query, partition=...)  why its clause did not match there, row by row
    matchrec.why_clause(df, clause), why_sase(df, text, ...), why_pattern(df, pattern, ...)
    matchrec.convert(text, read=..., write=...) a query of Snowflake, Oracle, ..., SASE+ in another
    matchrec.coverage(spark, query)            how far starting rows come, and what ends them
    matchrec.coverage_sase(df, text, ...), coverage_pattern(df, pattern, ...)
    matchrec.Counters()                        what a query's matching costs, once it has run
    matchrec.progress(spark)                   how far the queries are that run inside
    matchrec.plot(matches, data, x=..., y=...) matches drawn over the rows they were found in

In a notebook, `%load_ext matchrec` makes `%%matchrec` known.

The names are loaded on first use: a Spark worker, which needs none of them, starts without sqlglot.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from matchrec.loading import without_collector

if TYPE_CHECKING:
    from matchrec.api.convert import Conversion, convert
    from matchrec.api.install import install, uninstall
    from matchrec.api.patterns import detect, explain_pattern
    from matchrec.api.questions.coverage import coverage, coverage_pattern, coverage_sase
    from matchrec.api.questions.why import why, why_clause, why_pattern, why_sase
    from matchrec.api.rule_sets.match_all import match_all
    from matchrec.api.rule_sets.result import RuleMatches
    from matchrec.api.sase import explain_sase, sase, unwind
    from matchrec.api.sql import explain, match_recognize, rows_of, sql
    from matchrec.charts.plot import plot
    from matchrec.errors import (
        MatchRecognizeError,
        MatchRecognizeParseError,
        MatchRecognizePlanError,
        MatchRecognizeRunError,
        MatchRecognizeUnsupportedError,
    )
    from matchrec.errors.warnings.wording import (
        AnyRowsWarning,
        EmptyMatchesWarning,
        MatchRecognizeWarning,
        NeverTrueWarning,
        NoConditionsWarning,
        NoOrderWarning,
        ProductWarning,
        ReluctantEndWarning,
        SameValueWarning,
        SkippedRowWarning,
        UnboundedStateWarning,
    )
    from matchrec.explanation import Explanation
    from matchrec.explanation.coverage import Coverage
    from matchrec.frontends.pattern import AfterMatch, Pattern
    from matchrec.spark.actions import progress
    from matchrec.spark.counters import Counters
    from matchrec.tracing.why import Why

__all__ = [
    "AfterMatch",
    "AnyRowsWarning",
    "Conversion",
    "Counters",
    "Coverage",
    "EmptyMatchesWarning",
    "Explanation",
    "MatchRecognizeError",
    "MatchRecognizeParseError",
    "MatchRecognizePlanError",
    "MatchRecognizeRunError",
    "MatchRecognizeUnsupportedError",
    "MatchRecognizeWarning",
    "NeverTrueWarning",
    "NoConditionsWarning",
    "NoOrderWarning",
    "Pattern",
    "ProductWarning",
    "ReluctantEndWarning",
    "RuleMatches",
    "SameValueWarning",
    "SkippedRowWarning",
    "UnboundedStateWarning",
    "Why",
    "convert",
    "coverage",
    "coverage_pattern",
    "coverage_sase",
    "detect",
    "explain",
    "explain_pattern",
    "explain_sase",
    "install",
    "match_all",
    "match_recognize",
    "plot",
    "progress",
    "rows_of",
    "sase",
    "sql",
    "uninstall",
    "unwind",
    "why",
    "why_clause",
    "why_pattern",
    "why_sase",
]


_HOMES = {
    "matchrec.api.convert": ("Conversion", "convert"),
    "matchrec.api.questions.coverage": ("coverage", "coverage_pattern", "coverage_sase"),
    "matchrec.api.install": ("install", "uninstall"),
    "matchrec.api.patterns": ("detect", "explain_pattern"),
    "matchrec.charts.plot": ("plot",),
    "matchrec.api.rule_sets.match_all": ("match_all",),
    "matchrec.api.rule_sets.result": ("RuleMatches",),
    "matchrec.api.sase": ("explain_sase", "sase", "unwind"),
    "matchrec.api.sql": ("explain", "match_recognize", "rows_of", "sql"),
    "matchrec.errors.warnings.wording": tuple(one for one in __all__ if one.endswith("Warning")),
    "matchrec.api.questions.why": ("why", "why_clause", "why_pattern", "why_sase"),
    "matchrec.explanation": ("Explanation",),
    "matchrec.explanation.coverage": ("Coverage",),
    "matchrec.frontends.pattern": ("AfterMatch", "Pattern"),
    "matchrec.spark.counters": ("Counters",),
    "matchrec.spark.actions": ("progress",),
    "matchrec.tracing.why": ("Why",),
}


def __getattr__(name: str) -> Any:
    """A public name, from the module that has it: nothing is loaded before it is used."""
    if name == "__version__":
        from importlib.metadata import version

        return version("matchrec")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    homes = (home for home, names in _HOMES.items() if name in names)
    with without_collector():
        home = import_module(next(homes, "matchrec.errors"))
    return getattr(home, name)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext matchrec` in a notebook: see `matchrec.notebook`."""
    from matchrec.notebook.extension import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext matchrec`."""
    from matchrec.notebook.extension import unload

    unload(shell)


def __dir__() -> list[str]:
    return sorted((*__all__, "__version__"))
