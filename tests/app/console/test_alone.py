"""What an entry says of records that are alone on all shared columns: in heads, in listings and on pages."""

from tests.app.console.html import Html, look
from tests.app.console.publishing import check, confirm, entries, large_counts
from tests.app.console.test_advice import answered
from tests.service import Worker, create_key, publish, running_app

ONLY = (
    "Private only against attackers who know no more than: age; "
    "91 % of the records are alone on all shared columns in c01"
)
UNSTATED = "How many records are alone on all shared columns is not stated."


def stating(alone=(0.91, 0.0), **changes):
    """An entry of two configurations, which share age and nothing, that states how many each leaves alone."""
    entry = large_counts(visibility="all", **changes)
    entry["quasi_identifiers"] = ["age"]
    entry["configurations"] = [
        one | {"alone": share} for one, share in zip(entry["configurations"], alone, strict=True)
    ]
    return entry


async def test_it_stands_in_heads_listings_and_schemas_of_all_who_see_the_entry(database_url):
    async with running_app(database_url) as api:
        owner = await create_key(database_url, "default", "provider")
        other = await create_key(database_url, "other", "consumer")
        head = await publish(api, stating(), **owner)
        await publish(api, large_counts(name="silent", visibility="all"), **owner)
        assert head["alone"] == 0.91
        for key in (owner, other):
            seen = (await api.get(f"/v1/entries/{head['id']}", headers=key)).json()
            assert (seen["alone"], seen["schema"]["quasi_identifiers"]) == (0.91, ["age"])
            assert [each["alone"] for each in seen["schema"]["configurations"]] == [0.91, 0.0]
            listed = (await api.get("/v1/entries", headers=key)).json()["items"]
            assert {each["name"]: each["alone"] for each in listed} == {"health-survey": 0.91, "silent": None}


async def test_pages_say_it_first(database_url):
    async with running_app(database_url) as api, Worker.on(database_url) as worker:
        head, silent = await publish(api, stating()), await publish(api, large_counts(name="silent"))
        for place, words in ((head["id"], f"{ONLY}, the worst configuration offered"), (silent["id"], UNSTATED)):
            page = (await look(api, f"/entries/{place}")).text
            assert page.index(words) < page.index("Predicts")
        listing = (await look(api, "/")).text
        assert "at most 91 % of the records are alone on all shared columns" in listing
        assert "how many records are alone on all shared columns is not stated" in listing
        place = await answered(api, worker, head["id"], {"measure": "mutual_information"})
        page = (await look(api, place)).text
        assert page.index(ONLY) < page.index("It is the best of")


async def test_a_file_is_published_by_a_line_that_accepts_it(database_url):
    async with running_app(database_url) as api:
        for entry, words, option in (
            (
                stating(name="many"),
                f"{ONLY}, the worst configuration offered; c01 shares 1 column besides health, masked",
                True,
            ),
            (
                stating((0.01, 0.0)),
                "1 % of the records are alone on all shared columns in c01, the worst configuration offered;",
                False,
            ),
            (large_counts(), UNSTATED, False),
        ):
            checked = await check(api, entry)
            shown = Html(checked.text)
            page, asked = shown.text, [one for one in shown.all("input") if one.get("name") == "accept_unique"]
            assert ["required" in one for one in asked] == [True] * option
            assert page.index(words) < page.index("PASS" if "PASS" in page else "NOT DECIDED")
            assert ("--accept-unique" in page) == option
            if option:
                assert (await confirm(api, checked, accept_unique="on")).status_code == 303


async def test_more_than_one_percent_must_be_accepted(database_url):
    async with running_app(database_url) as api:
        await confirm(api, await check(api, stating((0.01, None), name="few")))
        for changes in ({}, {"title": "a new version"}):
            entry, published = stating((None, 0.0101), **changes), await entries(api)
            refused = await confirm(api, await check(api, entry))
            assert refused.status_code == 422
            assert "It was not published. Many records are alone on all columns" in Html(refused.text).text
            assert await entries(api) == published
            assert (await confirm(api, refused, accept_unique="on")).status_code == 303
            assert (await confirm(api, refused)).status_code == 303  # it is published already
        assert {each["name"]: each["version"] for each in await entries(api)} == {"few": 1, "health-survey": 2}


async def test_pages_say_people_where_privacy_counts_them(database_url):
    unit = {"format": 3, "unit": "person", "people": 5000, "rows_per_person": 4}
    async with running_app(database_url) as api:
        checked = await check(api, stating() | unit)
        page = Html(checked.text).text
        assert "many people are alone" in page
        assert "5,000, with at most 4 records each; privacy counts them" in page
        assert "records are alone" not in page
        await publish(api, stating() | unit)
        place = f"/entries/{(await entries(api))[0]['id']}"
        page = (await look(api, place)).text
        assert "at least this many people look alike" in page
        assert "this many records look alike" not in page
        assert "91 % of the people" in (await look(api, f"{place}/configuration?place=0")).text
