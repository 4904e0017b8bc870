"""`randomised_response` and `pram`: values drawn anew with known probabilities; `shuffle`: values permuted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from aegis_provider.masking.draw import Draw, FloatArray, IntArray, refuse_too_many
from aegis_provider.masking.function import RandomFunction
from aegis_provider.masking.lookup import look_up
from aegis_provider.table.values import MISSING, Domain
from aegis_provider.yaml_file import Element

# The service's tolerance for the sum of a value's probabilities.
_SUM_TOLERANCE = 1e-9

# NumPy draws without replacement only from fewer items than this.
_MOST_RECORDS = 10**9


@dataclass(frozen=True)
class RandomisedResponse(RandomFunction):
    """The value itself with probability `keep`, otherwise one of the domain's `n` values, each equally likely.

    `P(w | v) = keep * [v = w] + (1 - keep) / n`. A missing value is a value of the domain like any other.
    Source: Warner, Randomized Response (1965), for two values; Kairouz, Bonawitz and Ramage, Discrete Distribution
    Estimation under Local Privacy (2016), for more.
    """

    name: ClassVar[str] = "randomised_response"
    keep: float

    def __post_init__(self) -> None:
        if not 0 < self.keep < 1:
            raise ValueError(f"`keep` must be a probability above 0 and below 1, not {self.keep}")

    @classmethod
    def read(cls, parameters: Element) -> "RandomisedResponse":
        """Read `{keep: 0.8}`."""
        keep = parameters.fields("keep")["keep"]
        with keep.naming_faults():
            return cls(float(keep.decimal()))

    def parameters(self) -> dict[str, object]:
        """Return the probability of the unchanged value."""
        return {"keep": self.keep}

    def draw(self, domain: Domain, counts: IntArray, random: np.random.Generator) -> Draw:
        """Draw by `transition`."""
        return Draw.by_transition(domain.texts, self.transition(len(domain)), counts, random)

    def transition(self, values: int) -> FloatArray:
        """Return (values, values) the probability of each masked value given the value.

        Raises:
            ValueError: The matrix is too large.
        """
        refuse_too_many(values, values)
        transition: FloatArray = self.keep * np.eye(values) + (1 - self.keep) / values
        return transition


@dataclass(frozen=True)
class Pram(RandomFunction):
    """A masked value drawn by the row of the value: `rows[value][masked value]` is its probability.

    A missing value without a row stays missing. Source: Gouweleeuw, Kooiman, Willenborg and de Wolf, Post
    Randomisation for Statistical Disclosure Control: Theory and Implementation (1998).
    """

    name: ClassVar[str] = "pram"
    rows: Mapping[str, Mapping[str, float]]

    def __post_init__(self) -> None:
        if not self.rows:
            raise ValueError("at least one row, `value: {masked value: probability}`, is needed")
        for value, row in self.rows.items():
            for masked, probability in row.items():
                if not 0 <= probability <= 1:
                    raise ValueError(f"{value!r} to {masked!r}: {probability} is not a probability from 0 to 1")
            if abs(sum(row.values()) - 1) > _SUM_TOLERANCE:
                raise ValueError(f"the probabilities of {value!r} add up to {sum(row.values()):.12g}, not 1")

    @classmethod
    def read(cls, parameters: Element) -> "Pram":
        """Read `{transition: {yes: {yes: 0.9, no: 0.1}, no: {no: 1}}}`."""
        transition = parameters.fields("transition")["transition"]
        rows = {
            value: {masked: float(probability.decimal()) for masked, probability in row.items()}
            for value, row in transition.items()
        }
        with transition.naming_faults():
            return cls(rows)

    def parameters(self) -> dict[str, object]:
        """Return no parameters, because the entry has the transition matrix."""
        return {}

    def draw(self, domain: Domain, counts: IntArray, random: np.random.Generator) -> Draw:
        """Draw by `transition`.

        Raises:
            UnmaskableValueError: A value has no row.
        """
        texts, transition = self.transition(domain)
        return Draw.by_transition(texts, transition, counts, random)

    def transition(self, domain: Domain) -> tuple[list[str], FloatArray]:
        """Return the masked values that some value of the domain may become, and (values, masked) their probabilities.

        They are in the order of the domain, then of the plan, with a missing one first.
        """
        rows = look_up(domain, {MISSING: {MISSING: 1.0}, **self.rows}, None, "has no row in the transition matrix")
        possible = {masked for row in rows for masked, probability in row.items() if probability > 0}
        stated = [masked for row in rows for masked in row]
        texts = [text for text in dict.fromkeys([*domain.texts, *stated]) if text in possible]
        texts.sort(key=lambda text: text != MISSING)
        refuse_too_many(len(rows), len(texts))
        transition = np.array([[row.get(text, 0.0) for text in texts] for row in rows])
        return texts, transition / transition.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class Shuffle(RandomFunction):
    """The attribute's values, including missing ones, permuted over its records; all permutations are equally likely.

    The histogram does not change; all association with the label and other attributes is lost. Source: Hundepool et
    al., Statistical Disclosure Control (2012), "data swapping", without a limit to the ranks.
    """

    name: ClassVar[str] = "shuffle"

    @classmethod
    def read(cls, parameters: Element) -> "Shuffle":
        """Read `{}`."""
        parameters.fields()
        return cls()

    def parameters(self) -> dict[str, object]:
        """Return no parameters."""
        return {}

    def draw(self, domain: Domain, counts: IntArray, random: np.random.Generator) -> Draw:
        """Draw a table of masked values by labels, with the probability of the permutations that lead to it.

        Its `counts` are (1, labels, masked).

        Raises:
            ValueError: There are a billion records or more.
        """
        if counts.sum() >= _MOST_RECORDS:
            raise ValueError(f"a shuffle needs fewer than {_MOST_RECORDS} records")
        left, drawn = counts.sum(axis=1), np.zeros(counts.shape[::-1], dtype=np.int64)
        for label, records in enumerate(counts.sum(axis=0)):
            drawn[label] = random.multivariate_hypergeometric(left, records, method="marginals")
            left = left - drawn[label]
        return Draw(domain.texts, drawn[np.newaxis])
