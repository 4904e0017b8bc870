"""How the steps of a release share its time, and what there is once that is up."""

import csv
import random
from collections import Counter

import pytest

from aegis_provider.workflow import release
from aegis_provider.workflow.deadline import Deadline


class Clock:
    """A clock that stands until it is moved."""

    now = 100.0

    def __call__(self):
        return self.now


def test_what_a_step_leaves_is_there_for_the_next_ones_and_a_verdict_always_has_time():
    clock = Clock()
    deadline = Deadline(60.0, clock)
    assert 0 < deadline.for_search < 60
    clock.now += 2.0
    [seconds, of_a_fold], [before_comparing, _] = (deadline.for_check(compares=each) for each in (False, True))
    assert before_comparing < seconds < deadline.left == 58
    assert 3 * of_a_fold < seconds  # models are trained, too
    clock.now += 60.0
    assert (deadline.left, deadline.for_search, deadline.for_rounding) == (0, 0, 0)
    assert Deadline(0.0, clock).for_search == 0
    assert deadline.for_check(compares=False) == (0, 0)
    assert deadline.is_over()
    assert deadline.for_verdict > 0


def test_what_follows_the_search_is_reserved_for_by_what_came_before_it():
    clock = Clock()
    deadline = Deadline(60.0, clock)
    clock.now += 4.0
    before = deadline.for_search
    assert deadline.reserve()
    assert (deadline.before, deadline.left) == (4, 56)
    assert 0 < deadline.for_search < before
    assert deadline.for_verdict < deadline.left
    clock.now += 30.0
    assert not deadline.reserve()
    assert deadline.for_search == 0
    assert not deadline.is_over_for_models()
    clock.now += 15.0
    assert deadline.is_over_for_models()  # what began would end too late
    assert not deadline.is_over()


@pytest.mark.long
def test_once_time_is_up_there_is_a_release_that_names_what_was_not_done(tmp_path):
    rng = random.Random(3)
    lines = ["age,town,children,ill"]
    for _ in range(400):
        age = rng.randint(18, 60)
        lines.append(f"{age},{rng.choice('ABCD')},{rng.randint(0, 5)},{'yes' if rng.random() < age / 70 else 'no'}")
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    released = release(tmp_path / "people.csv", "ill", output=tmp_path / "r", seconds=0, also_generate=True)
    with released.folder.joinpath("masked.csv").open(newline="") as file:
        [_, *rows] = csv.reader(file)
    assert min(Counter(tuple(row[:-1]) for row in rows).values()) == released.card.reached["k"] >= 5
    assert (released.card.passed, released.card.measured, released.card.comparison) == (True, (), None)
    assert "; --seconds ended the search for k = 5: up to " in released.card.headline
    search, *others = released.card.unfinished
    assert search.startswith("the search ran out of time: another configuration may keep ")
    assert others == [
        f"{each}: time was up before that began; more --seconds may do"
        for each in ("generated tables were not compared", "no models were trained")
    ]
    page = released.folder.joinpath("card.html").read_text()
    assert all(each in page for each in released.card.unfinished)
