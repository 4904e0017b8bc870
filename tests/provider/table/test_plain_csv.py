"""CSV files as people have them are read as the plain file with the same records."""

import zipfile
from contextlib import suppress

import pytest

from aegis_provider import TableError
from aegis_provider.draft import start
from aegis_provider.table import delimiter_in, described, open_table
from aegis_provider.table.plain_csv import OLDER, encoding_by_letters
from tests.for_each import for_each

ROWS = [
    ["Größe", "Ort", "krank"],
    *([str(150 + place % 9), "Köln" if place % 2 else "Gießen", "ja"] for place in range(40)),
]
ROWS += [["170", "Köln", "nein"]] * 20


def csv_of(rows, delimiter=";", end="\n"):
    return "".join(delimiter.join(row) + end for row in rows)


PLAIN = csv_of(ROWS)
HEADER, REST = PLAIN.split("\n", 1)
FILES = {
    "UTF-8": PLAIN.encode(),
    "UTF-8 with a mark": PLAIN.encode("utf-8-sig"),
    "Windows-1252": PLAIN.encode("cp1252"),
    "UTF-16": PLAIN.encode("utf-16"),
    "UTF-16, the other order": b"\xfe\xff" + PLAIN.encode("utf-16-be"),
    "sep=": b"sep=;\r\n" + csv_of(ROWS, end="\r\n").encode(),
    "titles": f"Patienten 2024\n\nStand: heute;;\n{PLAIN}".encode(),
    "a delimiter after every line": csv_of([[*row, ""] for row in ROWS]).encode(),
    "a delimiter after the header": f"{HEADER};\n{REST}".encode(),
    "delimiters after the records": f"{HEADER}\n{REST.replace(chr(10), ';;' + chr(10))}".encode(),
    "an empty column": csv_of([[row[0], "", *row[1:]] for row in ROWS]).encode(),
    "mixed line ends": (csv_of(ROWS[:9], end="\r\n") + csv_of(ROWS[9:30]) + csv_of(ROWS[30:], end="\r\n")).encode(),
    "blank lines at the end": f"{PLAIN}\n\n".encode(),
    "a total": f"{PLAIN};;\nSumme;60;\n".encode("cp1252"),
    **{
        f"the total {word}": f"{PLAIN}{word};;\n".encode()
        for word in ("I alt", "Total général", "Gesamtergebnis", "Ogółem", "Eindtotaal", "Totale complessivo")
    },
    "a total without a blank record": f"{PLAIN}Gesamt: 60;;\n".encode(),
    "commas": csv_of(ROWS, ",").encode("cp1252"),
}


def records_of(path):
    with open_table(path, delimiter=delimiter_in(path, "krank")) as table:
        return [
            list(table.columns),
            *(
                list(row)
                for batch in table.batches(table.columns)
                for row in zip(*batch.to_pydict().values(), strict=True)
            ),
        ]


@for_each(("how", "content"), FILES.items())
def test_what_is_no_record_is_left_out(how, content, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    assert records_of(path) == ROWS, how


def test_it_is_said_how_a_file_is_written_and_what_is_left_out(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(f"Patienten\n\n{csv_of([[*row, ''] for row in ROWS])};;;\nSumme;;;\n".encode("cp1252"))
    started = start(path, "krank", tmp_path / "plan.yaml")
    said = (
        "assumed by its letters: save it as UTF-8 if they look wrong; 2 lines above the header, 2 blank or total lines "
        "at the end, 1 column without a name and values left out"
    )
    assert started.described == f"{path}, CSV in Windows-1252 ({said}) separated by semicolons"
    assert started.records == len(ROWS) - 1


def test_places_are_those_of_the_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(f"Patienten\n\n{PLAIN}".encode("cp1252"))
    with open_table(path, delimiter=";") as table:
        assert table.located("krank", "nein") == f"{path}: line 44"
        assert described(table).startswith(f"{path}, CSV in Windows-1252")


def test_lines_that_are_no_records_count_for_places_too(tmp_path):
    path = tmp_path / "t.csv"
    lines = ['"a title of', 'two lines"', "Ort;;krank", "Köln;;ja", "", '"Gie', 'ßen";;ja', "", "Ulm;;nein"]
    path.write_bytes("\n".join(lines).encode("cp1252"))
    with open_table(path, delimiter=";") as table:
        places = [table.located(*each) for each in (("Ort", "Gie\nßen"), ("krank", "nein"))]
        assert places == [f"{path}: line {lines.index(line) + 1}" for line in ('"Gie', "Ulm;;nein")]


WORDS = {
    "German": "Größe Köln Gießen Müller Ärzte Übung",
    "French": "élève français Noël où cœur août âge très",
    "Spanish": "España Málaga León Cádiz niño",
    "Italian and German": "città perché però Brüneck Größe Völs",
    "Swedish": "Göteborg Malmö Ängelholm Åmål",
    "English": "it\u2019s “said” foo—bar Windows™ nº 5 m³ 20 °C § 5 café",
    "names": "Müller Ångström Nuñez François Žižek Škoda",
    "Polish": "Łódź Kraków Gdańsk Wrocław Poznań mężczyzna był",
    "Czech": "Třebíč Plzeň České Budějovice žena muž příjem",
    "Romanian": "Iaşi Bucureşti Constanţa bărbat",
}


@for_each(("language", "words"), WORDS.items())
def test_an_older_encoding_is_recognised_by_letters_that_make_words(language, words):
    for encoding in OLDER:
        with suppress(UnicodeEncodeError):  # it lacks a letter of the language
            content = f"Ort;krank\n{words};ja\n".encode(encoding)
            assert content.decode(encoding_by_letters(content)) == content.decode(encoding), (language, encoding)


def test_blank_lines_count_as_lines_of_the_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(f"Patienten\n\n{HEADER};\n\n{REST.replace('nein', 'nein;', 1)}".encode("cp1252"))
    with open_table(path, delimiter=";") as table:
        assert table.located("krank", "nein") == f"{path}: line 45"


@for_each(
    ("content", "message"),
    [
        (b"Titel\na;b;c\n1;2;3\n1;2\n", "t.csv: line 4: 2 fields where the header has 3"),
        (b"a;b;\n1;2;3\n", "t.csv: line 2: column 3 has the value '3', but no name"),
        (b"a;b;a;c;b\n1;2;3;4;5\n", "t.csv: line 1: two columns are called 'a', two 'b'; rename one"),
        (b"Titel\n\na;b\n1;\x81\n", "t.csv: not CSV in Windows-1252; save it as CSV UTF-8"),
        ("возраст;город\n30;Москва\n".encode("cp1251"), "t.csv: neither UTF-8 nor Windows-1252 ('âîçðàñò')"),
        (b'[{"a": 1, "krank": "ja"}]', "t.csv: is JSON; save it as CSV UTF-8, or read it with pandas (read_json)"),
        (b'\xef\xbb\xbf{"a": 1}', "t.csv: is JSON; save it as CSV UTF-8"),
        (b"ARROW1\0\0\xff\xff", "t.csv: is an Arrow file; save it as Parquet"),
        (b"$FL2@(#) SPSS DATA FILE", "t.csv: is a file of SPSS"),
        (b"\x1f\x8b\x08\x00", "t.csv: is compressed; unpack it with gunzip first"),
        (b"\xd0\xcf\x11\xe0\xa1", "t.csv: is an old Excel workbook; save the sheet as CSV UTF-8"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line_with_the_line_of_the_file(content, message, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(TableError) as raised, open_table(path, delimiter=";"):
        pass
    assert str(raised.value).removeprefix(f"{tmp_path}/").startswith(message)


def test_a_workbook_is_refused_with_the_ways_out(tmp_path):
    path = tmp_path / "t.xlsx"
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("xl/workbook.xml", "<workbook/>")
    with pytest.raises(
        TableError, match="is an Excel workbook, or another archive; save the sheet as CSV UTF-8, or read"
    ):
        start(path, "y", tmp_path / "plan.yaml")


@for_each(
    "last",
    ["Total recall;Köln;ja", "170;Summerland;nein", "1;;nein", "total loss;;", "alt;;", "m³;¹;ÄÖÜß"],
)
def test_a_record_that_only_looks_like_a_total_stays(last, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"{PLAIN}{last}\n", encoding="utf-8")
    assert records_of(path) == [*ROWS, last.split(";")]


def test_polish_of_windows_is_told_from_german(tmp_path):
    rows, path = [["Płaca", "Miasto"], ["1", "Łódź"], ["2", "Kraków"]], tmp_path / "t.csv"
    path.write_bytes(csv_of(rows).encode("cp1250"))
    assert records_of(path) == rows
    with open_table(path, delimiter=";") as table:
        assert described(table).startswith(f"{path}, CSV in Windows-1250 (assumed")


def test_files_of_one_table_have_one_older_encoding(tmp_path):
    """The letters of the second file alone are of no one language."""
    parts = {"1.csv": ["Łódź", "Kraków", "Gdańsk", "Wrocław", "Poznań"] * 3, "2.csv": ["Łódź", "Győr"]}
    for name, towns in parts.items():
        rows = [["Miasto", "y"], *([each, "1"] for each in towns)]
        (tmp_path / name).write_bytes(csv_of(rows).encode("cp1250"))
    with open_table(tmp_path / "2.csv", delimiter=";") as table:
        assert "Windows-1252" in described(table)
    with open_table(tmp_path / "*.csv", delimiter=";") as table:
        texts = [row["v0"] for batch in table.batches(["Miasto"]) for row in batch.to_pylist()]
    assert texts == [town for towns in parts.values() for town in towns]


def test_a_word_for_totals_that_many_records_have_is_a_value(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("claim;amount;krank\n" + "fire;3;ja\n" * 9 + "total;;ja\n" * 9, encoding="utf-8")
    assert len(records_of(path)) == 19


def test_a_blank_line_of_one_column_is_a_missing_value_in_a_copy_too(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("krank\nä\n\nnein\n".encode("cp1252"))
    assert records_of(path) == [["krank"], ["ä"], [""], ["nein"]]


def test_a_header_without_its_first_name_is_no_title(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(",krank\n0,ja\n1,nein\n", encoding="utf-8")
    assert records_of(path) == [["Unnamed: 0", "krank"], ["0", "ja"], ["1", "nein"]]


def test_a_record_with_decimal_commas_is_no_header(tmp_path):
    """The line of names has no comma, so it would be a title."""
    path = tmp_path / "t.csv"
    path.write_text("Größe;Gewicht;krank\n1,80;70,5;ja\n", encoding="utf-8")
    with pytest.raises(TableError, match="looks separated by semicolons; add --delimiter ';'"), open_table(path):
        pass


@for_each(
    ("header", "fields"),
    [
        ('"Name, first";"Age, years";ill', ["Name, first", "Age, years", "ill"]),
        ("People of 2024\nName, first;Age, years;ill", ["Name, first", "Age, years", "ill"]),
    ],
)
def test_names_may_have_another_delimiter_in_them(header, fields, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(f"{header}\nAda;36;no\n", encoding="utf-8")
    with open_table(path, delimiter=";") as table:
        assert list(table.columns) == fields


@for_each("encoding", ["cp1252", "utf-16"])
def test_a_line_without_an_end_is_refused_before_it_fills_the_memory(encoding, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(("ä,krank\n1,ja\n" + "x" * (3 << 20)).encode(encoding))
    with pytest.raises(TableError, match="line 3"), open_table(path):
        pass


def test_nothing_of_the_copy_stays(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = tmp_path / "t.csv"
    path.write_bytes(PLAIN.encode("cp1252"))
    with open_table(path, delimiter=";"):
        copies = list(tmp_path.glob("aegis-*/*.csv"))
        assert len(copies) == 1
        assert copies[0].parent.stat().st_mode & 0o077 == 0
    assert [each.name for each in tmp_path.iterdir()] == ["t.csv"]
