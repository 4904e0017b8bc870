"""A short form of `make chaos`: a few faults under load, after which everything that was acknowledged is there."""

from random import Random

from bench.chaos.run import disturb


def test_nothing_that_was_acknowledged_is_lost_doubled_or_different_after_some_faults(tmp_path):
    done, verdict = disturb(tmp_path, 5, Random(3), is_short=True)
    assert sum(map(len, done.recovered.values())) == 5
    assert done.notes.entries
    assert verdict.is_clean, verdict
    assert (done.refused, done.left) == ([], [])
