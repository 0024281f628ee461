"""Hints for brackets that Spark SQL lacks."""

from matchrec.errors.sql.brackets import find_bracket_hint


def test_brackets_in_strings_do_not_end_an_array() -> None:
    assert find_bracket_hint("[", "contains(", "['a]', '[b]'], v)") == "write array('a]', '[b]')"
    assert find_bracket_hint(",", "ARRAY['[1'", ", 'b'][0]") == "write array('[1', 'b')"


def test_arrays_may_be_nested() -> None:
    assert find_bracket_hint("[", "", "[1, [2, [3]]]") == "write array(1, array(2, array(3)))"


def test_an_array_after_as_is_not_a_name() -> None:
    assert find_bracket_hint(",", "A AS [1", ", 2]") == "write array(1, 2)"
