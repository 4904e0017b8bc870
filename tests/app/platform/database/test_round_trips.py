"""Documents come back unchanged from a real PostgreSQL."""

import numpy as np
import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from aegis_sdk.wire import COUNT_MAX
from app.advice.store.advice import AdviceStore
from app.advice.store.references import ReferenceStore
from app.entries.model.configurations import unpack_configurations
from app.entries.model.documents import decompress, with_counts
from app.entries.model.entries import Audience, Visibility
from app.entries.store.contents import ContentStore
from app.entries.store.entries import EntryStore
from app.platform.callers import Caller, Role
from app.platform.database.arrays import pack, unpack
from tests.pairs import associated_entry, paired_entry
from tests.service import example_entry, publication


async def stored(database, document):
    """Store a document; the id of its version and its publication."""
    published = publication(document)
    async with database.transaction() as session:
        entry_id = await EntryStore(session).add(published.name, "owner", published.visibility)
        version_id = await ContentStore(session).add(str(entry_id), 1, published.content)
    return version_id, published


def plain(value):
    """A document with lists instead of arrays."""
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value.tolist() if isinstance(value, np.ndarray) else value


async def read_back(database, version_id):
    async with database.transaction() as session:
        contents = ContentStore(session)
        schema = decompress(await contents.schema(version_id))
        configurations = decompress(await contents.configurations(version_id))
        return plain(with_counts(schema, await contents.count_tables(version_id))) | configurations


def odd_entry():
    """Empty and exotic texts, the largest counts, a label without records, one masked value without any."""
    few = COUNT_MAX - 2**52
    return {
        "format": 1,
        "name": "odd",
        "title": "Ünïcode \u2028 \U0001f600",
        "records": COUNT_MAX,
        "label": {"name": "ä\u00a0ö", "domain": ["", "ja", "nein"], "histogram": [2**52, few, 0]},
        "attributes": [
            {
                "name": "größe/~",
                "type": "string",
                "domain": ["", " ", "\t", "é", "e\u0301"],
                "histogram": [COUNT_MAX, 0, 0, 0, 0],
                "joint": [[2**52, few, 0], *[[0, 0, 0]] * 4],
                "maskings": [
                    {"id": "any", "domain": ["*", ""], "mapping": [0] * 5, "joint": [[2**52, few, 0], [0, 0, 0]]},
                    {"id": "unmapped", "domain": ["a"], "joint": [[2**52, few, 0]], "deterministic": True},
                    {"id": "uncounted", "domain": ["a"], "mapping": [0] * 5},
                    {
                        "id": "noisy",
                        "domain": ["a", "b"],
                        "noise": {"kind": "laplace", "scale": 2.0**53 - 1},
                        "rounded_to": COUNT_MAX,
                        "joint": [[-COUNT_MAX, COUNT_MAX, -1], [0, 1, 2]],
                    },
                    {
                        "id": "drawn",
                        "domain": ["a", "b"],
                        "records": 1,
                        "transition": [[0.1, 0.9], [1, 0], [0.0, 1.0], [1e-300, 1], [0.5, 0.5]],
                        "joint": [[1, 0, 0], [0, 0, 0]],
                    },
                ],
            }
        ],
        "configurations": [
            {"id": "größte", "maskings": {"größe/~": "any"}, "privacy": {"k": 2**52, "epsilon": 1e-300}},
            {"id": "c2", "maskings": {"größe/~": "drop"}},
        ],
    }


def odd_pairs():
    """Pairs with the largest counts, a table with a single cell, and a masked value without records."""
    document = odd_entry()
    first = document["attributes"][0]
    whole = {"name": "one", "type": "string", "domain": ["x"], "histogram": [COUNT_MAX]}
    document["attributes"].append(whole)
    for configuration in document["configurations"]:
        configuration["maskings"]["one"] = "drop"
    document["pairs"] = [
        {"attributes": [first["name"], "one"], "maskings": ["any", "identity"], "joint": [[COUNT_MAX], [0]]},
        {"attributes": ["one", first["name"]], "maskings": ["identity", "uncounted"], "joint": [[COUNT_MAX]]},
        {
            "attributes": ["one", first["name"]],
            "maskings": ["identity", "identity"],
            "joint": [[COUNT_MAX, 0, 0, 0, 0]],
        },
    ]
    return document | {"name": "odd-pairs"}


def only_associations():
    """Pairs without any counts."""
    told = [{name: one[name] for name in one if name != "joint"} for one in associated_entry()["pairs"]]
    return paired_entry(name="only-associations", pairs=told)


def null_members():
    """Pairs whose missing parts are there as null, turn about."""
    entry = associated_entry(name="null-members")
    for place, pair in enumerate(entry["pairs"]):
        pair["joint" if place % 2 else "with_label"] = None
    return entry | {"pairs": [pair for pair in entry["pairs"] if pair.get("joint") or pair.get("with_label")]}


ENTRIES = [
    example_entry(),
    odd_entry(),
    paired_entry(),
    odd_pairs(),
    paired_entry(name="no-pairs", pairs=[]),
    associated_entry(name="associated"),
    only_associations(),
    null_members(),
]


@pytest.mark.parametrize("document", ENTRIES, ids=lambda document: document["name"])
async def test_an_entry_comes_back_as_it_was(database, document):
    version_id, _ = await stored(database, document)
    assert await read_back(database, version_id) == document


def test_an_outline_has_the_sizes_of_the_attribute():
    [age] = publication(example_entry()).content.outline
    assert (age.cells, age.labels) == (8 * 5, 5)
    assert [masking.occupied for masking in age.maskings] == [2]


async def test_an_outline_from_before_inexact_counts_can_be_read(database, database_url):
    version_id, publication = await stored(database, example_entry())
    with psycopg.connect(database_url, autocommit=True) as connection:
        connection.execute("UPDATE entry_version SET outline = outline #- '{0,maskings,0,perturbed}'")
        connection.execute("UPDATE entry_version SET outline = outline #- '{0,maskings,0,drawn}'")
        assert "drawn" not in connection.execute("SELECT outline::text FROM entry_version").fetchone()[0]
    async with database.transaction() as session:
        assert (await ContentStore(session).hold(version_id)).outline == publication.content.outline


async def test_the_configurations_come_back_as_numbers(database):
    version_id, publication = await stored(database, odd_entry())
    async with database.transaction() as session:
        contents = ContentStore(session)
        frame = await contents.hold(version_id)
        table = unpack_configurations(await contents.configuration_table(version_id, frame), frame.outline)
    assert frame.outline == publication.content.outline
    assert table.ids == ("größte", "c2")
    assert table.options == (("identity", "drop", "any", "unmapped", "uncounted", "noisy", "drawn"),)
    assert table.codes.tolist() == [[2], [1]]
    assert set(table.privacy) == {"k", "epsilon"}
    assert table.privacy["k"][0] == 2**52
    assert np.isnan(table.privacy["epsilon"][1])


async def test_counts_of_some_attributes_are_those_and_the_label_s(database):
    document = example_entry()
    document["attributes"].append(document["attributes"][0] | {"name": "again"})
    for configuration in document["configurations"]:
        configuration["maskings"]["again"] = "drop"
    version_id, _ = await stored(database, document)
    async with database.transaction() as session:
        some = await ContentStore(session).count_tables(version_id, [1])
    assert {(table.kind.value, table.attribute) for table in some} == {
        ("label_histogram", None),
        ("histogram", 1),
        ("masked_joint", 1),
    }


@pytest.mark.parametrize(
    ("pairs", "kinds"), [(True, {None: {"label_histogram", "pairs"}}), (False, {None: {"label_histogram"}})]
)
async def test_the_counts_of_pairs_are_loaded_only_where_they_are_asked_for(database, pairs, kinds):
    version_id, _ = await stored(database, paired_entry())
    async with database.transaction() as session:
        some = await ContentStore(session).count_tables(version_id, [0], pairs=pairs)
    found = {}
    for table in some:
        found.setdefault(table.attribute, set()).add(table.kind.value)
    assert found == kinds | {0: {"histogram", "masked_joint"}}


@pytest.mark.parametrize(
    ("document", "expected"),
    [(paired_entry(), True), (paired_entry(pairs=[]), False), (associated_entry(), True), (only_associations(), False)],
)
async def test_whether_there_are_pair_counts_is_known(database, document, expected):
    await stored(database, paired_entry(name="another"))
    version_id, _ = await stored(database, document)
    async with database.transaction() as session:
        assert await ContentStore(session).has_pairs(version_id) is expected


async def test_without_pair_counts_there_is_no_table_of_them(database):
    version_id, _ = await stored(database, only_associations())
    async with database.transaction() as session:
        some = await ContentStore(session).count_tables(version_id, [0], pairs=True)
    assert {table.kind.value for table in some} == {"label_histogram", "histogram", "masked_joint"}


async def test_all_pairs_of_a_version_are_one_row(database, database_url):
    await stored(database, paired_entry())
    with psycopg.connect(database_url) as connection:
        rows = connection.execute("SELECT attribute, masking, shape FROM count_table WHERE kind = 'pairs'").fetchall()
    assert rows == [(None, None, [sum(np.size(pair["joint"]) for pair in paired_entry()["pairs"])])]


async def test_counts_take_the_smallest_type_and_are_compressed(database, database_url):
    await stored(database, example_entry())
    with psycopg.connect(database_url) as connection:
        types = connection.execute("SELECT DISTINCT dtype FROM count_table").fetchall()
    assert types == [("|u1",)]


@pytest.mark.parametrize(
    "visibility", [Visibility(Audience.PRIVATE), Visibility(Audience.ALL), Visibility(Audience.TENANTS, ("a", "ü,{}"))]
)
async def test_a_visibility_comes_back_as_it_was(database, visibility):
    document = example_entry()
    version_id, publication = await stored(database, document)
    owner = Caller("owner", frozenset({Role.PROVIDER}))
    async with database.transaction() as session:
        entries = EntryStore(session)
        head = await entries.find_by_name(owner, "health-survey")
        await entries.set_visibility(head.id, visibility)
        head = await entries.find(owner, head.id)
    assert head.visibility == visibility
    assert (head.version_id, head.digest) == (version_id, publication.content.digest)


@given(
    arrays.arrays(
        st.sampled_from([np.int64, np.int32]), arrays.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5)
    )
)
def test_any_array_of_integers_comes_back_from_its_package(array):
    found = unpack(pack(array))
    assert found.dtype == np.int64
    assert found.shape == array.shape
    assert (found == array).all()


@given(arrays.arrays(np.float64, arrays.array_shapes(max_dims=2, max_side=5)))
def test_any_array_of_floats_comes_back_from_its_package(array):
    np.testing.assert_array_equal(unpack(pack(array)), array)


async def test_more_attributes_can_be_asked_for_than_a_statement_has_parameters(database):
    version_id, _ = await stored(database, example_entry())
    many = range(70_000)
    async with database.transaction() as session:
        tables = await ContentStore(session).count_tables(version_id, many)
        assert tables == await ContentStore(session).count_tables(version_id)
        assert await ReferenceStore(session).missing(version_id, "any", [0]) == [0]
        assert await ReferenceStore(session).missing(version_id, "any", many) == list(many)
        assert await ReferenceStore(session).load(version_id, "any", many) == ()
        assert await AdviceStore(session).lacking(version_id, "any", many) == []
        assert await AdviceStore(session).complete(version_id, "any", many) == []
