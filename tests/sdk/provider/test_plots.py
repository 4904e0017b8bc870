"""What the figures show, read back from the figures."""

import json
import struct
import warnings
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import PathCollection
from matplotlib.patches import FancyBboxPatch
from matplotlib.text import Annotation

from aegis_sdk.provider.errors import OutputError, PlotError
from aegis_sdk.provider.plots import (
    Scored,
    best_promise,
    costs,
    drawable,
    frontier,
    lattice,
    page,
    pareto,
    scored,
    write_image,
    write_page,
)
from aegis_sdk.provider.plots.layered import layered
from aegis_sdk.reading import Lattice, Node, lattice_of
from aegis_sdk.wire import EXAMPLE_ENTRY, EntryDocument
from tests.sdk.provider.plotting import advice_of, entry_of

HOSTILE = "<script>alert(1)</script> & $x^{$"
#: Three of the five on the frontier by k; c4 is as good as c2 and stands there, too.
PRIVACY = {"c1": {"k": 1}, "c2": {"k": 5}, "c3": {"k": 4}, "c4": {"k": 5}, "c5": {"k": 100}}
UTILITIES = {"c1": 0.9, "c2": 0.5, "c3": 0.4, "c4": 0.5, "c5": 0.1}


def many(number, name="k"):
    """That many configurations, the more useful the less private as a rule."""
    random = np.random.default_rng(7)
    privacy = np.maximum(1, (3000 ** random.random(number)).astype(int))
    utilities = random.random(number) ** 0.3 * (1 - np.log(privacy) / np.log(6000))
    names = [f"c{place:05}" for place in range(number)]
    vouched = {each: {name: float(value)} for each, value in zip(names, privacy, strict=True)}
    return entry_of(vouched), advice_of(dict(zip(names, utilities.tolist(), strict=True)))


def points_of(figure):
    (scatter,) = [each for each in figure.axes[0].collections if isinstance(each, PathCollection)]
    return {tuple(point) for point in scatter.get_offsets().tolist()}


def steps_of(figure):
    return [tuple(point) for point in figure.axes[0].lines[0].get_xydata().tolist()]


def annotations_of(figure):
    return [each for each in figure.axes[0].texts if isinstance(each, Annotation)]


def note_of(figure):
    return figure.get_supxlabel()


coarse = st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])


class TestFrontier:
    @given(st.lists(st.tuples(coarse, coarse), min_size=1, max_size=12), st.sampled_from(["k", "t"]))
    def test_it_is_what_no_other_beats(self, numbers, name):
        configurations = [Scored(str(place), *pair, pair[1]) for place, pair in enumerate(numbers)]
        sign = 1 if name == "k" else -1

        def beats(one, other):
            gains = sign * (one.privacy - other.privacy), other.deviation - one.deviation
            return min(gains) >= 0 and max(gains) > 0

        found = pareto(configurations, name)
        expected = [one for one in configurations if not any(beats(other, one) for other in configurations)]
        assert sorted(found, key=str) == sorted(expected, key=str)
        privateness = [sign * each.privacy for each in found]
        assert privateness == sorted(privateness)

    def test_every_configuration_is_a_point_and_the_steps_are_the_frontier(self):
        figure = frontier(entry_of(PRIVACY), advice_of(UTILITIES))
        assert points_of(figure) == {(PRIVACY[name]["k"], utility) for name, utility in UTILITIES.items()}
        assert steps_of(figure) == [(1, 0.9), (5, 0.5), (5, 0.5), (100, 0.1)]
        assert {each.get_text() for each in annotations_of(figure)} == {"c1", "c2, c4", "c5"}
        assert figure.axes[0].get_xscale() == "log"
        assert "70" not in note_of(figure)

    def test_more_private_is_to_the_right_for_what_is_better_small(self):
        privacy = {name: {"t": 1 / vouched["k"]} for name, vouched in PRIVACY.items()}
        figure = frontier(entry_of(privacy), advice_of(UTILITIES))
        assert figure.axes[0].xaxis_inverted()
        assert steps_of(figure) == [(1, 0.9), (0.2, 0.5), (0.2, 0.5), (0.01, 0.1)]
        assert "less is more private" in figure.axes[0].get_xlabel()

    def test_better_is_upwards_for_measures_of_which_less_is_better(self):
        errors = {name: 1 - utility for name, utility in UTILITIES.items()}
        figure = frontier(entry_of(PRIVACY), advice_of(errors, reference=0, better="lower"))
        assert figure.axes[0].yaxis_inverted()
        assert [place for place, _ in steps_of(figure)] == [1, 5, 5, 100]

    def test_where_deviation_and_utility_order_differently_the_deviation_is_drawn(self):
        figure = frontier(entry_of(PRIVACY), advice_of(UTILITIES, reference=0.6))
        assert figure.axes[0].get_ylabel().startswith("deviation")
        assert figure.axes[0].yaxis_inverted()
        assert steps_of(figure) == [(5, pytest.approx(0.1)), (5, pytest.approx(0.1)), (100, pytest.approx(0.5))]

    def test_what_is_not_there_is_said(self):
        entry = entry_of(PRIVACY | {"c6": {}, "c7": {"k": 2}})
        figure = frontier(entry, advice_of(UTILITIES | {"c6": 0.8}, considered=7))
        assert len(points_of(figure)) == 4
        assert note_of(figure).split("; ") == [
            "5 of 7 configurations",
            "required were k=5",
            "the advice ranks 6 of 7: ask with --limit 1000000 for all",
            "1 vouch for no k",
        ]

    @pytest.mark.parametrize("number", [70, 1000])
    def test_no_label_lies_over_another_or_over_the_line(self, number):
        figure = frontier(*many(number))
        labels = annotations_of(figure)
        boxes = [each.get_window_extent() for each in labels]
        assert len(labels) > 4
        assert not any(one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place])
        corners = figure.axes[0].transData.transform(steps_of(figure))
        assert not any(box.contains(*corner) for box in boxes for corner in corners)
        for (left, _), (right, height) in pairwise(corners):
            assert not any(b.y0 < height < b.y1 and left < b.x1 and b.x0 < right for b in boxes)

    def test_thousands_of_points_are_one_image_within_a_page(self):
        entry, advice = many(5000)
        document = page(entry, advice)
        assert document.count("data:image/png;base64,") == 1
        assert len(document) < 500_000

    @pytest.mark.parametrize(
        ("entry", "advice", "told"),
        [
            (entry_of({"c1": {}}), advice_of({"c1": 0.5}), "vouches for any privacy"),
            (entry_of({"c1": {"k": 2}, "c2": {}}), advice_of({"c2": 0.5}), "vouches for k"),
            (entry_of(PRIVACY), advice_of({}), "--limit 1000000"),
            (entry_of(PRIVACY), advice_of({"c9": 0.5}), "ranks 'c9'"),
            (entry_of({"c1": {"k": 1e300}}), advice_of({"c1": 0.5}), "too large"),
            (entry_of({"c1": {"k": 2}}), advice_of({"c1": -1e300}), "too large"),
        ],
    )
    def test_what_cannot_be_drawn_is_said_in_one_line(self, entry, advice, told):
        with pytest.raises(PlotError, match=told):
            frontier(entry, advice)

    @pytest.mark.parametrize("k", [[5], [5, 5], [0, 1, 2], [1e-300, 1, 2**53 - 1], [1, 1e9], [1, 1e17]])
    def test_any_promise_has_a_place(self, k):
        names = [f"c{place}" for place in range(len(k))]
        entry = entry_of({name: {"k": float(number)} for name, number in zip(names, k, strict=True)})
        figure = frontier(entry, advice_of({name: 0.9 - place / 9 for place, name in enumerate(names)}))
        left, right = figure.axes[0].get_xlim()
        assert all(left < x < right for x, _ in steps_of(figure))
        assert len(annotations_of(figure)) == len({*k})

    def test_configurations_may_be_a_table_of_columns(self):
        table = {
            "ids": ["c1", "c2"],
            "maskings": {"age": ["age-2", "drop"]},
            "privacy": {"l": [2, None], "t": [0.1, 0.2]},
        }
        fields = {key: value for key, value in EXAMPLE_ENTRY.items() if key != "configurations"}
        entry = EntryDocument.model_validate({**fields, "configuration_table": table})
        advice = advice_of({"c1": 0.5, "c2": 0.7})
        assert best_promise(entry) == "l"
        assert [each.configuration for each in scored(entry, advice, "l")] == ["c1"]
        assert [each.privacy for each in scored(entry, advice, "t")] == [0.2, 0.1]


class TestCosts:
    def advice(self, **fields):
        def attribute(name, whole, deviations):
            scores = {
                each: {"utility": 0.0, "deviation": cost, "source": "counts"} for each, cost in deviations.items()
            }
            return {"name": name, "knowledge": "histogram", "reference_utility": whole, "maskings": scores}

        attributes = [
            attribute("zip", 0.2, {"zip-3": 0.1}),
            attribute("age", 0.5, {"drop": 0.5, "age-2": 0.125}),
            attribute("unused", 0.9, {}),
        ]
        return advice_of({"c1": 0.5}, attributes=attributes, **fields)

    def bars(self, figure):
        axes = figure.axes[0]
        names = [each.get_text() for each in axes.get_yticklabels()]
        found = {}
        for bar in axes.patches:
            found.setdefault(names[round(bar.get_y() + bar.get_height() / 2)], []).append(bar.get_width())
        return names, found

    def test_a_bar_is_a_deviation_before_all_that_there_is_to_lose(self):
        names, bars = self.bars(costs(entry_of({"c1": {"k": 2}}), self.advice()))
        assert names == ["age", "age-2", "drop", "zip", "zip-3"]
        assert bars == {"age-2": [0.5, 0.125], "drop": [0.5, 0.5], "zip-3": [0.2, 0.1]}

    def test_the_maskings_of_the_best_configuration_stand_out(self):
        figure = costs(entry_of({"c1": {"k": 2}}), self.advice())
        bold = [each.get_text() for each in figure.axes[0].get_yticklabels() if each.get_fontweight() == "bold"]
        assert bold == ["age", "age-2", "zip"]
        assert [each.get_text() for each in annotations_of(figure)] == ["0.125  25%", "0.5  100%", "0.1  50%"]

    def test_of_errors_it_is_not_known_how_much_there_is_to_lose(self):
        figure = costs(entry_of({"c1": {"k": 2}}), self.advice(better="lower"), ["zip"])
        assert self.bars(figure) == (["zip", "zip-3"], {"zip-3": [0, 0.1]})
        assert [each.get_text() for each in annotations_of(figure)] == ["0.1"]

    def test_without_scores_there_is_nothing_to_draw(self):
        with pytest.raises(PlotError, match="scores no masking"):
            costs(entry_of({"c1": {"k": 2}}), self.advice(), ["unused"])


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

    def test_dearer_is_darker(self):
        scores = {
            name: {"utility": 0.0, "deviation": deviation, "source": "counts"}
            for name, deviation in {"fine": 0.0, "coarse": 0.1, "drop": 0.2}.items()
        }
        attribute = {"name": "age", "knowledge": "histogram", "reference_utility": 0.2, "maskings": scores}
        figure = lattice(self.ENTRY, advice_of({"c1": 0.1}, attributes=[attribute]))
        order = ["identity", "fine", "other", "coarse", "drop", "drawn"]
        nodes = [node.maskings for node in lattice_of(self.ENTRY.attributes[0]).nodes]
        assert [next(name for name in order if name in node) for node in nodes] == order[:-1]
        boxes = [each for each in figure.axes[0].patches if isinstance(each, FancyBboxPatch)]
        light = dict(zip(order, (sum(each.get_facecolor()[:3]) for each in boxes), strict=True))
        assert light["identity"] == light["other"] == light["drawn"] == 3
        assert 3 > light["fine"] > light["coarse"] > light["drop"]

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
        """An entry all of whose names are hostile, and an advice about it."""
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

    @pytest.mark.parametrize("name", ["frontier", "costs", "lattice"])
    def test_an_image_is_drawn_of_any_name(self, hostile, tmp_path, name):
        path = tmp_path / "plot.png"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            write_image(path, name, *hostile)
        content = path.read_bytes()
        assert content.startswith(b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", content[16:24])
        assert (width, height) == (1350, 900) if name == "frontier" else min(width, height) > 250

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
