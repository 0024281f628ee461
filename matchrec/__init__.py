"""SQL MATCH_RECOGNIZE, row pattern recognition, for Apache Spark.

    matchrec.session()                       return the running session, or start one
    matchrec.sql(spark, query)               run a query with the clause, as spark.sql would
    matchrec.match_recognize(df, clause)     run a clause, the text in the parentheses
    matchrec.match_sase(df, text, ...)       run a SASE+ query over a DataFrame of events
    matchrec.match_pattern(df, pattern, ...) find a Pattern in a DataFrame of events
    matchrec.match_rules(df, rules, ...)     run many rules of all three languages in one pass
    matchrec.sweep(df, clause, grid)         run one clause with many values of its parameters
    matchrec.enable(spark)                   let spark.sql understand the clause
    matchrec.serve(spark)                    let Spark Connect clients in any language use it
    matchrec.query(...)                      a query that has not run: SQL, SASE+ or a Pattern
        .to_df(), .show(), .collect()        its rows
        .aggregate(...)                      aggregates over all matches, without building them
        .explain(), .why(...), .coverage()   how it runs, why rows match or not, how far rows get
        .backtest(labels, ...)               which labelled incidents it hits, and false alarms
        .plot(x=..., y=...)                  its matches drawn over the rows of the input
        .to_sql(...)                         the query in the SQL of a product
    matchrec.Options(algorithm=..., ...)     how a query runs
    matchrec.Pattern.begin("a").next("b")    an event pattern, built by calls
    matchrec.explode_matches(df)             a row for each row of MATCHED_ROWS()
    matchrec.explode_graph(df)               the matches of a graph of match_sase
    matchrec.transpile(query, ...)           rewrite a query in the SQL of another product
    matchrec.Counters()                      counters of a finished search, such as rows and matches
    matchrec.progress(spark)                 show the progress of the queries in a `with` block
    matchrec.tune(spark)                     set two settings that make a session faster
    matchrec.warnings                        the classes of warnings
    matchrec.types                           the types in signatures, for annotations

The examples in the documentation of these names need these lines first:

    import matchrec
    from matchrec import AfterMatch, Pattern

    spark = matchrec.session()

In a notebook, `%load_ext matchrec` adds the cell magic `%%matchrec`.
"""

# The names are loaded on first use: a Spark worker, which needs none of them, starts without
# sqlglot.

from importlib import import_module
from typing import TYPE_CHECKING, Any

from matchrec.loading import explain_missing_spark, pause_garbage_collection
from matchrec.signatures import simplify_signatures

if TYPE_CHECKING:
    from matchrec import types as types
    from matchrec import warnings as warnings
    from matchrec.api.enable import disable as disable
    from matchrec.api.enable import enable as enable
    from matchrec.api.events import explode_graph as explode_graph
    from matchrec.api.events import match_pattern as match_pattern
    from matchrec.api.events import match_sase as match_sase
    from matchrec.api.query import Query as Query
    from matchrec.api.query_function import query as query
    from matchrec.api.rule_matches import RuleMatches as RuleMatches
    from matchrec.api.rules import match_rules as match_rules
    from matchrec.api.session import session as session
    from matchrec.api.sql import explode_matches as explode_matches
    from matchrec.api.sql import match_recognize as match_recognize
    from matchrec.api.sql import sql as sql
    from matchrec.api.sweep import sweep as sweep
    from matchrec.api.transpile import transpile as transpile
    from matchrec.dialects.edits import TranslationNote as TranslationNote
    from matchrec.dialects.writing.convert import Conversion as Conversion
    from matchrec.errors import MatchRecognizeError as MatchRecognizeError
    from matchrec.errors import MatchRecognizeParseError as MatchRecognizeParseError
    from matchrec.errors import MatchRecognizePlanError as MatchRecognizePlanError
    from matchrec.errors import MatchRecognizeRunError as MatchRecognizeRunError
    from matchrec.errors import MatchRecognizeUnsupportedError as MatchRecognizeUnsupportedError
    from matchrec.explain.charts.backtest import Backtest as Backtest
    from matchrec.explain.charts.plot import Plot as Plot
    from matchrec.explain.charts.sweep import Sweep as Sweep
    from matchrec.explain.clause import ExplainedClause as ExplainedClause
    from matchrec.explain.clause_coverage import ClauseCoverage as ClauseCoverage
    from matchrec.explain.coverage import Coverage as Coverage
    from matchrec.explain.explanation import Explanation as Explanation
    from matchrec.explain.tracing.why import Why as Why
    from matchrec.gateway.serve import Gateway as Gateway
    from matchrec.gateway.serve import serve as serve
    from matchrec.patterns.stages.after_match import AfterMatch as AfterMatch
    from matchrec.patterns.stages.builder import Pattern as Pattern
    from matchrec.spark.counters import Counters as Counters
    from matchrec.spark.progress import progress as progress
    from matchrec.spark.request import Options as Options
    from matchrec.spark.tuning import TunedSetting as TunedSetting
    from matchrec.spark.tuning import TuningReport as TuningReport
    from matchrec.spark.tuning import tune as tune

# The middle of the names of the error classes.
_ERROR_KINDS = ("", "Parse", "Plan", "Run", "Unsupported")
# The public names, by the module that defines them.
_NAMES_BY_MODULE = {
    "matchrec.api.enable": ("disable", "enable"),
    "matchrec.api.events": ("explode_graph", "match_pattern", "match_sase"),
    "matchrec.api.query": ("Query",),
    "matchrec.api.query_function": ("query",),
    "matchrec.api.rule_matches": ("RuleMatches",),
    "matchrec.api.rules": ("match_rules",),
    "matchrec.api.session": ("session",),
    "matchrec.api.sql": ("explode_matches", "match_recognize", "sql"),
    "matchrec.api.sweep": ("sweep",),
    "matchrec.api.transpile": ("transpile",),
    "matchrec.dialects.edits": ("TranslationNote",),
    "matchrec.dialects.writing.convert": ("Conversion",),
    "matchrec.errors": tuple(f"MatchRecognize{kind}Error" for kind in _ERROR_KINDS),
    "matchrec.explain.charts.backtest": ("Backtest",),
    "matchrec.explain.charts.plot": ("Plot",),
    "matchrec.explain.charts.sweep": ("Sweep",),
    "matchrec.explain.clause": ("ExplainedClause",),
    "matchrec.explain.clause_coverage": ("ClauseCoverage",),
    "matchrec.explain.coverage": ("Coverage",),
    "matchrec.explain.explanation": ("Explanation",),
    "matchrec.explain.tracing.why": ("Why",),
    "matchrec.gateway.serve": ("Gateway", "serve"),
    "matchrec.patterns.stages.after_match": ("AfterMatch",),
    "matchrec.patterns.stages.builder": ("Pattern",),
    "matchrec.spark.progress": ("progress",),
    "matchrec.spark.counters": ("Counters",),
    "matchrec.spark.tuning": ("TunedSetting", "TuningReport", "tune"),
    "matchrec.spark.request": ("Options",),
}

# The classes whose instances users make by a call of the class. All others are results of
# functions, or begin with a method, as `Pattern.begin` does.
_MADE_BY_USERS = ("Counters", "Options")

# The public modules. They are not in `__all__`, because Python has modules of these names, too.
_MODULES = ("types", "warnings")

__all__ = [name for names in _NAMES_BY_MODULE.values() for name in names]


def __getattr__(name: str) -> Any:
    """Return a public name. Its module is loaded when the name is first used."""
    if name == "__version__":
        from importlib.metadata import version

        return version("matchrec")
    if name in _MODULES:
        with explain_missing_spark():
            return import_module(f"matchrec.{name}")
    if name not in __all__:
        raise explain_missing_name(name)
    module_name = next(module for module, names in _NAMES_BY_MODULE.items() if name in names)
    with pause_garbage_collection(), explain_missing_spark():
        module = import_module(module_name)
    value = getattr(module, name)
    value = simplify_signatures(value, is_made_by_users=name in _MADE_BY_USERS)
    globals()[name] = value  # so that Python does not call this function for the name again
    return value


def explain_missing_name(name: str) -> AttributeError:
    """Return the error for a name that the package does not have.

    The error suggests what `suggest_names` returns, such as `matchrec.match_sase`.
    """
    from matchrec.errors.wording import join_alternatives

    # Python and notebooks look for private names, such as `__path__`, which get no suggestion.
    suggestions = [] if name.startswith("_") else suggest_names(name)
    full_names = [f"matchrec.{suggestion}" for suggestion in suggestions]
    hint = f"; write {join_alternatives(full_names)}" if full_names else ""
    return AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")


def suggest_names(name: str) -> list[str]:
    """Return what to write instead of a name that the package does not have.

    This is the first of these that exists:

    1. today's name, if an earlier version had the name;
    2. a call of the method, if `Query` has a method with the name;
    3. all public names that continue the name, as `match_sase` continues `match`;
    4. the most similar public name.
    """
    from matchrec.errors.misspellings import find_nearest
    from matchrec.errors.old_names import FUNCTIONS, QUERY_METHODS

    if name in FUNCTIONS:
        return [FUNCTIONS[name]]
    if name in QUERY_METHODS:
        return [f"query(...).{name}()"]
    longer_names = sorted(public for public in __all__ if public.startswith(f"{name}_"))
    # SQL comes first, because most users mean it
    longer_names.sort(key=lambda public: public != "match_recognize")
    similar_name = find_nearest(name, __all__)
    return longer_names or ([similar_name] if similar_name else [])


def load_ipython_extension(shell: Any) -> None:
    """Load the notebook extension, as `%load_ext matchrec` does: see `matchrec.notebook`."""
    from matchrec.notebook.magic import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Remove the notebook extension, as `%unload_ext matchrec` does."""
    from matchrec.notebook.magic import unload

    unload(shell)


def __dir__() -> list[str]:
    """Return the public names, for completion in editors and notebooks."""
    return sorted((*__all__, *_MODULES, "__version__"))
