"""Samples of populations in which fine values tell as much of the label as coarse groups, rounded as providers do."""

from dataclasses import dataclass, replace

import numpy as np

from aegis_advisor.evidence import AttributeEvidence
from aegis_provider.control.dependent_rounding import rounded_once, rounded_up
from aegis_provider.counting.counts import Partition
from tests.advisor.cases import evidence_of, mapped


@dataclass(frozen=True)
class Population:
    """Values whose frequency falls with the power `skew` of their rank, in groups with equal shares of the labels.

    Attributes:
        own: how much of its shares each value has to itself, from 0 (all of a group are alike) to 1.
        seed: chooses the shares.
    """

    records: int
    values: int
    groups: int
    labels: int
    skew: float
    own: float = 0.0
    seed: int = 5

    @property
    def base(self) -> int:
        """The default base of the rounding."""
        return 3 if self.records < 5_000 else 5

    @property
    def group_of(self):
        return np.arange(self.values) % self.groups

    @property
    def shares(self):
        """(values, labels)"""
        rng = np.random.default_rng(self.seed)
        often = 1 / np.arange(1, self.values + 1) ** self.skew
        alike = rng.dirichlet(np.full(self.labels, 1.5), size=self.groups)[self.group_of]
        apart = rng.dirichlet(np.ones(self.labels), size=self.values)
        return (often / often.sum())[:, np.newaxis] * ((1 - self.own) * alike + self.own * apart)

    def drawn(self, rng, base):
        """A sample's counts (values, labels), and these rounded."""
        exact = rng.multinomial(self.records, self.shares.ravel()).reshape(self.values, self.labels)
        views = [Partition(np.arange(self.values), self.values), Partition(self.group_of, self.groups)]
        up = rounded_up(exact.sum(axis=0), base, rng.bytes)
        return exact, rounded_once(exact, views, base, up, rng.bytes)

    def evidence(self, table, base=None) -> AttributeEvidence:
        """The views `fine` and `coarse` of a table; `base` if its counts were rounded."""
        views = [mapped("fine", np.arange(self.values), table), mapped("coarse", self.group_of, table)]
        return replace(evidence_of(table, views, histogram=False), rounded_once=base)
