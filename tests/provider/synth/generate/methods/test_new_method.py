"""A new method of generation needs only a class and a place in the registry."""

from dataclasses import dataclass

import numpy as np
import pytest

from aegis_provider.errors import PlanError
from aegis_provider.synth.generate.methods import registry
from aegis_provider.synth.generate.methods.registry import method_of
from tests.provider.synth.generate.methods.tasks import only_model, random_columns, task_of


@dataclass(frozen=True)
class Shuffled:
    """Columns that are shuffled apart."""

    codes: np.ndarray
    losses = {}  # noqa: RUF012 - a property of the interface

    def sample(self, records, rng):
        return np.stack([rng.choice(column, records) for column in self.codes.T], axis=1)

    def state(self):
        return {}


class Shuffling:
    """A method that keeps nothing but the shares of single levels."""

    heeds = frozenset()

    def guarantee(self, task):  # noqa: ARG002 - the signature of every method
        return None

    def train(self, task, rng, state=None):  # noqa: ARG002 - the signature of every method
        yield Shuffled(task.codes)


def test_a_method_is_found_by_its_name_and_makes_records(monkeypatch):
    monkeypatch.setitem(registry.METHODS, "shuffled", Shuffling)
    task = task_of(random_columns(200))
    codes = only_model(method_of("shuffled"), task).sample(50, np.random.default_rng(0))
    assert codes.shape == (50, 4)
    assert (codes < task.sizes).all()


def test_its_name_is_suggested(monkeypatch):
    monkeypatch.setitem(registry.METHODS, "shuffled", Shuffling)
    with pytest.raises(PlanError, match=r"^unknown method 'shufled'; did you mean 'shuffled'\?$"):
        method_of("shufled")
