"""Where faults are, for people: names instead of indices, lines, excerpts without numbers of people."""

import json
from itertools import repeat

from app.entries.pages.document_places import DocumentPlace, places_in
from tests.service import example_entry

BODY = json.dumps(example_entry(pairs=[{"attributes": ["age", "zip"], "joint": [[7]]}]), indent=1).encode()


def place(pointer, body=BODY):
    return places_in(body, [pointer])[0]


NAMES = [
    ("", ""),
    ("/license", "license"),
    ("/attributes/0/colour", "attribute age, colour"),
    ("/attributes/0/histogram/2", "attribute age, histogram, 43"),
    ("/attributes/0/maskings/0/mapping/7", "attribute age, masking age-2, mapping, item 8"),
    ("/attributes/0/maskings/0/joint/1/4", "attribute age, masking age-2, joint, 46-80, VG"),
    ("/attributes/7", "attribute 8"),
    ("/label/histogram/0", "label, histogram, VP"),
    ("/configurations/1/maskings/age", "configuration c02, maskings, age"),
    ("/pairs/0/joint/0/0", "pair age and zip, joint, item 1, item 1"),
    ("/nothing/a~1b/~0", "nothing, a/b, ~"),
]


def test_a_place_has_the_names_of_things():
    assert [(pointer, place(pointer).names) for pointer, _ in NAMES] == NAMES


def test_a_place_has_its_line_and_what_stands_there():
    line = next(number for number, text in enumerate(BODY.decode().split("\n"), 1) if '"CC0-1.0"' in text)
    assert place("/license") == DocumentPlace("/license", "license", line, '"license": "CC0-1.0"')
    assert place("/attributes/0/maskings/0/domain").excerpt == '"domain": ["10-45", "46-80"]'
    assert place("/attributes/0/domain").excerpt.endswith('"75", "80"]')
    assert '"histogram": […]' in place("/attributes/0/colour").excerpt


def test_no_excerpt_has_a_number_of_people():
    entry = example_entry()
    entry["attributes"][0]["domain"] = list("abcdefgh")
    entry["attributes"][0]["maskings"][0]["function"] = None
    secret = json.loads(json.dumps(entry), parse_int=lambda _: 77_777)
    body = json.dumps(secret).encode()

    def pointers(value, at=""):
        yield at
        items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for name, each in items:
            yield from pointers(each, f"{at}/{name}")

    told = {one.pointer for one in places_in(body, list(pointers(secret))) if "77777" in one.excerpt}
    numbers = {
        "/format",
        "/attributes/0/maskings/0/mapping",
        *(f"/attributes/0/maskings/0/mapping/{i}" for i in range(8)),
    }
    privacy = {"/configurations/0/privacy", "/configurations/0/privacy/k"}
    assert told == numbers | privacy | {""}  # the format is in the excerpt of the whole document


def test_long_names_and_texts_are_cut():
    entry = example_entry(title="x" * 5_000)
    entry["attributes"][0]["name"] = "n" * 255
    shown = places_in(json.dumps(entry).encode(), ["/title", "/attributes/0/x"])
    assert [len(one.excerpt) for one in shown] == [161, 161]
    assert shown[1].names == f"attribute {'n' * 60}…, x"


def test_a_text_that_is_no_json_has_no_places():
    bodies = [b"", b"{", b"[1,", b'{"a" 1}', b"\xff\xfe", "".join(repeat("[", 5_000)).encode()]
    assert [place("/a/0", body).pointer for body in bodies] == ["/a/0"] * len(bodies)


def test_a_byte_order_mark_and_escapes_do_not_matter():
    assert place("/größe", '\ufeff {"gr\\u00f6\\u00dfe" :\n 1}'.encode()) == DocumentPlace(
        "/größe", "größe", 2, '"größe": 1'
    )
