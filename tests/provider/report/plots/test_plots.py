"""What the figures show, read back from the figures."""

import json
import struct
import warnings
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch, Rectangle

from aegis_provider.errors import OutputError, PlotError
from aegis_provider.report.plots import (
    drawable,
    lattice,
    page,
    write_image,
    write_page,
)
from aegis_provider.report.plots.layered import layered
from aegis_sdk.reading import Lattice, Node, lattice_of
from aegis_sdk.wire import EXAMPLE_ENTRY, EntryDocument
from tests.for_each import for_each
from tests.provider.report.plots.plotting import PRIVACY, advice_of, entry_of, many

UNKNOWN = "#d6d6d6"
HOSTILE = "<script>alert(1)</script> & $x^{$"


def with_maskings(*maskings, domain=4):
    attribute = {
        **EXAMPLE_ENTRY["attributes"][0],
        "domain": [str(each) for each in range(domain)],
        "maskings": [*maskings],
    }
    attribute.pop("histogram")
    configurations = [{"id": "c1", "maskings": {"age": "drop"}}]
    return EntryDocument.model_validate(
        {**EXAMPLE_ENTRY, "attributes": [attribute], "configurations": configurations},
    )


def masking(name, mapping):
    return {"id": name, "domain": [str(each) for each in range(len(mapping))], "mapping": mapping}


class TestLattice:
    ENTRY = with_maskings(
        masking("fine", [0, 1, 2, 2]),
        masking("coarse", [0, 1, 1, 1]),
        masking("same", [1, 0, 0, 0]),
        masking("other", [0, 0, 1, 2]),
        {"id": "drawn", "domain": ["x"], "joint": [[0, 0, 0, 0, 0]]},
    )

    def test_boxes_are_nodes_and_lines_are_covers(self):
        axes = lattice(self.ENTRY).axes[0]
        boxes = [each for each in axes.patches if isinstance(each, FancyBboxPatch)]
        found = lattice_of(self.ENTRY.attributes[0])
        assert len(boxes) == len(found.nodes) + 1
        assert [each.get_linestyle() for each in boxes].count("--") == 1
        assert len(axes.lines) == len(found.covers)
        texts = [each.get_text() for each in axes.texts]
        for name in ("age", "identity", "fine", "coarse", "same", "other", "drawn", "drop", "4 values", "1 value"):
            assert name in texts

    def test_finer_stands_below_coarser(self):
        places = {each.get_text(): each.get_position()[1] for each in lattice(self.ENTRY).axes[0].texts}
        assert places["identity"] < places["fine"] < places["coarse"] < places["drop"]
        assert places["identity"] < places["other"] < places["drop"]

    def test_no_box_lies_over_another(self):
        random = np.random.default_rng(3)
        maskings = [masking(f"masking-{each}", random.integers(0, 4, 9).tolist()) for each in range(12)]
        axes = lattice(with_maskings(*maskings, domain=9)).axes[0]
        boxes = [each.get_window_extent() for each in axes.patches if isinstance(each, FancyBboxPatch)]
        assert len(boxes) == 14
        assert not any(one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place])

    def advised(self, knowledge="joint", maskings=None, **fields):
        """Return the diagram of the entry with an advice, and the colour of each masking's box."""
        deviations = {"fine": 0.0, "coarse": 0.1} if maskings is None else maskings
        scores = {
            name: {"utility": 0.2 - deviation, "deviation": deviation, "source": "counts"}
            for name, deviation in deviations.items()
        }
        bounds = {name: fields.pop(name) for name in ("lower_bound", "upper_bound") if name in fields}
        bounds |= {"bound": "exact"} if knowledge == "joint" else {}
        attribute = {"name": "age", "knowledge": knowledge, "reference_utility": 0.2, "maskings": scores, **bounds}
        figure = lattice(self.ENTRY, advice_of({"c1": 0.1}, attributes=[attribute], **fields))
        nodes = [node.maskings for node in lattice_of(self.ENTRY.attributes[0]).nodes]
        boxes = [each for each in figure.axes[0].patches if isinstance(each, FancyBboxPatch)]
        colours = [to_hex(each.get_facecolor()) for each in boxes]
        return figure, dict(zip([*(name for name, *_ in nodes), "drawn"], colours, strict=True))

    def test_dearer_is_darker_and_what_is_not_known_is_grey(self):
        figure, colour = self.advised()
        light = {name: sum(bytes.fromhex(each[1:])) for name, each in colour.items()}
        assert colour["identity"] == colour["fine"]
        assert light["fine"] > light["coarse"] > light["drop"]
        assert colour["other"] == colour["drawn"] == UNKNOWN
        assert UNKNOWN not in (colour["identity"], colour["coarse"], colour["drop"])
        key = {each.get_text(): each for each in figure.axes[0].texts}
        assert {"0 %", "25 %", "50 %", "75 %", "100 %", "not known"} <= key.keys()
        swatches = [to_hex(each.get_facecolor()) for each in figure.axes[0].patches if isinstance(each, Rectangle)]
        assert swatches[0] == colour["identity"]
        assert swatches[2] == colour["coarse"]
        assert swatches[4:6] == [colour["drop"], UNKNOWN]

    @for_each("chosen", ["identity", "fine", "same", "drawn"])
    def test_the_choice_is_framed(self, chosen):
        configurations = [{"id": "c1", "maskings": {"age": chosen}}, {"id": "c2", "maskings": {"age": "other"}}]
        entry = self.ENTRY.model_copy(update={"configurations": None})
        entry = EntryDocument.model_validate(entry.model_dump() | {"configurations": configurations})
        axes = lattice(entry, advice_of({"c1": 0.9, "c2": 0.1})).axes[0]
        framed = [each for each in axes.patches if isinstance(each, FancyBboxPatch) and each.get_linewidth() > 2]
        assert len(framed) == 1
        box = framed[0].get_bbox()
        inside = {each.get_text() for each in axes.texts if box.contains(*each.get_position())}
        assert chosen in inside
        assert "other" not in inside
        assert "chosen by c1" in {each.get_text() for each in axes.texts}

    def test_without_an_advice_all_boxes_are_white_and_there_is_no_key(self):
        axes = lattice(self.ENTRY).axes[0]
        assert {to_hex(each.get_facecolor()) for each in axes.patches} == {"#ffffff"}
        assert "not known" not in {each.get_text() for each in axes.texts}

    def test_what_may_lose_little_or_much_of_an_unknown_utility_is_grey(self):
        known = self.advised()[1]
        wide = {"lower_bound": 0.2, "upper_bound": 2.0}
        close = {"lower_bound": 0.2, "upper_bound": 0.21}
        assert self.advised("histogram", **close)[1] == known
        assert self.advised("histogram", **wide)[1] == known | {"fine": UNKNOWN, "coarse": UNKNOWN}
        assert self.advised("histogram", lower_bound=0.2)[1] == known | {"fine": UNKNOWN, "coarse": UNKNOWN}
        nearly_all = self.advised("histogram", {"coarse": 0.18}, **wide)[1]["coarse"]
        assert nearly_all == self.advised("joint", {"coarse": 0.18})[1]["coarse"] != UNKNOWN

    def test_of_errors_the_most_that_a_masking_loses_is_the_darkest(self):
        figure, colour = self.advised(maskings={"fine": 0.1, "coarse": 0.5}, better="lower")
        assert colour["drop"] == UNKNOWN
        assert colour["coarse"] == self.advised()[1]["drop"]
        assert "of the most that a masking loses" in [each.get_text() for each in figure.axes[0].texts]

    def test_a_level_of_a_hierarchy_of_dates_tells_its_unit(self):
        def level(number, mapping):
            function = {"name": "hierarchy", "parameters": {"dates": ["month", "decade"], "level": number}}
            return masking(f"born-{number}", mapping) | {"function": function}

        entry = with_maskings(level(1, [0, 1, 1, 2]), level(2, [0, 1, 1, 1]), masking("plain", [0, 0, 1, 1]))
        texts = [each.get_text() for each in lattice(entry).axes[0].texts]
        assert {"born-1: month", "born-2: decade", "plain"} <= set(texts)

    def test_an_edge_goes_up_layer_by_layer(self):
        nodes = tuple(Node((str(place),), 9 - place) for place in range(5))
        found = layered(Lattice(nodes, ((0, 1), (0, 4), (1, 2), (2, 3), (3, 4)), ()))
        layer = {key: place for place, keys in enumerate(found.layers) for key in keys}
        assert [layer[node] for node in range(5)] == [0, 1, 2, 3, 4]
        assert [(chain[0], chain[-1], len(chain)) for chain in found.chains] == [
            (0, 1, 2),
            (0, 4, 5),
            (1, 2, 2),
            (2, 3, 2),
            (3, 4, 2),
        ]
        assert all(layer[b] == layer[a] + 1 for chain in found.chains for a, b in pairwise(chain))

    def test_edges_that_need_not_cross_do_not(self):
        nodes = tuple(Node((str(place),), 9 - place) for place in range(8))
        covers = ((0, 1), (0, 2), (0, 3), (1, 6), (2, 5), (3, 4), (4, 7), (5, 7), (6, 7))
        found = layered(Lattice(nodes, covers, ()))
        below, above = found.layers[1], found.layers[2]
        partner = {1: 6, 2: 5, 3: 4}
        assert [partner[each] for each in below] == list(above)


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.references, self.text = [], [], ""

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.references += [value for name, value in attributes if name in ("src", "href", "xlink:href")]

    def handle_data(self, data):
        self.text += data


class TestFiles:
    @pytest.fixture
    def hostile(self):
        """Return an entry with only hostile names, and an advice about it."""
        text = json.dumps([EXAMPLE_ENTRY, advice_of({"c01": 0.4, "c02": 0.1}).model_dump(mode="json")])
        for name in ("age-2", "age", "c01", "c02", "Self-rated health"):
            text = text.replace(f'"{name}"', json.dumps(f"{HOSTILE} {name} 日本"))
        entry, advice = json.loads(text)
        entry["configurations"][1]["privacy"] = {"k": 50}
        return EntryDocument.model_validate(entry), type(advice_of({"c01": 1})).model_validate(advice)

    def test_a_page_escapes_and_refers_to_nothing_outside(self, hostile, tmp_path):
        path = tmp_path / "plot.html"
        write_page(path, *hostile)
        reader = Reader()
        reader.feed(path.read_text(encoding="utf-8"))
        assert reader.tags.count("svg") == 3
        assert "script" not in reader.tags
        assert reader.text.count("<script>alert(1)</script> & $") >= 6
        assert all(each.startswith(("#", "data:")) for each in reader.references)

    @for_each("name", ["frontier", "costs", "lattice"])
    def test_an_image_is_drawn_of_any_name(self, hostile, tmp_path, name):
        path = tmp_path / "plot.png"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            write_image(path, name, *hostile)
        content = path.read_bytes()
        assert content.startswith(b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", content[16:24])
        assert (width, height) == (1350, 900) if name == "frontier" else min(width, height) > 250

    @pytest.mark.long
    def test_the_same_input_gives_the_same_page(self):
        assert page(*many(70)) == page(*many(70))

    def test_without_an_advice_a_page_has_the_lattice_only(self, hostile):
        reader = Reader()
        reader.feed(page(hostile[0]))
        assert reader.tags.count("svg") == 1
        assert drawable(hostile[0], None) == ["lattice"]

    def test_without_privacy_a_page_has_no_frontier(self):
        entry, advice = entry_of({"c1": {}}), advice_of({"c1": 0.5})
        assert drawable(entry, advice) == ["costs", "lattice"]
        assert "Utility against privacy" not in page(entry, advice)

    def test_nothing_is_left_where_there_is_nothing_to_draw(self, tmp_path):
        with pytest.raises(PlotError, match="aegis advise ENTRY_ID"):
            write_image(tmp_path / "plot.png", "costs", entry_of(PRIVACY))
        with pytest.raises(OutputError, match="no directory"):
            write_page(tmp_path / "no" / "plot.html", entry_of(PRIVACY))
        assert list(Path(tmp_path).iterdir()) == []
