"""The distributions: one version, siblings of exactly this one, the same bytes each time."""

import re
import shutil
import sys
import tarfile
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

from distribution.metadata import pinned
from distribution.release.building import SAFELY, build_twice, commit_before, hatchling
from distribution.release.checks import check, is_tagged, refuse_unready
from distribution.release.contents import digests, image_context, requirements
from distribution.release.environments import UV, House, interpreter
from distribution.release.journey import refuse_other_answers
from distribution.release.programs import ROOT, ReleaseError, git, run
from tests.for_each import for_each

VERSION = (ROOT / "distribution/VERSION").read_text().strip()
NAMES = {"aegis-masking", "aegis-masking-advisor", "aegis-masking-provider", "aegis-masking-server"}
#: On the public index, and another company's.
NOT_OURS = re.compile(r"\baegis[-_](sdk|provider|server|advisor)\b", re.IGNORECASE)

pytestmark = pytest.mark.xdist_group("distributions")


@pytest.fixture(scope="module")
def wheels(tmp_path_factory):
    """The folder with what this checkout builds, also what is not committed."""
    folder, source = tmp_path_factory.mktemp("wheels"), tmp_path_factory.mktemp("source") / "aegis"
    left_out = shutil.ignore_patterns(".*", "__pycache__", "dist", "research", "tests")
    shutil.copytree(ROOT, source, symlinks=True, ignore=left_out)
    for project in ("advisor", "sdk", "provider", "."):
        hatchling("sdist", source / project, folder, "1700000000")
    for sdist in folder.glob("*.tar.gz"):
        with tarfile.open(sdist) as files:
            files.extractall(source.parent, **SAFELY)
        hatchling("wheel", source.parent / sdist.name.removesuffix(".tar.gz"), folder, "1700000000")
    return folder


needs_history = pytest.mark.skipif(not (ROOT / ".git").exists(), reason="there is no history here: clone with git")


def metadata_of(wheel):
    with ZipFile(wheel) as files:
        [name] = [each for each in files.namelist() if each.endswith(".dist-info/METADATA")]
        return Parser().parsestr(files.read(name).decode()), files.namelist()


def test_every_wheel_has_one_version_exact_siblings_a_licence_addresses_and_types(wheels):
    seen = set()
    for wheel in wheels.glob("*.whl"):
        told, names = metadata_of(wheel)
        seen.add(told["Name"])
        assert told["Version"] == VERSION
        siblings = [need for need in told.get_all("Requires-Dist") if need.startswith("aegis")]
        assert all(re.match(rf"(aegis-masking[\w-]*)(\[[\w,]+\])?=={VERSION}(;|$)", need) for need in siblings)
        assert siblings or told["Name"] == "aegis-masking-advisor"
        assert told["License-Expression"] == "Apache-2.0"
        assert told.get_all("Project-URL")
        assert {"Typing :: Typed", "Private :: Do Not Upload"} <= set(told.get_all("Classifier"))
        assert any(name.endswith("licenses/LICENSE") for name in names)
        assert any(name.count("/") == 1 and name.endswith("/py.typed") for name in names)
        assert not NOT_OURS.search(" ".join([told["Name"], *told.get_all("Requires-Dist")]))
    assert seen == NAMES


@for_each("requirement", ["aegis-masking==0.1", "aegis-masking-provider[check]>=0.1", "aegis-masking; os_name == 'nt'"])
def test_no_project_pins_a_sibling_itself(requirement):
    with pytest.raises(ValueError, match="distribution/VERSION"):
        pinned([requirement], VERSION)


def test_siblings_are_pinned_and_others_are_not():
    wanted = ["numpy", "aegis-masking-provider[check]", "aegis-masking"]
    assert pinned(wanted, "1.2") == ["numpy", "aegis-masking-provider[check]==1.2", "aegis-masking==1.2"]


def test_a_sibling_of_another_version_is_refused(wheels, tmp_path):
    for wheel in wheels.glob("*.whl"):
        shutil.copy(wheel, tmp_path)
    [advisor] = tmp_path.glob("aegis_masking_advisor-*.whl")
    advisor.rename(advisor.with_name(advisor.name.replace(VERSION, "9.9.9")))
    run(UV, "venv", "--quiet", tmp_path / "env")
    command = (UV, "pip", "install", "--python", tmp_path / "env", "--no-index", "--find-links", tmp_path)
    with pytest.raises(ReleaseError, match=rf"aegis-masking-advisor=={VERSION}"):
        run(*command, "aegis-masking-provider")
    assert not list(tmp_path.glob("env/lib/*/site-packages/aegis*"))


@needs_history
@pytest.mark.long
def test_two_builds_of_a_commit_have_the_same_bytes(tmp_path):
    build_twice("HEAD", tmp_path / "one")
    assert {file.suffix for file in (tmp_path / "one").iterdir()} == {".gz", ".whl"}


def test_what_differs_the_second_time_is_named(tmp_path, monkeypatch):
    def build_differently(_, to):
        (to / "a.whl").write_text(str(to))

    monkeypatch.setattr("distribution.release.building.build", build_differently)
    with pytest.raises(ReleaseError, match=r"different bytes: a\.whl"):
        build_twice("HEAD", tmp_path / "one")


@needs_history
def test_what_is_not_committed_or_not_in_the_changelog_is_not_released(monkeypatch):
    before = commit_before(VERSION)
    monkeypatch.setattr("distribution.release.checks.git", lambda *_: " M app/main.py")
    with pytest.raises(ReleaseError, match=r"commit or remove:\n M app/main.py"):
        check(VERSION, before)
    monkeypatch.setattr("distribution.release.checks.git", lambda *words: "" if words[0] == "status" else git(*words))
    with pytest.raises(ReleaseError, match="is there already: raise it"):
        check("0.0.1", before)
    with pytest.raises(ReleaseError, match=r"CHANGELOG\.md begins with"):
        check("99.0.0", before)


@for_each(
    ("heading", "said"),
    [
        (f"## {VERSION} (unreleased)", r"CHANGELOG\.md says '.*\(unreleased\)' of a tagged version: write its day"),
        (f"## {VERSION}", r"CHANGELOG\.md says .*: write its day"),
        (f"## {VERSION} (2026-12-01)", r"HOME in distribution/metadata\.py is only an example"),
    ],
)
def test_what_has_no_day_or_no_address_is_not_published(heading, said):
    with pytest.raises(ReleaseError, match=said):
        refuse_unready(VERSION, heading)


@needs_history
def test_only_a_commit_with_the_tag_of_its_version_is_published(monkeypatch):
    told = {"tag": "v99.0.0\nlatest"}
    monkeypatch.setattr("distribution.release.checks.git", lambda *words: told.get(words[0]) or git(*words))
    assert is_tagged("99.0.0")
    assert not is_tagged("99.0")


def test_a_role_installs_from_the_folder_of_the_release_and_asks_no_index_for_what_is_in_it(wheels, tmp_path):
    release = tmp_path / f"aegis-{VERSION}"
    release.mkdir()
    (release / "index").symlink_to(wheels)
    requirements(VERSION, release)
    run(UV, "venv", "--quiet", "env", where=tmp_path)
    for role in ("provider", "server"):
        command = ("pip", "install", "--python", "env", "--no-index", "--no-deps", "--requirement")
        run(UV, *command, f"aegis-{VERSION}/{role}.txt", where=tmp_path)
    installed = {name.name.partition("-")[0] for name in tmp_path.glob("env/lib/*/site-packages/aegis*.dist-info")}
    assert installed == {name.replace("-", "_") for name in NAMES}


def test_answers_differ_only_by_models_of_different_versions():
    old, same, new = ({"model_version": model, "ranking": ranking} for model, ranking in ("1a", "1a", "2b"))
    refuse_other_answers([old, same, new, new])
    with pytest.raises(ReleaseError, match="raise it"):
        refuse_other_answers([old, new, {"model_version": "2", "ranking": "a"}])


def test_a_python_that_is_not_there_is_named():
    with pytest.raises(ReleaseError, match=r"needs Python 3\.99"):
        interpreter("3.99")


def test_the_context_has_the_service_alone_and_the_digests_have_everything(wheels, tmp_path):
    image_context(wheels, tmp_path / "image")
    names = {file.name.partition("-")[0] for file in (tmp_path / "image/wheels").iterdir()}
    assert names == {"aegis_masking", "aegis_masking_advisor", "aegis_masking_server"}
    digests(tmp_path)
    assert "OK" in run("sha256sum", "--check", "SHA256SUMS", where=tmp_path)
    (tmp_path / "image/Dockerfile").write_text("FROM scratch\n")
    with pytest.raises(ReleaseError, match="image/Dockerfile"):
        run("sha256sum", "--check", "SHA256SUMS", where=tmp_path)


def test_an_environment_is_made_of_the_wheels_in_the_folders_alone(wheels, tmp_path):
    with pytest.raises(ReleaseError, match="aegis-masking"):
        House(wheels, tmp_path, Path(sys.executable)).environment(tmp_path / "env", "aegis-masking[provider]")


@for_each("page", ("operator", "provider", "consumer"))
def test_a_first_page_is_short_and_begins_with_the_line_that_installs(page):
    text = (ROOT / f"docs/start/{page}.md").read_text()
    assert len(text.split()) <= 300
    role = "server" if page == "operator" else "provider"
    assert re.match(rf"# [\w ]+\n\n```sh\npip install --requirement aegis-{VERSION}/{role}\.txt\n```\n", text)
