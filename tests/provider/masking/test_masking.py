from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegis_provider.errors import PlanError, UnmaskableValueError
from aegis_provider.masking.hierarchy import FileHierarchy
from aegis_provider.masking.lookup import HierarchyFile, Mapped
from aegis_provider.masking.numbers import EdgeBuckets, EqualBuckets, Round
from aegis_provider.masking.texts import Blur, Suppress
from aegis_provider.table.values import Domain, ValueType
from tests.for_each import for_each
from tests.provider import oracle

sizes = st.decimals(min_value="0.001", max_value=1000, places=3)
numbers = st.decimals(min_value=-(10**6), max_value=10**6, places=4)


def masked(function, *texts, declared=None):
    domain = Domain.of(texts, declared)
    by_value = function.mask(domain)
    return [by_value[domain.places[text]] for text in texts]


def test_buckets_of_integers_are_named_by_their_first_and_last():
    assert masked(EqualBuckets(Decimal(5)), "15", "19", "20", "-1", "0") == ["15-19", "15-19", "20-24", "-5--1", "0-4"]
    assert masked(EqualBuckets(Decimal(1)), "7") == ["7"]


def test_buckets_of_numbers_are_named_as_intervals_with_the_decimals_of_the_plan():
    assert masked(EqualBuckets(Decimal("0.5")), "0.5", "0.99", "1.0") == ["[0.5,1.0)", "[0.5,1.0)", "[1.0,1.5)"]
    assert masked(EqualBuckets(Decimal("0.5")), "3", "4") == ["[3.0,3.5)", "[4.0,4.5)"]


def test_an_origin_shifts_the_buckets():
    assert masked(EqualBuckets(Decimal(10), Decimal(5)), "4", "5", "14") == ["-5-4", "5-14", "5-14"]


def test_edges_that_binary_fractions_miss_are_hit():
    tenth = EqualBuckets(Decimal("0.1"))
    assert masked(tenth, "0.3", "0.7", "1.1") == ["[0.3,0.4)", "[0.7,0.8)", "[1.1,1.2)"]


def test_edges_make_uneven_buckets_and_infinite_ones_open_them():
    habits = EdgeBuckets(tuple(map(Decimal, ["0", "1", "2", "4", "25", "Infinity"])))
    assert masked(habits, "0", "1", "2", "3", "24", "25", "999") == ["0", "1", "2-3", "2-3", "4-24", "25+", "25+"]
    below = EdgeBuckets((Decimal("-Infinity"), Decimal(0), Decimal(10)))
    assert masked(below, "-5", "5") == ["<0", "0-9"]
    assert masked(below, "-5.5", "5") == ["(-inf,0)", "[0,10)"]


def test_a_value_outside_the_edges_is_withheld_as_a_missing_one_is():
    assert masked(EdgeBuckets((Decimal(0), Decimal(10))), "-1", "0", "9", "10", "") == ["", "0-9", "0-9", "", ""]


def test_edges_with_decimals_name_intervals_of_integers_too():
    assert masked(EdgeBuckets((Decimal("0.5"), Decimal("1.5"))), "1") == ["[0.5,1.5)"]


@given(numbers, sizes, numbers)
def test_a_number_lies_in_its_bucket_exactly(number, width, origin):
    name = masked(EqualBuckets(width, origin), str(number), declared=ValueType.NUMBER)[0]
    lower, upper = name[1:-1].split(",")
    assert (Fraction(lower), Fraction(upper)) == oracle.equal_bucket(str(number), str(width), str(origin))
    assert Fraction(lower) <= Fraction(number) < Fraction(upper)


@given(numbers, st.lists(numbers, min_size=2, max_size=8, unique=True).map(sorted))
def test_a_number_lies_between_its_edges_or_outside_all(number, edges):
    name = masked(EdgeBuckets(tuple(edges)), str(number), declared=ValueType.NUMBER)[0]
    if name == "":
        assert number < edges[0] or number >= edges[-1]
    else:
        lower, upper = map(Decimal, name[1:-1].split(","))
        assert lower <= number < upper
        assert edges.index(upper) == edges.index(lower) + 1


@given(numbers, sizes)
def test_rounding_gives_the_nearest_multiple_and_halves_go_away_from_zero(number, to):
    result = Fraction(masked(Round(to), str(number), declared=ValueType.NUMBER)[0])
    distance = abs(result - Fraction(number))
    assert (result / Fraction(to)).denominator == 1
    assert distance * 2 <= Fraction(to)
    if distance * 2 == Fraction(to):
        assert abs(result) > abs(Fraction(number))


def test_rounding_writes_plain_numbers_and_no_negative_zero():
    assert masked(Round(Decimal(10)), "15", "25", "-15", "-4", "1e+3", "") == ["20", "30", "-20", "0", "1000", ""]
    assert masked(Round(Decimal("0.5")), "13.7", "13.8") == ["13.5", "14.0"]
    assert masked(Round(Decimal("1E+2")), "149") == ["100"]


def test_extreme_numbers_are_exact():
    assert masked(EqualBuckets(Decimal("1e-300")), "1e300", declared=ValueType.NUMBER)[0].startswith("[1000")
    assert masked(Round(Decimal(1)), "1e-999", "9e300") == ["0", "9" + "0" * 300]


def test_blur_keeps_the_beginning_and_the_length():
    assert masked(Blur(3), "12345", "12", "", "héllo") == ["123**", "12", "", "hél**"]
    assert masked(Blur(0, "#"), "ab") == ["##"]


def test_suppress_gives_one_value_for_all():
    assert masked(Suppress(), "a", "b", "") == ["*", "*", "*"]


def test_bucketize_reads_numbers_of_a_text_attribute_and_names_what_is_none():
    assert masked(EqualBuckets(Decimal(10)), "007", "12") == ["[0,10)", "[10,20)"]
    with pytest.raises(UnmaskableValueError, match="'many' is not a number"):
        masked(EqualBuckets(Decimal(10)), "1", "many")


def test_a_mapping_finds_values_by_number_and_leaves_missing_ones():
    table = Mapped({"1.0": "one", "2": "two"})
    assert masked(table, "1.00", "2.0", "") == ["one", "two", ""]
    with pytest.raises(UnmaskableValueError, match="'3' is not in the mapping"):
        masked(table, "1", "3")


def test_what_makes_no_table_is_refused():
    with pytest.raises(ValueError, match="at least one `value: masked value` is needed"):
        Mapped({})
    with pytest.raises(ValueError, match="`level` must be at least 1, not 0"):
        FileHierarchy("h.csv", 0, {"a": "b"})


def test_other_takes_what_the_mapping_does_not_name():
    assert masked(Mapped({"yes": "y", "": "unknown"}, other="n"), "yes", "no", "") == ["y", "n", "unknown"]


def test_parameters_are_json_numbers_where_no_digit_is_lost():
    assert EqualBuckets(Decimal("2.5")).parameters() == {"width": 2.5, "origin": 0}
    digits = "0.1234567890123456789"
    assert EdgeBuckets((Decimal(digits), Decimal("Infinity"))).parameters() == {"edges": [digits, "inf"]}
    assert FileHierarchy("h.csv", 2, {}).parameters() == {"file": "h.csv", "level": 2}
    assert Mapped({"a": "b"}, "c").parameters() == {"values": {"a": "b"}, "other": "c"}


EVERY_LEVEL = "every value needs a masked value at every level"


class TestHierarchyFile:
    def write(self, path, text):
        path.write_text(text, encoding="utf-8")
        return path

    def test_a_level_is_a_column_after_the_value(self, tmp_path):
        file = self.write(tmp_path / "h.csv", '1;low;*\n2;low;*\n"3;x";high;*\n')
        assert FileHierarchy.of(HierarchyFile.read(file, ";"), 1).table == {"1": "low", "2": "low", "3;x": "high"}
        assert FileHierarchy.of(HierarchyFile.read(file, ";"), 2).table["2"] == "*"

    def test_a_missing_value_stays_missing_unless_listed(self, tmp_path):
        bare = FileHierarchy.of(HierarchyFile.read(self.write(tmp_path / "a.csv", "1;low\n"), ";"), 1)
        listed = FileHierarchy.of(HierarchyFile.read(self.write(tmp_path / "b.csv", "1;low\n;none\n"), ";"), 1)
        assert masked(bare, "1", "") == ["low", ""]
        assert masked(listed, "1", "") == ["low", "none"]

    def test_a_value_it_lacks_is_named(self, tmp_path):
        hierarchy = FileHierarchy.of(HierarchyFile.read(self.write(tmp_path / "h.csv", "1;low\n"), ";"), 1)
        with pytest.raises(UnmaskableValueError, match=r"'2' is not in h\.csv"):
            masked(hierarchy, "1", "2")

    @for_each(
        ("text", "message"),
        [
            ("1;a\n", "h.csv, line 1: has levels 1 to 1, not 2"),
            ("1;a;b\n2;a\n", f"h.csv, line 2: has 2 fields, but line 1 has 3; {EVERY_LEVEL}"),
            ("1;a\n2;a;b\n", f"h.csv, line 2: has 3 fields, but line 1 has 2; {EVERY_LEVEL}"),
            ("1;a;b;\n2;a;b\n", f"h.csv, line 2: has 3 fields, but line 1 has 4; {EVERY_LEVEL}"),
            ("1,a,b\n", "h.csv, line 1: no level found after '1,a,b'; is the delimiter ';'?"),
            ("1;a;b\n1;a;c\n", "h.csv, line 2: '1' appears twice, with different masked values"),
            ("", "h.csv is empty"),
        ],
    )
    def test_a_file_that_cannot_be_used_is_refused(self, tmp_path, text, message):
        with pytest.raises(PlanError) as raised:
            FileHierarchy.of(HierarchyFile.read(self.write(tmp_path / "h.csv", text), ";"), 2)
        assert str(raised.value) == message

    @for_each(
        "text", ["1;a;b\n2;c;b\n", "1;a;b;\n2;c;b;\n", " 1 ; a ;b\n2;c; b \n", "1,a,b\n2,c,b\n", "1\ta\tb\n2\tc\tb\n"]
    )
    def test_slips_of_a_program_or_a_hand_mean_nothing(self, tmp_path, text):
        file = HierarchyFile.read(self.write(tmp_path / "h.csv", text))
        finer, coarser = (FileHierarchy.of(file, level) for level in (1, 2))
        assert (file.levels, masked(finer, "1", "2"), masked(coarser, "1", "2")) == (2, ["a", "c"], ["b", "b"])

    @for_each(
        "text",
        [
            "08:30:15;morning\n09:00:00;late\n",
            "Paris, Ile, France;Europe\nRome, Italy;Europe\n",
            '"Doe, J";"D*"\nRoe;"R*"\n',
        ],
    )
    def test_a_semicolon_that_all_lines_have_is_the_delimiter(self, tmp_path, text):
        assert HierarchyFile.read(self.write(tmp_path / "h.csv", text)).levels == 1

    def test_blanks_around_a_value_are_those_of_the_table_or_none(self, tmp_path):
        hierarchy = FileHierarchy.of(HierarchyFile.read(self.write(tmp_path / "h.csv", " Private ;work\n")), 1)
        assert masked(hierarchy, " Private ", "Private") == ["work", "work"]

    def test_two_spellings_of_a_value_are_masked_alike(self, tmp_path):
        alike = FileHierarchy.of(HierarchyFile.read(self.write(tmp_path / "a.csv", "34;low\n34.0;low\n")), 1)
        assert masked(alike, "34.00") == ["low"]
        unlike = FileHierarchy.of(HierarchyFile.read(self.write(tmp_path / "b.csv", "34;low\n34.0;high\n")), 1)
        with pytest.raises(UnmaskableValueError, match=r"'34\.0' is listed twice, in two spellings"):
            masked(unlike, "34")

    def test_a_file_in_another_encoding_is_refused(self, tmp_path):
        (tmp_path / "h.csv").write_bytes(b"caf\xe9;drink\n")
        with pytest.raises(PlanError, match=r"h\.csv is not CSV in UTF-8"):
            FileHierarchy.of(HierarchyFile.read(tmp_path / "h.csv", ";"), 1)
