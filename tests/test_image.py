"""The image can be built from what the Dockerfile copies, and what is in it works."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZipFile

import httpx
import pytest

from distribution.release.contents import SERVICE, image_context
from tests.for_each import for_each
from tests.image import ROOT, Recipe, built, description, held, installed, needed, required
from tests.postgres import create_database, drop_database, throwaway_directory
from tests.relay import relay
from tests.running import Running, address
from tests.service import example_entry
from tests.test_containers import COMPOSE
from tests.waiting import PATIENCE, wait_until

PROJECTS = (".", "advisor", "sdk", "provider")

#: A user that no machine knows, in the group of root: so OpenShift starts containers, whoever the image names.
ANYBODY = {"user": 1_000_650_000, "group": 0, "extra_groups": []}


def missing(recipe: Recipe) -> set[str]:
    """What wheels are built from, and is not copied."""
    return {name for project in recipe.projects() for name in needed(project)} - set(recipe.copied())


def test_everything_that_wheels_are_built_from_is_copied():
    recipe = Recipe.ours()
    assert recipe.projects()
    assert missing(recipe) == set()
    assert set(recipe.copied()) >= {"app/cli/commands.py", "docs/glossary.md", "/constraints.txt"}


def test_what_is_forced_into_a_wheel_and_not_copied_or_ignored_is_found():
    dockerfile, ignore = ((ROOT / name).read_text() for name in ("Dockerfile", ".dockerignore"))
    assert missing(Recipe(dockerfile.replace("COPY docs/glossary.md docs/\n", ""), ignore)) == {"docs/glossary.md"}
    for ignored in ("!docs/glossary.md\n", "!migrations\n"):
        with pytest.raises(AssertionError, match=ignored[1:-1]):
            Recipe(dockerfile, ignore.replace(ignored, "")).copied()


def test_the_last_pattern_for_a_path_decides_whether_it_is_ignored():
    recipe = Recipe("", "# a comment\n*\n!app\n!docs/a.md\n**/__pycache__\n")
    left_out = {
        "README.md": True,
        "docs/b.md": True,
        "app/__pycache__/a.pyc": True,
        "docs/a.md": False,
        "app/x/y": False,
    }
    assert {path: recipe.is_left_out(Path(path)) for path in left_out} == left_out


def test_no_part_of_scipy_is_left_out_that_the_service_uses():
    """Modules that are imported when something is computed are not seen when the image is built."""
    [removed] = re.findall(r"cd scipy && rm -r ([a-z ]+)\)", (ROOT / "Dockerfile").read_text())
    code = [file.read_text() for name in ("app", "advisor/src", "sdk/src") for file in (ROOT / name).rglob("*.py")]
    used = set(re.findall(r"\bscipy\.([a-z]\w*)(?:\.(\w+))?", "\n".join(code)))
    assert {part for part, _ in used} >= {"optimize", "sparse"}
    assert not {part for part, _ in used} & set(removed.split())
    assert not {name for _, name in used} & {"differential_evolution", "shgo"}  # import scipy.stats once they run


def test_the_folder_of_a_release_needs_no_argument_to_build_the_image(tmp_path):
    wheels = [f"{begin}1.0-py3-none-any.whl" for begin in (*SERVICE, "aegis_masking_provider-")]
    (tmp_path / "index").mkdir()
    for wheel in wheels:
        (tmp_path / "index" / wheel).touch()
    image_context(tmp_path / "index", tmp_path / "image")
    assert {path.name for path in (tmp_path / "image/wheels").iterdir()} == set(wheels[:-1])
    made = (tmp_path / "image/Dockerfile").read_text()
    assert made == (ROOT / "Dockerfile").read_text().replace("ARG WHEELS=built", "ARG WHEELS=released")
    assert re.search(r"^FROM scratch AS released\nCOPY wheels /wheels$", made, re.MULTILINE)
    assert COMPOSE["services"]["api"]["build"] == "."


@pytest.mark.long
@for_each("project", PROJECTS)
def test_a_wheel_has_every_file_of_its_package(tmp_path, project):
    assert set(held(project)) - set(ZipFile(built(ROOT / project, tmp_path)).namelist()) == set()


@pytest.mark.long
@pytest.mark.processes
def test_what_a_provider_installs_needs_nothing_that_is_not_declared(tmp_path):
    projects = ("advisor", "sdk", "provider")
    wheels = [built(ROOT / project, tmp_path / project) for project in projects]
    wanted = [need for project in projects for need in required(description(project)["project"]["name"])]
    aegis = installed(tmp_path / "provider-only", wheels, wanted) / "aegis"
    table = ROOT / "examples/health/health.csv"
    command = [aegis, "plan", "start", table, "--label", "health"]
    ran = subprocess.run(command, cwd=tmp_path, env={}, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.fixture
def folder() -> Iterator[Path]:
    with throwaway_directory() as made:
        yield made


@pytest.fixture
def database(postgres) -> Iterator[str]:
    """The URL of an empty database, over TCP, as containers reach theirs."""
    with relay(create_database(postgres.url, "of_the_image")) as led:
        yield led.url
    drop_database(postgres.url, "of_the_image")


@dataclass(frozen=True)
class Containers:
    """The image's programs with its variables and those of the composition, run as whoever an engine chooses."""

    recipe: Recipe
    programs: Path
    state: Path
    database_url: str

    @contextmanager
    def run(self, *arguments: str, **variables: str) -> Iterator[Running]:
        """Run `aegis-server` during the block."""
        environ = self.recipe.environment() | {
            "PATH": f"{self.programs}:/usr/bin:/bin",
            "AEGIS_DATABASE_URL": self.database_url,
            "AEGIS_AUDIT_KEY_FILE": "audit-key.pem",
            "AEGIS_HOST": "127.0.0.1",  # nor can others reach a container that is not published
            "AEGIS_PORT": "0",
        }
        command = [str(self.programs / "aegis-server"), *arguments]
        with (
            TemporaryDirectory() as logs,
            Running(command, Path(logs), cwd=self.state, env=environ | variables, **self._user()) as started,
        ):
            try:
                yield started
            finally:
                started.terminate()

    def _user(self) -> dict[str, Any]:
        """Anybody, if this user may choose that, and if others can reach what is installed here."""
        if os.geteuid() != 0:
            return {}
        tried = [str(self.programs / "python"), "-c", "import numpy"]
        try:
            return ANYBODY if subprocess.run(tried, check=False, **ANYBODY).returncode == 0 else {}
        except PermissionError:
            return {}


@pytest.mark.long
@pytest.mark.processes
def test_what_the_image_copies_is_built_installed_migrates_serves_and_answers(folder, database):
    recipe = Recipe.ours()
    for where, file in recipe.copied().items():
        (folder / "src" / where).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, folder / "src" / where, follow_symlinks=False)
    wheels = [built(folder / "src" / project, folder / "wheels") for project in recipe.projects()]
    programs = installed(folder / "aegis", wheels, recipe.wanted())
    state = folder / "state"
    state.mkdir()
    state.chmod(0o777)
    containers = Containers(recipe, programs, state, database)
    with containers.run("migrate", AEGIS_FIRST_KEY_FILE="first-key") as migration:
        assert migration.wait(PATIENCE) == 0, migration.whole_log()
    key = (state / "first-key").read_text().strip()
    [command] = recipe.of("CMD")
    with (
        containers.run(*re.findall(r'"(\S+)"', command)) as served,
        containers.run("worker"),
        httpx.Client(base_url=address(served), timeout=PATIENCE) as client,
    ):
        sees_and_asks(client, key)


def sees_and_asks(client: httpx.Client, key: str) -> None:
    """See pages with all that belongs to them, publish an entry, and have a question about it answered by a worker."""
    client.post("/sign-in", data={"key": key}, headers={"Origin": str(client.base_url)})
    for path in ("/", "/glossary", "/docs", "/docs/style.css", "/openapi.json", "/readyz", "/metrics"):
        answer = client.get(path, headers={"Accept": "text/html"})
        assert answer.status_code == 200, path
        for place in re.findall(r'(?:src|rel="stylesheet" href)="(/[^"]+)"', answer.text):
            assert client.get(place).status_code == 200, place
    client.headers["Authorization"] = f"Bearer {key}"
    head = client.post("/v1/entries?accept_small_counts=true", json=example_entry()).raise_for_status().json()
    question = {"measure": "g3"}
    answer = client.post(f"/v1/entries/{head['id']}/advice", json=question, headers={"Prefer": "wait=60"}).json()
    wait_until(lambda: client.get(f"/v1/advice/{answer['id']}").json()["status"] == "succeeded")
