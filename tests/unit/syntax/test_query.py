"""Queries: the relation of each clause, the SQL for Spark, and every error message."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from matchrec.errors import MatchRecognizeError
from matchrec.plan.templates import Replacement, Template, View, write_select
from matchrec.syntax.locate import QueryNode, parse_sql
from matchrec.syntax.lower import lower_clause
from matchrec.syntax.nodes import Site
from matchrec.syntax.plain_select import match_plain_select
from matchrec.syntax.query_pieces import (
    fill_frames,
    write_outer_query,
    write_relation,
    write_relation_query,
    write_with_clauses,
)
from tests.generators.clause_text import write_clause
from tests.quick.scale import examples
from tests.unit import golden_text

HERE = Path(__file__).parent
FRAMES = ("df", "users", "first")


def write_text(template: Template) -> str:
    """Return a template as text."""
    return "".join(map(write_piece, template))


def select_from(query: QueryNode, site: Site, select_list: str) -> Template:
    """Return the query of a select list over the relation of a site."""
    with_clauses = write_with_clauses(query, site)
    return write_select((select_list,), write_relation(query, site), with_clauses)


def write_piece(piece: str | View | Replacement) -> str:
    """Return a piece of a template as text."""
    if isinstance(piece, View):
        return f"<{shorten_name(piece.name)}>"
    return piece if isinstance(piece, str) else piece.text


def shorten_name(name: str) -> str:
    """Return a short name for a view."""
    return name.replace("match_recognize_", "#")


def show_query(given_text: str) -> str:
    """Return each clause with the query of its relation, in order, then the outer query."""
    query = parse_sql(given_text, FRAMES)
    lines = []
    for site in query.sites:
        lower_clause(site.clause)
        alias = f" qualified by {site.relation_alias}" if site.relation_alias else ""
        clause = " ".join(write_clause(site.clause).split())
        lines += [
            f"{shorten_name(site.view.name)}{alias}: {write_text(select_from(query, site, '...'))}",
            f"    {clause}",
        ]
    outer_query = re.sub(
        r"[ \n]*<(#\d+)>[ \n]*", r" <\1> ", write_text(write_outer_query(query))
    ).rstrip()
    return "\n".join([*lines, outer_query if query.sites else write_text(write_outer_query(query))])


def find_message(given_text: str) -> str:
    """Return the message of the error for a query."""
    with pytest.raises(MatchRecognizeError) as raised:
        parse_sql(given_text, FRAMES)
    return str(raised.value)


def test_queries_are_split_as_recorded(request: pytest.FixtureRequest) -> None:
    update = bool(request.config.getoption("--update", default=False))
    golden_text.check(HERE / "queries.txt", show_query, update)


def test_wrong_queries_have_the_recorded_messages(request: pytest.FixtureRequest) -> None:
    update = bool(request.config.getoption("--update", default=False))
    golden_text.check(HERE / "query_errors.txt", find_message, update)


QUERIES = [record.given for record in golden_text.read(HERE / "queries.txt")]


def fill_holes(template: Template) -> str:
    """Return a template as text with a name in each hole, which is as wide as the hole."""
    return "".join(
        piece if isinstance(piece, str) else "x".ljust(piece.width) for piece in template
    )


def check_that_other_text_keeps_its_position(query: QueryNode) -> None:
    """Assert that the text outside of clauses keeps its position in the outer query."""
    given_text = query.source.text
    outer_query = fill_holes(write_outer_query(query))
    assert len(outer_query) == len(given_text)
    holes = [site.replaced for site in query.sites] + [span for _, span in query.frames]
    holes += query.positional_parameters
    for index, character in enumerate(given_text):
        if not any(hole.start <= index < hole.end for hole in holes):
            assert outer_query[index] == character
        assert (outer_query[index] == "\n") == (character == "\n")


@pytest.mark.parametrize("given_text", QUERIES)
def test_the_text_around_clauses_keeps_its_position(given_text: str) -> None:
    check_that_other_text_keeps_its_position(parse_sql(given_text, FRAMES))


@pytest.mark.parametrize("given_text", QUERIES)
def test_the_text_of_a_relation_keeps_its_position(given_text: str) -> None:
    query = parse_sql(given_text, FRAMES)
    for site in query.sites:
        rows = fill_holes(write_relation_query(query, site))
        inside = [
            inner_site.replaced
            for inner_site in query.sites
            if site.relation.contains(inner_site.replaced)
        ]
        inside += [*(span for _, span in query.frames), *query.positional_parameters]
        for index in range(site.relation.start, site.relation.end):
            if not any(hole.start <= index < hole.end for hole in inside):
                assert rows[index] == given_text[index]
        before, after = rows[: site.relation.start], rows[site.relation.end :]
        is_selected = "".join(before.split()).endswith("SELECT*FROM")
        assert is_selected or after.startswith(" SELECT *")  # if FROM is the first word


@pytest.mark.parametrize("given_text", QUERIES)
def test_relations_use_only_clauses_already_evaluated(given_text: str) -> None:
    query = parse_sql(given_text, FRAMES)
    evaluated = {View(name) for name in FRAMES}
    for index, site in enumerate(query.sites):
        assert site.index == index
        used = {piece for piece in select_from(query, site, "1") if isinstance(piece, View)}
        assert used <= evaluated
        evaluated.add(site.view)
    assert {piece for piece in write_outer_query(query) if isinstance(piece, View)} <= evaluated


@pytest.mark.parametrize(
    "given_text",
    [
        "SELECT 1",
        "SELECT match_recognize FROM t",
        "SELECT match_recognize(x) FROM t",
        "SELECT a.match_recognize (x) FROM a",
        "SELECT * FROM t WHERE x BETWEEN match_recognize (1) AND 3",
        "SELECT * FROM t WHERE x LIKE match_recognize (1)",
        "SELECT * FROM t LIMIT match_recognize (1)",
        "SELECT x DIV match_recognize (1) FROM t",
        "WITH match_recognize (a) AS (SELECT 1) SELECT * FROM match_recognize",
        "INSERT INTO match_recognize (a) SELECT 1",
        "CREATE TABLE match_recognize (a int)",
        "SELECT * FROM match_recognize",
        "SELECT 'x MATCH_RECOGNIZE (PATTERN (A))' AS s",
        "SELECT * FROM t -- MATCH_RECOGNIZE (PATTERN (A))",
        "SELECT * FROM t /* t MATCH_RECOGNIZE (PATTERN (A)) */",
        "SELECT `t MATCH_RECOGNIZE (PATTERN (A))` FROM t",
        "SHOW TABLES LIKE 'match_recognize (x)'",
        "SELECT sum(x) OVER (PARTITION BY pattern(x)) FROM t",
        "SELECT sum(x) OVER w FROM t WINDOW w AS (ORDER BY define, pattern (x))",
        "SELECT {x} FROM {y} WHERE it's not even SQL",
        "",
    ],
)
def test_queries_without_a_clause_stay_as_they_are(given_text: str) -> None:
    assert not parse_sql(given_text).sites
    assert parse_sql(given_text) == QueryNode(parse_sql(given_text).source)
    assert write_outer_query(parse_sql(given_text)) == ((given_text,) if given_text else ())


def test_data_frames_become_views_without_a_clause_too() -> None:
    query = parse_sql("SELECT '{df}', {x} FROM {df} JOIN {users} u", ["df", "users"])
    assert write_outer_query(query) == (
        "SELECT '{df}', {x} FROM ",
        View("df"),
        " JOIN ",
        View("users"),
        " u",
    )


def test_data_frames_in_a_subquery_of_a_condition_become_views() -> None:
    query = parse_sql(
        "SELECT * FROM {df} MATCH_RECOGNIZE (PATTERN (A{2}) DEFINE A AS x IN (SELECT y FROM {df}))",
        ["df"],
    )
    condition = lower_clause(query.sites[0].clause).definitions[0].condition
    (written,) = (piece for piece in condition.pieces if isinstance(piece, str))
    assert fill_frames(written, ["df"]) == (" IN (SELECT y FROM ", View("df"), ")")


def test_positional_parameters_are_named_by_their_position_in_the_query() -> None:
    written = "SELECT ? FROM t MATCH_RECOGNIZE (MEASURES x + ? AS y PATTERN (A)) WHERE y > ?"
    query = parse_sql(written)
    indices = [index for index, character in enumerate(written) if character == "?"]
    assert [parameter.start for parameter in query.positional_parameters] == indices
    outer_query = [piece for piece in write_outer_query(query) if isinstance(piece, Replacement)]
    assert outer_query == [
        Replacement(f":_matchrec_{index}", 1) for index in (indices[0], indices[2])
    ]
    measure = lower_clause(query.sites[0].clause).measures[0].value
    assert f" + :_matchrec_{indices[1]}" in measure.pieces


@pytest.mark.parametrize(
    ("statement", "keeps_text"),
    [
        ("CREATE TEMP VIEW v AS SELECT * FROM {}", True),
        ("CREATE OR REPLACE TEMPORARY VIEW v (view, b) AS SELECT * FROM {}", True),
        ("CACHE LAZY TABLE c AS SELECT * FROM {}", True),
        ("CACHE TABLE c SELECT * FROM {}", True),
        ("CREATE TABLE c AS SELECT * FROM {} view", False),
        ("CREATE OR REPLACE TABLE view AS SELECT * FROM {}", False),
        ("INSERT INTO view SELECT * FROM {}", False),
        ("SELECT * FROM {}", False),
    ],
)
def test_statements_of_which_spark_keeps_the_text(statement: str, keeps_text: bool) -> None:
    assert parse_sql(statement.format("t MATCH_RECOGNIZE (PATTERN (A))")).keeps_text is keeps_text
    assert parse_sql(statement.format("{df}"), ["df"]).keeps_text is keeps_text


# Queries in which each `{}` is a relation with its clause.
QUERIES_AROUND_CLAUSES = [
    "SELECT * FROM {} m",
    "SELECT * FROM d JOIN {} AS m(a, b) ON d.k = m.k",
    "SELECT * FROM {} m JOIN d USING (k) WHERE m.x > 1 ORDER BY 1 LIMIT 3",
    "WITH c AS (SELECT * FROM {}) SELECT * FROM c UNION ALL SELECT * FROM {}",
    "SELECT * FROM d WHERE k IN (SELECT k FROM {} GROUP BY k)",
    "SELECT (SELECT max(x) FROM {} m) AS top, 'FROM t' AS s -- {{\n FROM d",
    "INSERT INTO o SELECT * FROM {} WHERE x <=> NULL",
    "SELECT * FROM (SELECT * FROM {} m) q, d LEFT ANTI JOIN {} n ON TRUE;",
]
RELATIONS = [
    *("t", "db.t q", "(SELECT 1 AS x) AS q(x)", "VALUES (1, 2), (3, 4) AS v(a, b)", "range(9) r"),
    *(
        "VALUES (1), (2)",
        "(VALUES 1, 2)",
        "t TABLESAMPLE (5 ROWS)",
        "parquet.`/a b/c`",
        "(a JOIN b ON a.k = b.k)",
    ),
    "(SELECT * FROM t WHERE s = 'FROM x, (' /* JOIN ( */) `from`",
    "t MATCH_RECOGNIZE (MEASURES x AS y PATTERN (A B*)) n",
]
CLAUSES = [
    "MATCH_RECOGNIZE (PATTERN (A))",
    "match_recognize(ORDER BY ts, `)` PATTERN (A{2,3} {- B -} `(`??) DEFINE A AS s = ')')",
    "MATCH_RECOGNIZE /* ( */ (\n PARTITION BY k -- )\n PATTERN (PERMUTE(A, B) | ^ $))",
]


@settings(max_examples=examples(200), deadline=None)
@given(
    st.sampled_from(QUERIES_AROUND_CLAUSES),
    st.lists(
        st.tuples(st.sampled_from(RELATIONS), st.sampled_from(CLAUSES)), min_size=2, max_size=2
    ),
)
def test_any_relation_is_found_in_any_query(
    template: str, pairs: tuple[tuple[str, str], ...]
) -> None:
    holes = template.count("{}")
    given_text = template.format(*(f"{relation} {clause}" for relation, clause in pairs[:holes]))
    query = parse_sql(given_text)
    outermost = [site for site in query.sites if site.view in write_outer_query(query)]
    assert [query.source.text_at(site.relation) for site in outermost] == [
        relation for relation, _ in pairs[:holes]
    ]
    check_that_other_text_keeps_its_position(query)


CLAUSE = "t MATCH_RECOGNIZE (PATTERN (A B) DEFINE A AS x > 1)"
OTHER_QUERY = "not a plain SELECT"  # instead of an alias


@pytest.mark.parametrize(
    ("query", "alias"),
    [
        (f"SELECT * FROM {CLAUSE}", None),
        (f"select*from({CLAUSE[:2]}{CLAUSE[2:]})", OTHER_QUERY),  # Spark reads parentheses
        (f"\n SELECT *\nFROM {CLAUSE} AS m;\n", "m"),
        (f"SELECT * FROM {CLAUSE}m", "m"),
        (f"WITH a AS (SELECT 1) SELECT * FROM {CLAUSE}", OTHER_QUERY),
        (f"SELECT * FROM {CLAUSE} m (a, b)", OTHER_QUERY),
        (f"SELECT * FROM {CLAUSE} AS left", OTHER_QUERY),
        (f"SELECT * FROM {CLAUSE} limit", OTHER_QUERY),
        (f"SELECT * FROM {CLAUSE} m -- all", "m"),
        (f"-- all\nSELECT /* all */ *\nFROM {CLAUSE} /* all\n */ AS m; -- all", "m"),
        (f"SELECT * FROM {CLAUSE} -- AS m", None),
        (f"SELECT * FROM {CLAUSE} /* a */ WHERE x /* b */", OTHER_QUERY),
        (f"SELECT * FROM {CLAUSE} /* /* nested */ WHERE x */", OTHER_QUERY),
        (f"SELECT * FROM {CLAUSE} -- goes on \\\n AS m", OTHER_QUERY),
        (f"SELECT *, x FROM {CLAUSE}", OTHER_QUERY),
        (f"SELECT /*+ REPARTITION(3) */ * FROM {CLAUSE}", OTHER_QUERY),
        (f"SELECT * FROM {CLAUSE}, {CLAUSE}", OTHER_QUERY),
        (f"SELECT * FROM {CLAUSE} WHERE x", OTHER_QUERY),
        (f"CREATE TEMPORARY VIEW v AS SELECT * FROM {CLAUSE}", OTHER_QUERY),
        (f"SELECT a,\n  b FROM {CLAUSE} m", "m"),
        (f"SELECT a AS b FROM {CLAUSE} m", OTHER_QUERY),
        (f"SELECT m.a FROM {CLAUSE} m", OTHER_QUERY),
        (f"SELECT a, 1 FROM {CLAUSE} m", OTHER_QUERY),
        (f"SELECT DISTINCT a FROM {CLAUSE} m", OTHER_QUERY),
        (f"SELECT a, NULL FROM {CLAUSE} m", OTHER_QUERY),
        (f"SELECT a, current_date FROM {CLAUSE} m", OTHER_QUERY),
    ],
)
def test_a_plain_select_of_one_clause_is_recognized(query: str, alias: str | None) -> None:
    result = match_plain_select(write_outer_query(parse_sql(query)))
    assert (result[1] if result else OTHER_QUERY) == alias


@pytest.mark.parametrize(
    ("after_clause", "alias"),
    [
        ("", "t"),
        ("AS m", "m"),
        ("m (a, b)", "m"),
        ("AS `m x` JOIN d", "m x"),
        ("JOIN d", "t"),
        ("LIMIT 5", "t"),
        ("WHERE x > 1", "t"),
        ("AS limit WHERE x > 1", "limit"),
        ("ORDER BY x", "t"),
    ],
)
def test_a_clause_has_the_alias_after_it(after_clause: str, alias: str) -> None:
    (site,) = parse_sql(f"SELECT * FROM d.t MATCH_RECOGNIZE (PATTERN (A)) {after_clause}").sites
    assert site.alias == alias


@pytest.mark.parametrize("name", ["from", "merge", "using", "join", "merge AS x", "s.from"])
def test_a_table_may_have_the_name_of_a_word_before_relations(name: str) -> None:
    clause = "MATCH_RECOGNIZE (ORDER BY t PATTERN (A) DEFINE A AS t > 1)"
    assert len(parse_sql(f"SELECT * FROM {name} {clause}").sites) == 1
