"""What a release has besides sdists and wheels: requirements, bills of materials, the image's context, digests."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from distribution.release.building import sums
from distribution.release.environments import EXTRAS, House
from distribution.release.programs import BIN, ROOT, run

SERVICE: Final = ("aegis_masking-", "aegis_masking_advisor-", "aegis_masking_server-")
"""How the names of the wheels begin that the image has."""

BILLS: Final = ("aegis-masking", "aegis-masking[provider]", "aegis-masking[server]")


def requirements(version: str, to: Path) -> None:
    """Write what each role installs: wheels by their paths, for which no installer asks an index.

    The paths begin at the place of the folder, where people start installers. Each wheel comes after those that it
    needs, since pipx installs one after the other.
    """
    for role, extra in EXTRAS.items():
        names = (f"aegis_masking{part}-{version}-py3-none-any.whl" for part in ("", "_advisor", f"_{role}"))
        wheels = "\n".join(f"./aegis-{version}/index/{name}" for name in names)
        (to / f"{role}.txt").write_text(f"{wheels}{extra}\n", encoding="utf-8")


def bills(house: House, to: Path) -> None:
    """Write a bill of materials (CycloneDX) of what each role installs."""
    to.mkdir()
    for wanted in BILLS:
        name = wanted.replace("[", "-").rstrip("]")
        with TemporaryDirectory() as folder:
            programs = house.environment(Path(folder), wanted)
            command = (
                BIN / "cyclonedx-py",
                "environment",
                "--output-reproducible",
                "--validate",
                "--gather-license-texts",
            )
            run(*command, "--output-format", "JSON", "--output-file", to / f"{name}.cdx.json", programs / "python")


def image_context(wheels: Path, to: Path) -> None:
    """Copy what an engine builds the image of. There, `docker compose` and `docker build` take the wheels from it."""
    (to / "wheels").mkdir(parents=True)
    for wheel in wheels.glob("*.whl"):
        if wheel.name.startswith(SERVICE):
            shutil.copy(wheel, to / "wheels")
    for name in ("constraints.txt", "docker-compose.yml"):
        shutil.copy(ROOT / name, to)
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    (to / "Dockerfile").write_text(text.replace("ARG WHEELS=built\n", "ARG WHEELS=released\n"), encoding="utf-8")


def digests(folder: Path) -> None:
    """Write `SHA256SUMS` of all files in a folder, as `sha256sum --check` reads it."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    lines = [f"{digest}  {file.relative_to(folder)}\n" for file in sorted(files) for _, digest in sums([file])]
    (folder / "SHA256SUMS").write_text("".join(lines))
