"""Errors of a clause that is well formed and contradicts itself."""

from __future__ import annotations

from collections.abc import Iterable

from matchrec.errors.kinds import MatchRecognizePlanError
from matchrec.errors.language import current_surface
from matchrec.errors.message import give_codes, plan_error, unsupported
from matchrec.source import Span

subset_is_primary = plan_error("""union variable `{name}` in SUBSET is also a variable of PATTERN
    code: subset-name-taken
    give the union variable another name""")
duplicate_subset = plan_error("""union variable `{name}` is defined twice in SUBSET
    write all its members in one list""")
union_in_subset = plan_error("""member `{member}` of `{name}` in SUBSET is itself a union variable
    write the members of {member} instead""")
incomplete_skip = plan_error("""AFTER MATCH SKIP TO {word} is not complete
    case FIRST: write TO FIRST A, with a variable of PATTERN
    case LAST: write TO LAST A, with a variable of PATTERN
    case PAST: write AFTER MATCH SKIP PAST LAST ROW
    write AFTER MATCH SKIP TO NEXT ROW""")
definition_of_union = plan_error("""union variable `{name}` is not allowed in DEFINE
    write conditions for its members""")
definition_not_in_pattern = plan_error("""DEFINE has `{name}`, which is not in PATTERN
    note: PATTERN has: {known}
    near: write {near}, or add {name} to PATTERN
    add {name} to PATTERN""")


def definition_of_eaten(
    span: Span | None, name: str, known: Iterable[str], count: str
) -> MatchRecognizePlanError:
    """Return the error for B in DEFINE and B3 in PATTERN, which a Python f-string makes of B{3}."""
    message = _definition_of_eaten if current_surface().is_python else _definition_of_number
    return message(span, name=name, known=known, count=count)


_definition_of_eaten = plan_error("""DEFINE has `{name}`, which is not in PATTERN
    code: definition-not-in-pattern
    note: PATTERN has: {known}
    note: a Python f-string turns {name}{{count}} into {name}{count}
    write {name}{{{count}}} in an f-string, or add {name} to PATTERN""")
_definition_of_number = plan_error("""DEFINE has `{name}`, which is not in PATTERN
    code: definition-not-in-pattern
    note: PATTERN has: {known}
    write {name}{{count}} for {count} rows, or add {name} to PATTERN""")
duplicate_definition = plan_error("""variable `{name}` is defined twice in DEFINE
    condition: MATCH_RECOGNIZE_DUPLICATE_PATTERN_VARIABLE
    join the conditions with AND""")
exclusion_with_unmatched_rows = plan_error("""an exclusion in PATTERN is not allowed with ALL ROWS
        PER MATCH WITH UNMATCHED ROWS
    note: excluded rows would look the same as rows outside every match
    remove {- -}, or write SHOW EMPTY MATCHES or OMIT EMPTY MATCHES""")
duplicate_measure = plan_error("""{part[MEASURES]} has two {word.measures} named `{name}`
    give one of them another name with AS""")

# WITHIN x FROM A TO A, or to a union variable that has A as a member.
gap_of_one_variable = plan_error("""WITHIN has the same variable, `{name}`, after FROM and after TO
    code: within-one-variable
    write WITHIN ... BETWEEN ROWS for the distance between consecutive rows""")
within_without_order = plan_error("""missing {part[ORDER BY]} for WITHIN
    note: WITHIN measures the distance along the first {part[ORDER BY]} column
    add {part[ORDER BY]}""")
within_without_length = plan_error("""WITHIN needs a length above 0, not {length}
    write a longer one, such as WITHIN INTERVAL 1 HOUR""")
classifier_of_skipped_row = unsupported("""CLASSIFIER() a physical step away in {part[DEFINE]} is
        not supported with {selection}
    write LAST(CLASSIFIER(), 1) for the row that the match mapped before""")
longest_that_skips_rows = unsupported("""LONGEST MATCH with {selection} is not supported
    code: longest-match-skips-rows
    note: the longest match is one whose rows follow each other
    leave out LONGEST MATCH, or {selection}""")
match_number_of_all_matches = unsupported("""MATCH_NUMBER() in {part[DEFINE]} is not supported with
        ALL MATCHES
    code: match-number-with-all-matches
    note: the search finds all matches together, and numbers them when they are complete
    use MATCH_NUMBER() in MEASURES, and filter the result by it""")
match_on_each_row = plan_error("""MATCHED_ROWS in {part[MEASURES]} is not allowed with ALL ROWS PER
        MATCH
    code: matched-rows-with-all-rows
    note: the result already has one row for each row of the match
    write ONE ROW PER MATCH, or CLASSIFIER() AS classifier instead of MATCHED_ROWS""")
too_far_back = unsupported("""{function} in {part[DEFINE]} looks back {rows:,} rows of the match;
        the limit is {limit:,}
    code: looks-too-far-back
    write PREV(x, n) of a column, which counts rows of the partition and has no limit""")
timeouts_without_within = plan_error("""missing WITHIN for SHOW TIMEOUT MATCHES
    note: without a window, no run times out
    add WITHIN INTERVAL ... after PATTERN (...), or write SHOW UNFINISHED MATCHES for the run that
        is still open at the end of a partition""")
partial_within_rows = unsupported("""{words} with WITHIN a number of rows is not supported
    code: timeouts-within-rows
    note: a run that fills a window of rows has neither timed out nor been left unfinished
    write WITHIN INTERVAL ..., or remove {words}""")
partial_with_unmatched_rows = plan_error("""{words} is not allowed with ALL ROWS PER MATCH WITH
        UNMATCHED ROWS
    code: timeouts-with-unmatched-rows
    note: a row of a run that is not a match would be neither matched nor unmatched
    write ALL ROWS PER MATCH {words}""")
partial_of_other_matches = unsupported("""{words} with {output} is not supported
    code: timeouts-with-output
    leave out {output}; only SHOW TIMEOUT MATCHES and ALL MATCHES are allowed together""")
partial_with_negation = unsupported("""{words} of a pattern with NOT is not supported
    code: timeouts-with-not
    note: matchrec looks for forbidden rows only when a match is complete
    leave out {words}, or use match_pattern with timeouts=True""")
partial_with_gaps = unsupported("""{words} with WITHIN between rows or variables is not supported
    code: timeouts-with-gaps
    note: a run times out when the window of the whole match ends
    leave out {words}, or write the window in DEFINE""")
partial_with_first_matches = unsupported("""{words} with {first} is not supported
    code: timeouts-with-first-matches
    note: the search stops after these matches
    leave out {words}, or test MATCH_NUMBER() in the query around the clause""")

# FIRST 10 MATCHES if the output includes runs that are not matches, or is one shared buffer.
first_matches_of_form = unsupported("""{first} with {form} is not supported
    code: first-matches-not-supported
    note: the result has more than matches, and only matches have numbers
    leave out one of them""")
ending_of_matches_only = plan_error("""{function}() is not allowed without SHOW TIMEOUT MATCHES or
        SHOW UNFINISHED MATCHES
    code: status-without-timeouts
    note: the result has only matches, and no match has timed out
    write ONE ROW PER MATCH SHOW TIMEOUT MATCHES after MEASURES""")

give_codes(globals())
