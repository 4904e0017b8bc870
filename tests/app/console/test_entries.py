"""The pages of an entry: what it is, has and offers, its long lists, its counts, and what its owners change there."""

import re
import shlex

import numpy as np
import pytest

from aegis_advisor.evidence import ControlContent
from aegis_sdk.wire import EXAMPLE_DRAWN_MASKING, EXAMPLE_NOISY_MASKING
from app.entries.pages.entry_views import control_words
from tests.app.console.callers import CONSUMER
from tests.app.console.html import look
from tests.generated import mixed_entry
from tests.labels import LABELS, MAPPINGS, VALUES, entry_of, some_records
from tests.service import ACCEPTED, example_entry, publish

NASTY = "<script>alert(1)</script>\"'&\u202e\u0645\u0631\u062d\U0001f600"


def many(attributes=60, configurations=80):
    """An entry whose lists have several pages."""
    entry = example_entry(visibility="all")
    one = entry["attributes"][0]
    entry["attributes"] = [one | {"name": f"age-{place}"} for place in range(attributes)]
    names = [attribute["name"] for attribute in entry["attributes"]]
    del entry["configurations"]
    entry["configuration_table"] = {
        "ids": [f"c{place}" for place in range(configurations)],
        "maskings": {name: ["age-2", "drop"] * (configurations // 2) for name in names},
        "privacy": {
            "k": [1 + place % 100 for place in range(configurations)],
            "t": [None, 0.25] * (configurations // 2),
        },
    }
    return entry


def places_of(page, part):
    """The pages of a list that a page links."""
    return {link for link in page.links if link and link.endswith(f"#{part}")}


async def test_the_page_says_what_the_entry_is_and_offers(api):
    entry = example_entry(description="# Survey\n\nSee [the *book*](https://a.example/?x=1).", license="CC0-1.0")
    head = await publish(api, entry)
    page = await look(api, f"/entries/{head['id']}")
    for words in (
        "Self-rated health", "health-survey of default, version 1", "Survey See the book.",
        "with 5 classes: VP P M G VG", "100 records, 1 attribute", "CC0-1.0", "2 configurations may be requested",
        "8 values: 10 17 43 55 60 65 75 80", "age-2 2 intervals: 10 to 46, 46 to 81, 2 values",
        "its own tenant only", "None: the counts are exact.", head["digest"],
    ):  # fmt: skip
        assert words in page.text
    links = {one["href"]: one for one in page.all("a")}
    assert links["https://a.example/?x=1"]["rel"] == "nofollow noopener noreferrer"
    assert {f"/entries/{head['id']}/ask", f"/requests/new?entry={head['id']}", "/?keyword=health"} <= links.keys()
    assert [tag for tag, _ in page.tags if tag in {"h1", "h2", "h3"}] == ["h1", "h2", "h2", "h3", "h2", "h2", "h2"]


async def test_guarantees_are_counted(api):
    head = await publish(api, many())
    text = (await look(api, f"/entries/{head['id']}")).text
    for least, number in ((2, 79), (5, 76), (10, 71), (20, 61)):
        assert f"k of at least {least} {number}" in text
    assert "by equal distance 40 0.25 0.25" in text


async def test_long_lists_are_paged_and_every_row_is_on_one_page(api):
    head = await publish(api, many())
    place, seen = f"/entries/{head['id']}", {"attributes": [], "configurations": []}
    for number in (1, 2, 3, 4):
        page = await look(api, f"{place}?attributes={number}&configurations={number}")
        rows = re.findall(r"\b(age-\d+) integer|\b(c\d+) [^:]{1,80} up to [\d,]+ (?:age-0:|nothing)", page.text)
        seen["configurations"] += [name for _, name in rows if name]
        seen["attributes"] += [name for name, _ in rows if name and number < 4]
    assert seen["attributes"] == [f"age-{number}" for number in range(60)]
    assert seen["configurations"] == [f"c{number}" for number in range(80)]
    first = await look(api, f"{place}?configurations=2")
    assert "1 to 25 of 60" in first.text
    assert f"{place}?configurations=2&attributes=2#attributes" in places_of(first, "attributes")
    assert "51 to 60 of 60" in (await look(api, f"{place}?attributes=99")).text


async def test_what_is_cut_has_a_page_of_its_own(api):
    head = await publish(api, many())
    place = f"/entries/{head['id']}"
    page = await look(api, place)
    assert "and 52 more" in page.text
    whole = await look(api, f"{place}/configuration?place=78")
    assert "Configuration c78" in whole.text
    assert whole.text.partition("It shares")[2].count(" age-2 ") == 60
    assert "not shared" in (await look(api, f"{place}/configuration?place=79")).text
    assert "no configuration at place 80" in (await look(api, f"{place}/configuration?place=80", 404)).text


async def test_an_attribute_shows_its_domain_and_what_maskings_make_of_it(api):
    entry = example_entry()
    entry["attributes"][0]["maskings"].append(EXAMPLE_DRAWN_MASKING)
    head = await publish(api, entry)
    place = f"/entries/{head['id']}/attribute"
    page = await look(api, f"{place}?name=age")
    assert "10 10-45 17 10-45 43 10-45 55 46-80" in page.text
    assert "2 masked values, without a mapping: young old" in page.text
    assert "no attribute 'nothing'" in (await look(api, f"{place}?name=nothing", 404)).text


async def test_a_preview_is_marked_as_made_up_and_leads_to_the_request(api):
    head = await publish(api, mixed_entry())
    place = f"/entries/{head['id']}"
    masked = next(each["id"] for each in mixed_entry()["configurations"] if each.get("kind") != "generated")
    assert f"{place}?preview={masked}#preview" in (await look(api, place)).links
    page = await look(api, f"{place}?preview={masked}")
    made = (await api.get(f"/v1{place}/preview", params={"configuration": masked, "rows": 10})).json()
    rows = [" ".join("true" if cell is True else cell for cell in row.values()) for row in made["rows"]]
    assert "made up No row is in the table. The rows are drawn from the published counts" in page.text
    assert f"{' '.join(made['columns'])} {' '.join(rows)} Request this table" in page.text
    assert f"/requests/new?entry={head['id']}&version=1&configuration={masked}" in page.links
    assert "masked configuration" in (await look(api, f"{place}?preview=none", 422)).text


async def test_a_long_domain_is_paged(api):
    entry = example_entry()
    entry["attributes"] = [{"name": "age", "type": "integer", "domain": [f"w{n}" for n in range(250)]}]
    entry["configurations"] = [{"id": "c", "maskings": {"age": "drop"}}]
    head = await publish(api, entry)
    page = await look(api, f"/entries/{head['id']}")
    assert "250 values: w0 w1 w2 w3 w4 w5 w6 w7 and 242 more" in page.text
    values = [await look(api, f"/entries/{head['id']}/attribute?name=age&values={number}") for number in (1, 2, 3)]
    assert [re.findall(r"\bw(\d+)", page.text) for page in values] == [
        [*map(str, range(start, min(start + 100, 250)))] for start in (0, 100, 200)
    ]


async def test_versions_are_linked_and_an_older_one_says_so(api):
    head = await publish(api)
    path, place = f"/v1/entries/{head['id']}", f"/entries/{head['id']}"
    document = example_entry(title="Second")
    assert (await api.put(path, json=document, headers={"If-Match": "*"}, params=ACCEPTED)).status_code == 200
    page = await look(api, place)
    assert "Second" in page.text
    assert {f"{place}?version=1", f"{place}?version=2"} <= set(page.links)
    older = await look(api, f"{place}?version=1")
    assert "Self-rated health" in older.text
    assert "not the latest" in older.text
    assert f"{place}/attribute?version=1&name=age" in older.links
    assert "version 3" in (await look(api, f"{place}?version=3", 404)).text


async def test_generated_tables_and_measured_models_are_named(api):
    head = await publish(api, mixed_entry())
    page = await look(api, f"/entries/{head['id']}")
    assert "generated by wgan-gp" in page.text
    assert "3 of them generated" in page.text
    assert "membership 0.52" in page.text


@pytest.mark.parametrize(
    ("control", "words"),
    [
        ({"min_cell": 5}, "no count but 0 is below 5"),
        ({"rounded_to": 5}, "to a multiple of 5"),
        ({"rounded_to": 5, "rounding": "once"}, "once, so that all tables agree"),
        ({"epsilon": 1.5, "split": "equal"}, "epsilon 1.5, split over the tables in equal parts"),
        ({"open_answers": True}, "full answers"),
    ],
    ids=["minimum", "rounded", "once", "noise", "open"],
)
def test_controls_are_told_in_words(control, words):
    assert any(words in sentence for sentence in control_words(ControlContent(**control)))


async def test_owners_see_counts_as_charts_and_tables(api):
    place = f"/entries/{(await publish(api))['id']}/counts"
    page = await look(api, place)
    assert "Records by health" in page.text
    assert "Joint counts" not in page.text
    page = await look(api, f"{place}?attribute=age")
    assert "Records by age" in page.text
    assert {one["href"] for one in page.all("a") if "masking=" in (one["href"] or "")} == {
        f"{place}?attribute=age&masking=", f"{place}?attribute=age&masking=age-2"
    }  # fmt: skip
    page = await look(api, f"{place}?attribute=age&masking=age-2")
    assert "10-45 0 0 1 7 12 46-80 15 25 29 9 2" in page.text
    assert "no attribute 'x'" in (await look(api, f"{place}?attribute=x", 404)).text


async def test_the_counts_of_every_label_are_shown(api):
    records = some_records(7)
    place = f"/entries/{(await publish(api, entry_of(records, LABELS)))['id']}/counts"
    page = await look(api, f"{place}?label=charges")
    assert "Records by charges" in page.text
    assert {f"{place}?label={label}" for label in LABELS} <= set(page.links)
    for attribute, masking, label in (("age", "age-odd", "smoker"), ("zip", "zip-2", "smoker"), ("age", "", "charges")):
        values = np.array(MAPPINGS.get((attribute, masking), range(VALUES[attribute])))[records[attribute]]
        page = await look(api, f"{place}?attribute={attribute}&label={label}&masking={masking}")
        assert f"Joint counts with {label}" in page.text
        for value in range(values.max() + 1):
            told = [np.sum((values == value) & (records[label] == one)) for one in range(VALUES[label])]
            assert f"{attribute} {value} {' '.join(map(str, told))} " in f"{page.text} "
    page = await look(api, f"{place}?attribute=smoker&label=smoker")
    assert "Joint counts with health" in page.text
    assert "no label 'age'" in (await look(api, f"{place}?label=age", 404)).text


async def test_noisy_counts_below_zero_are_shown_as_they_are(api):
    entry = example_entry()
    entry["attributes"][0]["maskings"][0] = EXAMPLE_NOISY_MASKING
    place = f"/entries/{(await publish(api, entry))['id']}/counts"
    assert "10-45 -1 2 0 6 15" in (await look(api, f"{place}?attribute=age&masking=age-2")).text


async def test_an_attribute_without_counts_says_so(api):
    entry = example_entry()
    entry["attributes"][0] = {"name": "age", "type": "integer", "domain": ["1", "2"]}
    entry["configurations"] = [{"id": "c", "maskings": {"age": "identity"}}]
    place = f"/entries/{(await publish(api, entry))['id']}/counts"
    assert "no counts of this attribute" in (await look(api, f"{place}?attribute=age")).text


async def test_texts_of_the_provider_are_shown_as_texts(api):
    name = f"n {NASTY}"
    entry = example_entry(
        title=NASTY, description=NASTY, keywords=[NASTY], license=NASTY, terms={NASTY: [NASTY]}, visibility="private"
    )
    attribute = entry["attributes"][0]
    masking = attribute["maskings"][0]
    entry["label"] |= {"name": NASTY, "domain": [NASTY, *entry["label"]["domain"][1:]]}
    attribute |= {"name": name, "domain": [NASTY, *attribute["domain"][1:]], "discretization": {"rule": NASTY}}
    masking |= {"id": NASTY, "domain": [NASTY, "x"], "function": {"name": NASTY, "parameters": {NASTY: NASTY}}}
    entry["configurations"] = [{"id": NASTY, "maskings": {name: NASTY}}]
    head = await publish(api, entry)
    place = f"/entries/{head['id']}"
    page = await look(api, place)
    links = [link for link in page.links if link and link.startswith("/")]
    for path in [place, f"{place}/configuration?place=0", f"{place}/delete", f"{place}/visibility", *links]:
        if path.partition("?")[0] in {"/", "/docs", "/publish", "/requests/new"} or path.endswith("/ask"):
            continue
        shown = await look(api, path)
        assert all((one.get("src") or "").startswith("/static/") for one in shown.all("script"))
        assert not [each for _, named in shown.tags for each in named if each.startswith("on")]
    assert page.text.count("<script>alert(1)</script>") >= 10


async def test_very_long_names_hold(api):
    long = "x" * 255
    entry = example_entry(title="t" * 300, keywords=["k" * 100])
    entry["attributes"][0] |= {"name": long, "domain": ["v" * 1000, *entry["attributes"][0]["domain"][1:]]}
    entry["configurations"] = [{"id": long, "maskings": {long: "age-2"}}]
    place = f"/entries/{(await publish(api, entry))['id']}"
    page = await look(api, place)
    assert "v" * 31 not in page.text
    name = next(link for link in page.links if "/attribute?" in link)
    assert "v" * 190 in (await look(api, name)).text


async def test_the_lines_to_copy_read_the_same(api, seen_by):
    head = await publish(api, example_entry(visibility="all"))
    place = f"/entries/{head['id']}"
    lines = [shlex.split(line) for line in re.findall(r"<code data-copy>(.*?)</code>", (await api.get(
        f"{place}?version=1", headers={"Accept": "text/html"})).text.replace("&#34;", '"'))]  # fmt: skip
    assert ["aegis", "search", "health-survey"] in lines
    calls = [line[-1].removeprefix("$AEGIS_URL") for line in lines if line[0] == "curl"]
    assert calls == [f"/v1/entries/{head['id']}?version=1", f"/v1/entries/{head['id']}/summaries?version=1"]
    for call in calls:
        assert (await api.get(call)).status_code == 200
    seen_by(CONSUMER)
    assert "aegis entries delete" not in (await look(api, place)).text


async def test_a_large_entry_is_read_by_a_child_and_kept(api):
    """The child process that makes large answers makes the index, too."""
    head = await publish(api, many(attributes=400, configurations=400))
    state = api._transport.app.state.aegis
    assert len(state.read._kept) == 0
    page = await look(api, f"/entries/{head['id']}")
    assert "1 to 25 of 400" in page.text
    assert state.making.state().is_alive
    assert len(state.read._kept) == 1
    assert "376 to 400 of 400" in (await look(api, f"/entries/{head['id']}?attributes=16")).text
