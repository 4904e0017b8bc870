"""Clients of the version before at this service, and this version's clients at the service of the version before.

Each version runs as it is installed, from wheels or from this checkout, with the libraries of this environment.
"""

import sys
from pathlib import Path

import pytest

from distribution.release.building import VERSION, build, commit_before
from distribution.release.environments import UV
from distribution.release.journey import PLAN, TABLE, Installed, prepared
from distribution.release.programs import BIN, ROOT, run
from examples.demo import served

pytestmark = [
    pytest.mark.long,
    pytest.mark.processes,
    pytest.mark.skipif(not (ROOT / ".git").exists(), reason="there is no history here: clone with git"),
]


def programs_before(folder: Path) -> Path:
    """Install what the version before builds, beside links to the libraries of this environment."""
    wheels = folder / "wheels"
    wheels.mkdir()
    build(commit_before((ROOT / VERSION).read_text().strip()), wheels)
    run(UV, "venv", "--quiet", "--python", sys.executable, folder / "env")
    [libraries] = (folder / "env/lib").glob("python*/site-packages")
    for library in Path(pytest.__file__).parents[1].iterdir():
        if not library.name.startswith(("aegis_", "app", "_editable_", "_virtualenv")):
            (libraries / library.name).symlink_to(library)
    run(UV, "pip", "install", "--quiet", "--no-deps", "--python", folder / "env", *wheels.glob("*.whl"))
    return folder / "env/bin"


def handed_over(provider: Installed, consumer: Installed, url: str) -> str:
    """Publish, ask, request, decide, deliver and verify; what the consumer learns at the end."""
    provider.aegis("summarize", TABLE, "--plan", PLAN, "--name", "both", "--output", "entry.json", "--pairs", "--exact")
    published = provider.aegis("publish", "entry.json", "--accept-small-counts", "--accept-unique", url=url)
    entry = published.split()[-1]
    provider.aegis("entries", "visibility", entry, "all", url=url)
    told = ("--purpose", "A study of local care", "--contact", "me@lab.example", "--accept-terms")
    assert consumer.aegis("advise", entry, "--require", "k=10", url=url).startswith("c55")
    request = consumer.aegis("requests", "new", entry, "--require", "k=10", *told, url=url).split()[-1]
    provider.aegis("requests", "approve", request, url=url)
    (provider.folder / "shared").mkdir()
    with served(provider.folder / "shared") as link:
        masked = (TABLE, "--plan", PLAN, "--to", "shared", "--link", link)
        provider.aegis("requests", "fulfil", request, *masked, url=url)
        return consumer.aegis("receive", request, "--output", "received.csv", url=url)


def test_each_version_s_clients_go_the_whole_way_at_the_other_version_s_service(tmp_path):
    before, now = programs_before(tmp_path), BIN
    for service, clients in ((before, now), (now, before)):
        people = Installed(clients, prepared(tmp_path / "people"))
        with Installed(service, tmp_path).serving(tmp_path / "data") as url:
            assert "; none differ" in handed_over(people, people, url)
