"""When a training ends, which model it returns, and how a run goes on that was stopped."""

import json
import signal
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from aegis_provider.synth.generate import training as training_module
from aegis_provider.synth.generate.methods.method import DivergedError
from aegis_provider.synth.generate.methods.sequential import Cart
from aegis_provider.synth.generate.methods.wgan_gp import WganGp, WganSettings
from aegis_provider.synth.generate.training import PATIENCE, Checkpoint, Trainer, Yardstick, predictive_auc
from tests.for_each import for_each
from tests.provider.synth.generate.methods.tasks import random_columns, task_of


@dataclass(frozen=True)
class Mixed:
    """Real records, a share of which has its columns shuffled."""

    codes: np.ndarray
    spoilt: float
    losses: dict = field(default_factory=dict)

    def sample(self, records, rng):
        rows = self.codes[rng.integers(0, len(self.codes), records)]
        bad = rng.random(records) < self.spoilt
        for place in range(rows.shape[1]):
            rows[bad, place] = rng.permutation(rows[bad, place])
        return rows

    def state(self):
        return {}


@dataclass(frozen=True)
class Scripted:
    """A method whose models are as good as it is told."""

    spoilt: tuple
    end: type | None = None
    heeds = frozenset()

    def guarantee(self, _task):
        return None

    def train(self, task, _rng, _state=None):
        yield from (Mixed(task.codes, each) for each in self.spoilt)
        if self.end is DivergedError:
            raise DivergedError(7, {"critic": float("nan")})
        if self.end is not None:
            raise self.end


@pytest.fixture(scope="module")
def task():
    return task_of(random_columns(600))


@pytest.fixture(scope="module")
def validation():
    return task_of(random_columns(600, seed=1)).codes


def train(method, task, validation, **more):
    return Trainer(method, task, validation, seed=1, seconds=1e6, **more).train()


def test_the_best_model_is_returned_once_no_other_is_better(task, validation):
    training = train(Scripted((0.9, 0.0, *(0.8,) * 30)), task, validation)
    assert (training.best, len(training.looks)) == (1, 2 + PATIENCE)
    assert training.model.spoilt == 0.0
    assert training.ended == f"the last {PATIENCE} looks were no better"


def test_a_signal_that_a_library_would_lose_ends_the_training_when_the_model_is_there(task, validation):
    class Losing(Scripted):
        def train(self, task, *given):
            models = super().train(task, *given)
            yield next(models)
            with suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
            finished.append(True)
            yield from models

    finished, before = [], signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        training = train(Losing((0.5, 0.1, 0.9)), task, validation)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (len(training.looks), training.ended, finished) == (1, "it was stopped", [True])


@for_each(("end", "words"), [(KeyboardInterrupt, "it was stopped"), (DivergedError, "diverged")])
def test_a_training_that_breaks_off_returns_the_best_model_until_then(task, validation, end, words):
    training = train(Scripted((0.5, 0.1, 0.9), end), task, validation)
    assert training.model.spoilt == 0.1
    assert words in training.ended
    with pytest.raises(end):
        train(Scripted((), end), task, validation)


def test_the_first_model_is_looked_at_then_one_in_so_many_and_the_one_after_the_time_limit(task, validation):
    @dataclass(frozen=True)
    class Striding(Scripted):
        stride: int = 3

        def restored(self, _task, _state):
            raise AssertionError("nothing was saved")

    method = Striding((0.9, 0.0, *np.linspace(0.8, 0.1, 8)))
    training = train(method, task, validation)
    assert [each.number for each in training.looks] == [1, 3, 6, 9]
    assert training.best == 3
    late = Trainer(method, task, validation, seed=1, seconds=5, spent=6).train()
    assert [each.number for each in late.looks] == [1]
    assert late.looks[0].seconds >= 6
    seconds = f"{late.looks[0].seconds:.0f}"
    assert late.ended == f"time was up after {seconds} seconds, before a second model; more seconds make better ones"


@pytest.mark.long
def test_a_model_between_two_looks_is_looked_at_when_time_is_up(task, validation, monkeypatch):
    class Slow(WganGp):
        def train(self, *given):
            for number, each in enumerate(super().train(*given), 1):
                clock.append(3.0 if number == 2 else 0.0)
                yield each

    clock = []
    monkeypatch.setattr(training_module, "monotonic", lambda: sum(clock))
    method = Slow(WganSettings(hidden=(8,), noise=4, batch=16, critic_steps=1), every=1, stride=50)
    training = Trainer(method, task, validation, seed=1, seconds=3).train()
    assert [(each.number, each.seconds) for each in training.looks] == [(1, 0.0), (2, 3.0)]
    assert training.ended == "time was up after 3 seconds"


def test_time_ends_it_and_a_method_that_yields_one_model_ends_by_itself(task, validation):
    trainer = Trainer(Scripted((0.5, 0.0)), task, validation, seed=1, seconds=0)
    assert len(trainer.train().looks) == 1
    seen = []
    training = train(Cart(), task, validation, watch=seen.append)
    assert training.ended == ""
    assert seen == list(training.looks)


@pytest.mark.long
def test_a_run_that_was_stopped_ends_like_one_that_was_not(task, validation, tmp_path):
    method = WganGp(WganSettings(hidden=(16,), noise=8, batch=32, reference=32, critic_steps=1), every=20, stride=2)
    checkpoint = Checkpoint(tmp_path / "training.npz", "digest")

    def stop(look):
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(look)

    seen = []
    first = Trainer(method, task, validation, 1, 1e6, checkpoint, stop).train()
    assert first.ended == "it was stopped"

    def run(kept):
        looks = []

        def watch(look):
            looks.append(look.quality)
            if len(looks) + before == 5:
                raise KeyboardInterrupt

        before = len(first.looks) if kept else 0
        return Trainer(method, task, validation, 1, 1e6, kept, watch).train()

    whole, resumed = run(None), run(checkpoint)
    assert [each.quality for each in resumed.looks] == [each.quality for each in whole.looks]
    assert resumed.best == whole.best
    draw = [each.model.sample(50, np.random.default_rng(0)) for each in (whole, resumed)]
    np.testing.assert_array_equal(*draw)
    other = Checkpoint(checkpoint.path, "another digest")
    assert other.read(None) is None
    checkpoint.path.write_bytes(b"no archive")
    assert checkpoint.read(None) is None


def test_the_frechet_distance_of_each_look_falls_with_the_share_that_is_spoilt(task, validation):
    looks = train(Scripted((1.0, 0.6, 0.2, 0.0)), task, validation).looks
    distances = [each.quality.frechet_distance for each in looks]
    assert distances == sorted(distances, reverse=True)
    assert distances[0] > 3 * distances[-1]


def test_the_frechet_distance_is_that_of_standardised_positions_and_indicators(task, validation):
    """Written out; the trace of the root is the sum of the roots of the eigenvalues."""
    sides = [task.codes, validation]
    positions = [task.levels[0].positions[codes[:, 0]] for codes in sides]
    mean, spread = positions[1].mean(), positions[1].std()
    vectors = []
    for codes, position in zip(sides, positions, strict=True):
        parts = [np.stack([(position - mean) / spread, np.zeros(len(codes))], axis=1)]
        parts += [np.eye(size)[codes[:, place]] for place, size in enumerate(task.sizes) if place]
        vectors.append(np.concatenate(parts, axis=1))
    found = Yardstick.of(validation, task.levels).quality(task.codes).frechet_distance
    covariances = [np.cov(each, rowvar=False, bias=True) for each in vectors]
    common = np.sqrt(np.linalg.eigvals(covariances[0] @ covariances[1]).astype(complex)).real.sum()
    apart = ((vectors[0].mean(axis=0) - vectors[1].mean(axis=0)) ** 2).sum()
    assert found == pytest.approx(apart + np.trace(sum(covariances)) - 2 * common, abs=1e-6)


def test_missing_numbers_and_rare_categories_have_a_place_of_their_own():
    rng, records = np.random.default_rng(0), 1_500
    columns = {
        "number": np.where(rng.random(records) < 0.3, "", rng.integers(0, 9, records).astype(str)),
        "many": np.char.add("v", rng.integers(0, 60, records).astype(str)),
        "label": rng.choice(["u", "v"], records),
    }
    task = task_of(columns)
    assert task.sizes[1] > 55
    real, others = np.split(task.codes, 2)
    yardstick, present = Yardstick.of(real, task.levels), others[others[:, 0] != task.levels[0].missing]
    with threadpool_limits(1):
        same, other, spoilt = (yardstick.quality(each).frechet_distance for each in (real, others, present))
    assert same == pytest.approx(0, abs=1e-9)
    assert same < other < 0.2 < spoilt


def test_the_auc_needs_two_label_values_among_the_tested_records_only(validation):
    assert predictive_auc(validation, validation[validation[:, -1] == 0]) is None
    only = validation[validation[:, -1] == 0]
    assert predictive_auc(only, validation) == pytest.approx(0.5)
    assert predictive_auc(validation, validation) > 0.7


def test_a_training_kept_by_an_earlier_version_starts_anew(task, validation, tmp_path):
    """It kept no Fréchet distance."""
    path = tmp_path / "training.npz"
    looks = [{"seconds": 1.0, "number": 1, "losses": {}, "quality": {"pair_total_variation": 0.1, "auc": 0.7}}]
    for number in (1, 3):
        about = {"format": number, "digest": "digest", "looks": looks, "best": 0}
        np.savez(path, allow_pickle=False, about=np.array(json.dumps(about)))
        training = train(Scripted((0.0,)), task, validation, checkpoint=Checkpoint(path, "digest"))
        assert len(training.looks) == 1
        assert training.looks[0].seconds != 1.0
