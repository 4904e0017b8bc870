"""`make release`: the folder `dist/aegis-VERSION` of a tagged commit, which can be uploaded as it is.

Of any other commit, it is a rehearsal: the same steps, but for what must be true of what is published, and the folder
is `dist/rehearsal/aegis-VERSION`.
"""

import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from distribution.release.building import VERSION, build, build_twice, commit_before, export
from distribution.release.checks import check, is_tagged
from distribution.release.contents import bills, digests, image_context, requirements
from distribution.release.environments import House, interpreter, libraries
from distribution.release.journey import ROLES, Installed, prepared, upgraded, whole_way
from distribution.release.pages import first_minutes
from distribution.release.programs import ROOT, ReleaseError, say, step

BEFORE_NAMES = ("aegis-advisor", "aegis-sdk", "aegis-provider", "aegis-server[embedded]")
"""What 0.1 installed, whose distributions name no siblings."""


def main(pythons: list[str]) -> None:
    """Make the release, and try it with these versions of Python.

    Raises:
        ReleaseError: There is no release.
    """
    version = (ROOT / VERSION).read_text().strip()
    kind = "release" if is_tagged(version) else "rehearsal"
    target = ROOT / "dist" / ("" if kind == "release" else kind) / f"aegis-{version}"
    before, interpreters = commit_before(version), {each: interpreter(each) for each in pythons}
    with step("checking what is released"):
        check(version, before)
    with TemporaryDirectory() as folder:
        work, made = Path(folder), Path(folder, "made")
        with step("building sdists and wheels, twice"):
            build_twice("HEAD", made / "index")
            requirements(version, made)
        houses = {
            each: House(made / "index", work / f"libraries-{each}", python) for each, python in interpreters.items()
        }
        for each, house in houses.items():
            with step(f"fetching the libraries for Python {each}"):
                libraries(house.ours.glob("*.whl"), ROOT / "constraints.txt", house.python, house.others)
            with step(f"going the whole way with Python {each}"):
                whole_way(Installed(house.environment(work / f"python-{each}", ROLES), prepared(work / f"way-{each}")))
        with step("following the first pages of operator, provider and consumer"):
            first_minutes(houses[pythons[-1]], work / "pages")
        with step("upgrading what the version before has made"):
            upgrade(before, work, pythons[0], interpreters[pythons[0]])
        with step("writing bills of materials, the contract and the image's context"):
            bills(houses[pythons[0]], made / "sbom")
            shutil.copy(ROOT / "openapi/openapi.json", made)
            image_context(made / "index", made / "image")
            digests(made)
        replace(made, target)
    say(f"The {kind} is in {target.relative_to(ROOT)}.")


def replace(made: Path, target: Path) -> None:
    """Put a folder in the place of another, whole or not at all."""
    part = target.with_name(f"{target.name}.part")
    for old in (part, target):
        shutil.rmtree(old, ignore_errors=True)
    shutil.copytree(made, part)
    part.rename(target)


def upgrade(before: str, work: Path, python: str, interpreter_: Path) -> None:
    """Build the version before, and upgrade its data folder to this one."""
    source, wheels = export(before, work / "before"), work / "wheels-before"
    wheels.mkdir()
    build(before, wheels)
    house = House(wheels, work / "libraries-before", interpreter_)
    libraries(wheels.glob("*.whl"), source / "constraints.txt", house.python, house.others)
    folder = prepared(work / "upgraded")
    names = BEFORE_NAMES if any(wheels.glob("aegis_sdk-*.whl")) else (ROLES,)
    older = Installed(house.environment(work / "python-before", *names), folder)
    upgraded(older, Installed(work / f"python-{python}" / "bin", folder), folder / "data")


if __name__ == "__main__":
    try:
        main(sys.argv[1:] or ["3.11", "3.13"])
    except ReleaseError as error:
        sys.exit(f"no release: {error}")
