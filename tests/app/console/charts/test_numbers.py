from app.pages.charts import number, percent
from app.pages.charts.text import cut, fit, isolated

NUMBERS = [
    (0, "0"),
    (5.0, "5"),
    (0.030313, "0.0303"),
    (12_345, "12,345"),
    (12_345.6, "12,346"),
    (1.5, "1.5"),
    (1.234e-7, "1.23e-7"),
    (1e20, "1e20"),
    (-0.5, "-0.5"),
]


def test_numbers_have_three_digits_that_mean_something():
    assert [(value, number(value)) for value, _ in NUMBERS] == NUMBERS


SHARES = [
    (0, "0 %"),
    (1, "100 %"),
    (0.9087, "90.9 %"),
    (0.0123, "1.2 %"),
    (0.0004, "< 0.1 %"),
    (0.99999, "> 99.9 %"),
    (0.5, "50 %"),
    (12.5, "1,250 %"),
]


def test_percent_says_nothing_and_all_only_of_exactly_these():
    assert [(value, percent(value).replace("\N{NO-BREAK SPACE}", " ")) for value, _ in SHARES] == SHARES


def test_long_texts_are_cut_and_unfit_characters_replaced():
    assert cut("physical_limitation", 9) == "physical…"
    assert cut("short", 5) == "short"
    assert fit("a\x00b\u202ec\ufffe") == "a\ufffdb\ufffdc\ufffd"
    assert fit("👩\u200d🔬") == "👩\u200d🔬"


def test_a_text_from_right_to_left_is_isolated_from_its_sentence():
    assert isolated("صحة") == "\u2068صحة\u2069"
    assert isolated("c17") == "c17"
