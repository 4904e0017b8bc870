"""The layers of the image, made by the Dockerfile's own instructions from a release's folder, and run read-only.

No engine is needed, but root, debootstrap, and the indexes of packages. What it does not show: the base image itself,
for which Debian with its own Python stands in, and what an engine adds to confine a container.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from distribution.release.contents import image_context
from tests.engine import Engine, base, container
from tests.image import Recipe, built
from tests.postgres import create_database, drop_database, throwaway_directory
from tests.relay import relay
from tests.running import Running, address
from tests.test_containers import ROOT
from tests.test_image import sees_and_asks
from tests.waiting import PATIENCE

pytestmark = [
    pytest.mark.long,
    pytest.mark.processes,
    pytest.mark.skipif("LAYERS" not in os.environ, reason="it takes 5 minutes and the network: make image-check"),
    pytest.mark.skipif(
        os.geteuid() != 0 or shutil.which("debootstrap") is None, reason="only root can run layers, and debootstrap"
    ),
]

USERS = ("10001:10001", "1000650000:0")
"""Whom the image names, and whom OpenShift chooses: no machine knows the user, whose group is root's."""

LARGEST = 350_000_000
"""Most bytes of the image, unpacked."""
BASE_BYTES = 120_000_000
"""Those of the base, estimated: Debian 13 without locales and manuals, and Python without its tests."""


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with throwaway_directory() as made:
        yield made


@pytest.fixture(scope="module")
def root(folder: Path) -> Path:
    """The last stage, built in the folder that a release has for that."""
    for project in ("sdk", "advisor", "."):
        built(ROOT / project, folder / "wheels")
    image_context(folder / "wheels", folder / "image")
    dockerfile = (folder / "image/Dockerfile").read_text()
    passed = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name.endswith("_proxy")}
    (folder / "stages").mkdir()
    engine = Engine(dockerfile, folder / "image", base(folder / "python"), folder / "stages", {"PYTHON": "python"})
    return engine.build(passed | {"PIP_CERT": "/etc/ssl/certs/ca-certificates.crt"})


@pytest.fixture
def database_url(postgres) -> Iterator[str]:
    """The URL of an empty database, over TCP, as containers reach theirs."""
    with relay(create_database(postgres.url, "of_the_layers")) as led:
        yield led.url
    drop_database(postgres.url, "of_the_layers")


def test_the_image_is_small_enough(root):
    ran = subprocess.run(["du", "-sb", root / "opt/aegis"], capture_output=True, text=True, check=True)
    assert int(ran.stdout.split()[0]) < LARGEST - BASE_BYTES


def test_nothing_of_a_build_is_left(root):
    assert not (root / "wheels").exists()
    assert not (root / "constraints.txt").exists()
    assert not list((root / "opt/aegis").glob("lib/*/site-packages/pip*"))


def test_the_folder_of_the_state_is_open_to_the_group_of_root(root):
    state = (root / "var/lib/aegis").stat()
    assert (oct(state.st_mode & 0o777), state.st_uid, state.st_gid) == ("0o770", 10001, 0)


@pytest.mark.parametrize("user", USERS)
def test_it_migrates_serves_and_works_on_a_read_only_root_as_any_user(root, folder, database_url, user):
    recipe, state = Recipe((folder / "image/Dockerfile").read_text(), ""), folder / f"state-{user[:5]}"
    state.mkdir()
    shutil.copystat(root / "var/lib/aegis", state)
    os.chown(state, 10001, 0)
    variables = {
        "AEGIS_DATABASE_URL": database_url,
        "AEGIS_AUDIT_KEY_FILE": "audit-key.pem",
        "AEGIS_HOST": "127.0.0.1",
        "AEGIS_PORT": "0",
        "AEGIS_FIRST_KEY_FILE": "first-key",
    }

    @contextmanager
    def run(*words: str) -> Iterator[Running]:
        with container(root, recipe, state, user, variables, "aegis-server", *words) as started:
            yield started

    with run("migrate") as migration:
        assert migration.wait(PATIENCE) == 0, migration.whole_log()
    assert (state / "first-key").stat().st_uid == int(user.partition(":")[0])
    key = (state / "first-key").read_text().strip()
    [command] = recipe.of("CMD")
    with (
        run(*re.findall(r'"(\S+)"', command)) as served,
        run("worker"),
        httpx.Client(base_url=address(served), timeout=PATIENCE) as client,
    ):
        sees_and_asks(client, key)


def test_nothing_can_be_written_outside_of_the_state_and_tmp(root, folder):
    recipe, state = Recipe((folder / "image/Dockerfile").read_text(), ""), folder / "state-touched"
    state.mkdir(mode=0o777)
    tried = "touch /opt/aegis/x; touch /etc/x; touch /tmp/x && echo wrote /tmp"
    with container(root, recipe, state, USERS[0], {}, "sh", "-c", tried) as shell:
        out, log = shell.communicate(timeout=PATIENCE)
    assert out == "wrote /tmp\n"
    assert log.count("Read-only file system") == 2
