"""Associations of pairs with the label are refused where no table with the counts has them."""

from dataclasses import replace

import numpy as np

from aegis_advisor.evidence import IDENTITY, PairAssociation, Perturbation
from aegis_advisor.joint import find_association_faults
from tests.advisor.joint.interaction_cases import bits, drawn, told


class TestFaults:
    records = drawn(1)

    def faults(self, place, **changes):
        known = told(self.records)
        one = known[place]
        fields = {"chi_square": one.chi_square, "combinations": one.combinations} | changes
        known[place] = PairAssociation(one.attributes, one.maskings, **fields)
        return find_association_faults(self.records.evidence(), self.records.pairs(), known)

    def test_what_is_true_has_none(self):
        assert self.faults(0) == ()
        turned = [
            PairAssociation(one.attributes[::-1], one.maskings[::-1], one.chi_square, one.combinations)
            for one in told(self.records)
        ]
        assert find_association_faults(self.records.evidence(), self.records.pairs(), turned) == ()
        assert find_association_faults(self.records.evidence(), [], turned) == ()

    def test_the_limits_are_those_of_the_counts(self):
        records, row = self.records, [2, 2, 1]
        n, lower = len(records.classes), len(records.classes) * records.trace(row)[0]
        assert self.faults(0, chi_square=lower) == ()
        [fault] = self.faults(0, chi_square=lower * (1 - 1e-6))
        assert fault.path == (0, "with_label", "chi_square")
        assert self.faults(0, chi_square=2.0 * n) == ()
        [fault] = self.faults(0, chi_square=2.0 * n * (1 + 1e-6))
        assert fault.path == (0, "with_label", "chi_square")

    def test_combinations_are_counted(self):
        held = told(self.records)[3].combinations
        for wrong in (held - 1, held + 1):
            [fault] = self.faults(3, combinations=wrong)
            assert fault.path == (3, "with_label", "combinations")

    def test_pair_counts_limit_the_combinations_even_if_a_masking_has_no_counts_of_its_own(self):
        unmasked = self.records.pair(0, IDENTITY, 1, IDENTITY)
        combinations = int(np.count_nonzero(unmasked.joint))
        wrong = PairAssociation((0, 1), (IDENTITY, IDENTITY), 1500.0, combinations + 1)
        [fault] = find_association_faults(self.records.evidence(), [unmasked], [wrong])
        assert fault.path == (0, "with_label", "combinations")
        assert fault.detail.endswith(f"there are {combinations}")

    def test_rounding_may_exceed_a_limit_of_nothing(self):
        one_class = bits(np.arange(8) % 2, np.arange(8) // 4, classes=np.zeros(8, dtype=np.int64))
        known = PairAssociation((0, 1), ("v0", "v0"), 1e-14, 4)
        assert find_association_faults(one_class.evidence(), one_class.pairs(), [known]) == ()

    def test_nothing_exact_may_be_told_of_a_label_with_noise(self):
        noisy = [replace(one, label_perturbation=Perturbation(noise_scale=2.0)) for one in self.records.evidence()]
        faults = find_association_faults(noisy, [], told(self.records))
        assert {fault.path[1:] for fault in faults} == {("with_label",)}

    def test_without_pair_counts_each_attribute_limits_them(self):
        known = told(self.records)[:1]
        evidence = self.records.evidence()
        few = [PairAssociation(known[0].attributes, known[0].maskings, known[0].chi_square, 3)]
        many = [PairAssociation(known[0].attributes, known[0].maskings, known[0].chi_square, 13)]
        for wrong in (few, many):
            [fault] = find_association_faults(evidence, [], wrong)
            assert fault.path == (0, "with_label", "combinations")


class TestNoise:
    """Noise of scale 5: one number in a billion is off by more than 105 or so."""

    records = drawn(1)
    scale = 5.0

    def faults(self, place, pairs=None, **changes):
        noise = Perturbation(noise_scale=self.scale)
        evidence = [replace(one, label_perturbation=noise) for one in self.records.evidence()]
        known = [replace(one, noise_scale=self.scale) for one in told(self.records)]
        known[place] = replace(known[place], **changes)
        return find_association_faults(evidence, self.records.pairs() if pairs is None else pairs, known)

    def test_what_is_true_has_none(self):
        assert self.faults(0) == ()

    def test_what_noise_may_have_done_has_none(self):
        known = told(self.records)
        for by in (-1, 1):
            off = by * self.scale * 10
            combinations = max(1, round(known[0].combinations + off))
            assert self.faults(0, combinations=combinations) == ()
        assert self.faults(0, chi_square=0.0) == ()

    def test_what_no_noise_does_is_refused(self):
        [fault] = self.faults(0, combinations=12 + 200)
        assert fault.path == (0, "with_label", "combinations")
        label = np.bincount(self.records.classes)
        most = label.sum() * (2 + 300 * np.sum(1 / label))
        [fault] = self.faults(0, chi_square=float(most))
        assert fault.path == (0, "with_label", "chi_square")

    def test_combinations_that_certainly_occur_are_counted(self):
        pair = self.records.pairs()[0]
        many = replace(pair, joint=np.full((30, 30), 500), perturbation=Perturbation(noise_scale=self.scale))
        [fault] = self.faults(0, pairs=[many], combinations=1)
        assert fault.path == (0, "with_label", "combinations")

    def test_exact_numbers_beside_noisy_pair_counts_are_refused(self):
        noisy = [replace(pair, perturbation=Perturbation(noise_scale=2.0)) for pair in self.records.pairs()]
        faults = find_association_faults(self.records.evidence(), noisy, told(self.records))
        assert {fault.path[1:] for fault in faults} == {("with_label",)}


class TestRounding:
    """Counts rounded once to multiples of 5: the truth is accepted, and so is what rounding may make of it."""

    records = drawn(1)

    def faults(self, **changes):
        evidence = [replace(one, rounded_once=5) for one in self.records.evidence()]
        pairs = [replace(pair, perturbation=Perturbation(rounded_to=5)) for pair in self.records.pairs()]
        known = [replace(one, rounded_to=5, digits=3) for one in told(self.records)]
        known[0] = replace(known[0], **changes)
        return find_association_faults(evidence, pairs, known)

    def test_what_rounding_may_have_done_has_none(self):
        [one, *_] = told(self.records)
        for by in (-1, 0, 1):
            changed = {"combinations": max(1, one.combinations + 5 * by), "chi_square": one.chi_square + 15 * by}
            assert self.faults(**changed) == ()

    def test_what_it_cannot_do_is_refused(self):
        for wrong in ({"combinations": 100}, {"chi_square": 10.0 * len(self.records.classes)}):
            [fault] = self.faults(**wrong)
            assert fault.path == (0, "with_label", *wrong)
