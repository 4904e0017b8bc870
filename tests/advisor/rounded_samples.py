"""Samples of populations in which fine values tell as much of the label as coarse groups, published as providers do."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from aegis_advisor.evidence import AttributeEvidence, Perturbation
from aegis_provider.control.dependent_rounding import rounded_once, rounded_up
from aegis_provider.counting.counts import Partition
from tests.advisor.cases import evidence_of, mapped
from tests.provider.control.drawing import drawn_by


@dataclass(frozen=True)
class Population:
    """Values whose frequency falls with the power `skew` of their rank, in groups with equal shares of the labels.

    Attributes:
        own: how much of its shares each value has to itself, from 0 (all of a group are alike) to 1.
        seed: chooses the shares.
        mixed: groups have random numbers of values, and any of these may be the frequent ones.
        rare: the first label has 2 % of the records of a group on average, the others have equal shares of the rest.
    """

    records: int
    values: int
    groups: int
    labels: int
    skew: float
    own: float = 0.0
    seed: int = 5
    mixed: bool = False
    rare: bool = False

    @property
    def base(self) -> int:
        """The default base of the rounding."""
        return 3 if self.records < 5_000 else 5

    @cached_property
    def group_of(self):
        """(values,)"""
        each = np.arange(self.values) % self.groups
        if not self.mixed:
            return each
        rng = np.random.default_rng([self.seed, 1])
        return rng.permutation(np.append(each[: self.groups], rng.integers(0, self.groups, self.values - self.groups)))

    @cached_property
    def shares(self):
        """(values, labels)"""
        rng = np.random.default_rng(self.seed)
        often = 1 / np.arange(1, self.values + 1) ** self.skew
        alike = rng.dirichlet(np.full(self.labels, 1.5), size=self.groups)
        if self.rare:
            first = np.clip(rng.beta(1, 40, (self.groups, 1)), 0.001, 0.3)
            alike = np.hstack([first, np.repeat((1 - first) / (self.labels - 1), self.labels - 1, axis=1)])
        apart = rng.dirichlet(np.ones(self.labels), size=self.values)
        return (often / often.sum())[:, np.newaxis] * ((1 - self.own) * alike[self.group_of] + self.own * apart)

    def drawn(self, rng, base):
        """A sample's counts (values, labels), and these rounded."""
        exact = rng.multinomial(self.records, self.shares.ravel()).reshape(self.values, self.labels)
        return exact, self.rounded(rng, exact, base)

    def given(self, rng, label):
        """Counts (values, labels) of records of which the labels (labels,) are known."""
        shares = self.shares / self.shares.sum(axis=0)
        return np.stack([rng.multinomial(each, of) for each, of in zip(label, shares.T, strict=True)], axis=1)

    def rounded(self, rng, table, base):
        """Counts (values, labels) rounded as providers do."""
        views = [Partition(np.arange(self.values), self.values), Partition(self.group_of, self.groups)]
        return rounded_once(table, views, base, rounded_up(table.sum(axis=0), base, drawn_by(rng)), drawn_by(rng))

    def evidence(self, table, base=None) -> AttributeEvidence:
        """The views `fine` and `coarse` of a table; `base` if its counts were rounded."""
        views = [mapped("fine", np.arange(self.values), table), mapped("coarse", self.group_of, table)]
        return replace(evidence_of(table, views, histogram=False), rounded_once=base)

    def noisy(self, rng, table, scale):
        """The evidence on a table whose views have discrete Laplace noise: the difference of two geometric numbers."""
        known = self.evidence(table)
        views = [
            replace(each, joint=each.joint + first - second, perturbation=Perturbation(noise_scale=scale))
            for each in known.maskings
            for first, second in [rng.geometric(1 - np.exp(-1 / scale), (2, *each.joint.shape))]
        ]
        return replace(known, maskings=tuple(views))
