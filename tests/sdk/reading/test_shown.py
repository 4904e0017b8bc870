import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_sdk.reading import one_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a table:\n  no column", "a table: no column"),
        ("\x1b[2J\x1b]0;owned\x07", "\\x1b[2J\\x1b]0;owned\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("\u202eexe.csv\u2066", "\\u202eexe.csv\\u2066"),
        ("Größe 年齢 😀", "Größe 年齢 😀"),
        ("not UTF-8: \udcff", "not UTF-8: \\udcff"),
    ],
)
def test_a_message_moves_no_cursor(text, line):
    assert one_line(text) == line


def test_of_a_long_message_the_beginning_and_the_end_are_told():
    line = one_line(f"{'a' * 10_000}.csv: cannot be read")
    assert line.startswith("aaa")
    assert " ... " in line
    assert line.endswith("a.csv: cannot be read")
    assert 490 <= len(line) <= 500


@given(st.text(max_size=600))
def test_whatever_the_message_it_is_one_printable_line(text):
    line = one_line(text)
    assert line.isprintable()
    assert len(line) <= 500
    line.encode()
