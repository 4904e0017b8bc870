"""What a release leaves that is stopped, or cannot write its card: what is done, no card, and a word about it."""

import json
import random
import shutil
import signal
from contextlib import contextmanager

import pytest

from aegis_provider.errors import OutputError
from aegis_provider.workflow import release
from tests.for_each import for_each

CARDS = {"provider-only.json", "card.json", "card.md", "card.html", "datapackage.json"}
DONE = {"plan.yaml", "configurations.yaml", "entry.json", "masked.csv", ".aegis-release.json"}
HOURS = 3600.0

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng, path = random.Random(4), tmp_path_factory.mktemp("stopped") / "t.csv"
    rows = [f"{rng.choice('abc')},{rng.randint(1, 4)},{rng.choice('yn')}" for _ in range(300)]
    path.write_text("\n".join(["kind,size,ill", *rows]) + "\n")
    return path


@pytest.fixture(scope="module")
def whole(table):
    """A release, the privacy of which is to be measured again."""
    folder = table.with_name("r")
    release(table, "ill", output=folder, require={"k": 5}, seconds=HOURS)
    assert {each.name for each in folder.iterdir()} == DONE | CARDS
    state = json.loads((folder / ".aegis-release.json").read_text())
    del state["steps"]["privacy"]
    (folder / ".aegis-release.json").write_text(json.dumps(state))
    return folder


def at_measuring(action):
    @contextmanager
    def stage(name):
        if name == "measuring privacy":
            action()
        yield lambda *_: None

    return stage


def told(folder):
    return [f"{folder} has entry.json and masked.csv without a card: do not share them yet; the same command goes on"]


@for_each("stopped", [KeyboardInterrupt, SystemExit(128 + signal.SIGTERM)])
def test_a_release_that_is_stopped_says_what_is_there_and_goes_on(stopped, table, whole, tmp_path):
    def stop():
        raise stopped

    folder, how = tmp_path / "r", {"require": {"k": 5}, "seconds": HOURS}
    shutil.copytree(whole, folder)
    with pytest.raises((KeyboardInterrupt, SystemExit)) as ended:
        release(table, "ill", output=folder, stage=at_measuring(stop), **how)
    assert ended.value.__notes__ == told(folder)
    assert {each.name for each in folder.iterdir()} == DONE
    masked = (folder / "masked.csv").read_bytes()
    release(table, "ill", output=folder, **how)
    assert {each.name for each in folder.iterdir()} == DONE | CARDS
    assert (folder / "masked.csv").read_bytes() == masked
    shutil.rmtree(folder)


def test_a_card_that_cannot_be_written_is_no_refusal(table, whole, tmp_path):
    folder = tmp_path / "r"
    shutil.copytree(whole, folder)
    in_the_way = at_measuring((folder / "card.md").mkdir)
    with pytest.raises(OutputError, match=r"card\.md") as failed:
        release(table, "ill", output=folder, require={"k": 5}, seconds=HOURS, stage=in_the_way)
    assert failed.value.__notes__ == told(folder)
    assert {each.name for each in folder.iterdir()} == DONE | {"card.md"}
