"""A harvester that follows the links of a catalogue, as others' do."""

VIEW = ["hydra:PartialCollectionView"]


async def harvested(api, key, **asked):
    """The pages of the catalogue as JSON-LD, each with its address."""
    pages, address = [], "/catalog.jsonld"
    while address:
        answer = await api.get(address, params=asked, headers=key)
        assert answer.status_code == 200, answer.text
        page = answer.json()
        [view] = [node for node in page["@graph"] if node["@type"] == VIEW]
        pages.append((view["@id"], page))
        address, asked = view.get("hydra:next", {}).get("@id"), None
    return pages


def nodes_of(pages, kind):
    """The nodes of a type on all pages by address; each is on one page."""
    nodes = [node for _, page in pages for node in page["@graph"] if kind in node["@type"]]
    by_address = {node["@id"]: node for node in nodes}
    assert len(by_address) == len(nodes)
    return by_address
