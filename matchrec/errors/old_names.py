"""Names of version 0.2.0 that errors replace by today's names.

docs/how-to/upgrading.md lists all changes. Here are the names that a program is most likely to use,
and that a search for similar names would replace by wrong ones.
"""

from __future__ import annotations

# Today's name of a public function or class, by its name in version 0.2.0.
FUNCTIONS = {
    "install": "enable",
    "uninstall": "disable",
    "sase": "match_sase",
    "detect": "match_pattern",
    "rows_of": "explode_matches",
    "unwind": "explode_graph",
    "convert": "transpile",
    "Tuned": "TuningReport",
}

# Today's name of a command, by its name in version 0.2.0.
COMMANDS = {"convert": "transpile"}

# Today's name of an option of the command line, by its name in version 0.2.0.
OPTIONS = {"--form": "--result", "--param": "--arg", "--svg": "--picture"}

# The methods of a query that new users look for as functions of the package. In version 0.1.0 they
# were functions.
QUERY_METHODS = ("aggregate", "backtest", "coverage", "explain", "plot", "to_sql", "why")
