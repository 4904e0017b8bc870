"""What each masking costs, read back from the figure."""

import pytest

from aegis_provider.errors import PlotError
from aegis_provider.report.plots import costs, page
from aegis_sdk.wire import EXAMPLE_ENTRY, EntryDocument
from tests.provider.report.plots.plotting import advice_of, annotations_of, entry_of, note_of


class TestCosts:
    def advice(self, **fields):
        def attribute(name, whole, deviations):
            scores = {
                each: {"utility": whole - cost, "deviation": cost, "source": "counts"}
                for each, cost in deviations.items()
            }
            return {
                "name": name,
                "knowledge": "joint",
                "bound": "exact",
                "reference_utility": whole,
                "maskings": scores,
            }

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
        assert [each.get_text() for each in annotations_of(figure)] == ["0.125  25 %", "0.5  100 %", "0.1  50 %"]

    def test_of_errors_it_is_not_known_how_much_there_is_to_lose(self):
        figure = costs(entry_of({"c1": {"k": 2}}), self.advice(better="lower"), ["zip"])
        assert self.bars(figure) == (["zip", "zip-3"], {"zip-3": [0, 0.1]})
        assert [each.get_text() for each in annotations_of(figure)] == ["0.1"]

    @pytest.mark.long
    def test_of_an_attribute_that_is_not_known_unmasked_no_share_is_told_and_the_bars_are_hatched(self):
        advice = self.advice()
        age = advice.attributes[1].model_copy(
            update={"knowledge": "histogram", "lower_bound": 0.5, "upper_bound": 1.5, "bound": "lower"}
        )
        partly = advice.model_copy(update={"attributes": [advice.attributes[0], age]})
        figure = costs(entry_of({"c1": {"k": 2}}), partly)
        axes = figure.axes[0]
        assert [each.get_text() for each in annotations_of(figure)] == [
            "0.125 (0.12 to 1.1)",
            "0.5 (0.5 to 1.5)",
            "0.1  50 %",
        ]
        assert [bool(bar.get_hatch()) for bar in axes.patches] == [True, False, True, False, False, False]
        assert " of what is known: 0.5 (0.5 to 1.5)" in [each.get_text() for each in axes.texts]
        assert [each.get_text() for each in axes.get_legend().get_texts()][-2:] == ["kept", "kept, of what is known"]
        assert "more may be lost" in note_of(figure)
        assert "joint counts of age are not known" in page(entry_of({"c1": {"k": 2}}), partly)
        assert "joint counts of" not in page(entry_of({"c1": {"k": 2}}), advice)

    def small(self, *names, **fields):
        """Return the advice with attributes of that name, which have a thousandth of a bit to lose."""
        [one] = [each for each in self.advice().attributes if each.name == "zip"]
        score = one.maskings["zip-3"].model_copy(update={"utility": 0.0, "deviation": 0.001})
        update = {"reference_utility": 0.001, "maskings": {"age-2": score}, **fields}
        added = [one.model_copy(update={"name": name, **update}) for name in names]
        return self.advice().model_copy(update={"attributes": [*self.advice().attributes, *added]})

    def with_attributes(self, *names):
        age = EXAMPLE_ENTRY["attributes"][0]
        attributes = [age, *({**age, "name": name} for name in names)]
        best = {"id": "c1", "maskings": {"age": "drop", **dict.fromkeys(names, "age-2")}}
        document = {**EXAMPLE_ENTRY, "attributes": attributes, "configurations": [best], "pairs": []}
        return EntryDocument.model_validate(document)

    def test_attributes_that_have_next_to_nothing_to_lose_share_a_bar(self):
        entry, advice = self.with_attributes("b", "c", "d"), self.small("b", "c", "d")
        figure = costs(entry, advice)
        names, bars = self.bars(figure)
        assert names == ["age", "age-2", "drop", "zip", "zip-3", "3 others", "together"]
        assert bars["together"] == pytest.approx([0.003, 0.003])
        assert annotations_of(figure)[-1].get_text() == "0.003  100 %"
        assert " b, c, d" in [each.get_text() for each in figure.axes[0].texts]
        assert "3 others" not in self.bars(costs(entry, advice, ["b", "c", "d"]))[0]
        partly = self.small("b", "c", "d", knowledge="histogram", bound="lower", lower_bound=0.001)
        assert annotations_of(costs(entry, partly))[-1].get_text() == "about 0.003"
        vague = self.small("b", "c", "d", knowledge="histogram", bound="lower", lower_bound=0.001, upper_bound=0.4)
        assert not {"3 others", "together"} & {*self.bars(costs(entry, vague))[0]}

    def test_a_single_one_keeps_its_own_bar(self):
        names, _ = self.bars(costs(self.with_attributes("b"), self.small("b")))
        assert names[-2:] == ["b", "age-2"]

    def test_the_axis_starts_at_nothing_and_tells_its_unit(self):
        axes = costs(entry_of({"c1": {"k": 2}}), self.advice(unit="bit")).axes[0]
        assert axes.get_xlim()[0] == 0
        assert axes.get_xlabel().endswith("mutual information (bit)")

    def test_without_scores_there_is_nothing_to_draw(self):
        with pytest.raises(PlotError, match="scores no masking"):
            costs(entry_of({"c1": {"k": 2}}), self.advice(), ["unused"])
