"""The lattice of each attribute, read back from the chart."""

from itertools import pairwise

import numpy as np

from aegis_sdk.charts import document
from aegis_sdk.charts.hasse import lattice_chart, layered
from aegis_sdk.reading import Lattice, Node, lattice_of
from aegis_sdk.wire import EXAMPLE_ENTRY, EntryDocument
from tests.for_each import for_each
from tests.provider.report.plotting import PRIVACY, advice_of, entry_of
from tests.sdk.charts.svg import SVG, drawing_of, outside, overlapping, texts_of


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
        chart, order = lattice_chart(self.ENTRY), lattice_of(self.ENTRY.attributes[0])
        frames = [each for each in drawing_of(chart).iter(f"{SVG}rect") if each.get("class") == "chart-box"]
        assert len(frames) == len(order.nodes) + 1
        assert [each.get("stroke-dasharray") for each in frames].count("5 3") == 1
        lines = [each for each in drawing_of(chart).iter(f"{SVG}path") if each.get("class") == "chart-edge-line"]
        assert len(lines) == len(order.covers)
        names = {"age", "identity", "fine", "coarse", "same", "other", "drawn", "drop", "4 values", "1 value"}
        assert names <= set(texts_of(drawing_of(chart)))

    def test_finer_stands_below_coarser(self):
        texts = drawing_of(lattice_chart(self.ENTRY)).iter(f"{SVG}text")
        heights = {each.text: -float(each.get("y")) for each in texts}
        assert heights["identity"] < heights["fine"] < heights["coarse"] < heights["drop"]
        assert heights["identity"] < heights["other"] < heights["drop"]

    def test_no_box_lies_over_another(self):
        random = np.random.default_rng(3)
        maskings = [masking(f"masking-{each}", random.integers(0, 4, 9).tolist()) for each in range(12)]
        chart = lattice_chart(with_maskings(*maskings, domain=9))
        frames = [each for each in drawing_of(chart).iter(f"{SVG}rect") if each.get("class") == "chart-box"]
        boxes = [[float(each.get(name)) for name in ("x", "y", "width", "height")] for each in frames]
        assert len(boxes) == 14
        pairs = [(one, other) for place, one in enumerate(boxes) for other in boxes[:place]]
        assert not [
            (one, other)
            for one, other in pairs
            if one[0] < other[0] + other[2] and other[0] < one[0] + one[2]
            if one[1] < other[1] + other[3] and other[1] < one[1] + one[3]
        ]
        assert (outside(document(chart)), overlapping(document(chart))) == ([], [])

    def advised(self, knowledge="joint", maskings=None, **fields):
        """The chart of the entry with an advice, and the loss of each masking's box."""
        deviations = {"fine": 0.0, "coarse": 0.1} if maskings is None else maskings
        scores = {
            name: {"utility": 0.2 - deviation, "deviation": deviation, "source": "counts"}
            for name, deviation in deviations.items()
        }
        bounds = {name: fields.pop(name) for name in ("lower_bound", "upper_bound") if name in fields}
        bounds |= {"bound": "exact"} if knowledge == "joint" else {}
        attribute = {"name": "age", "knowledge": knowledge, "reference_utility": 0.2, "maskings": scores, **bounds}
        chart = lattice_chart(self.ENTRY, advice_of({"c1": 0.1}, attributes=[attribute], **fields))
        [panel] = chart.panels
        return chart, {box.lines[0]: box.loss for box in (*panel.boxes, *panel.aside)}

    def test_dearer_is_darker_and_what_is_not_known_is_hatched(self):
        chart, loss = self.advised()
        assert (loss["identity"], loss["fine"], loss["coarse"]) == (0, 0, 0.5)
        assert (loss["drop"], loss["other"], loss["drawn"]) == (1, None, None)
        rectangles = list(drawing_of(chart).iter(f"{SVG}rect"))
        shades = [float(each.get("fill-opacity")) for each in rectangles if each.get("fill-opacity")]
        assert sorted(set(shades)) == [0, 0.275, 0.55]
        assert [each.get("fill") for each in rectangles].count("url(#lattice-unknown)") == 2
        assert {"nothing lost", "half", "loss not known", "chosen by c1"} <= {
            words for _, words in chart.drawing.legend
        }

    @for_each("chosen", ["identity", "fine", "same", "drawn"])
    def test_the_choice_is_framed(self, chosen):
        configurations = [{"id": "c1", "maskings": {"age": chosen}}, {"id": "c2", "maskings": {"age": "other"}}]
        entry = self.ENTRY.model_copy(update={"configurations": None})
        entry = EntryDocument.model_validate(entry.model_dump() | {"configurations": configurations})
        chart = lattice_chart(entry, advice_of({"c1": 0.9, "c2": 0.1}))
        [panel] = chart.panels
        [framed] = [box for box in (*panel.boxes, *panel.aside) if box.is_chosen]
        assert chosen in framed.lines
        frames = [each.get("class") for each in drawing_of(chart).iter(f"{SVG}rect")]
        assert frames.count("chart-box-chosen") == 1

    def test_without_an_advice_no_box_is_filled_and_there_is_no_key(self):
        chart = lattice_chart(self.ENTRY)
        assert {each.get("class") for each in drawing_of(chart).iter(f"{SVG}rect")} == {"chart-box", "chart-thin-hatch"}
        assert [words for _, words in chart.drawing.legend] == ["no mapping"]

    def test_what_may_lose_little_or_much_of_an_unknown_utility_is_not_known(self):
        known = self.advised()[1]
        wide = {"lower_bound": 0.2, "upper_bound": 2.0}
        close = {"lower_bound": 0.2, "upper_bound": 0.21}
        assert self.advised("histogram", **close)[1] == known
        assert self.advised("histogram", **wide)[1] == known | {"fine": None, "coarse": None}
        assert self.advised("histogram", lower_bound=0.2)[1] == known | {"fine": None, "coarse": None}
        nearly_all = self.advised("histogram", {"coarse": 0.18}, **wide)[1]["coarse"]
        assert nearly_all == self.advised("joint", {"coarse": 0.18})[1]["coarse"] is not None

    def test_of_errors_the_most_that_a_masking_loses_is_the_darkest(self):
        chart, loss = self.advised(maskings={"fine": 0.1, "coarse": 0.5}, better="lower")
        assert (loss["drop"], loss["coarse"]) == (None, 1)
        assert "the most that a masking loses" in {words for _, words in chart.drawing.legend}

    def test_a_level_of_a_hierarchy_of_dates_tells_its_unit(self):
        def level(number, mapping):
            function = {"name": "hierarchy", "parameters": {"dates": ["month", "decade"], "level": number}}
            return masking(f"born-{number}", mapping) | {"function": function}

        entry = with_maskings(level(1, [0, 1, 1, 2]), level(2, [0, 1, 1, 1]), masking("plain", [0, 0, 1, 1]))
        texts = texts_of(drawing_of(lattice_chart(entry)))
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

    def test_what_is_left_out_is_said(self):
        maskings = entry_of(PRIVACY).attributes[0].maskings[:1] * 30
        many = entry_of(PRIVACY).attributes[0].model_copy(update={"maskings": maskings})
        chart = lattice_chart(entry_of(PRIVACY).model_copy(update={"attributes": [many]}))
        assert chart.all_notes[1:] == ["Drawn are the first 24 maskings of each."]
