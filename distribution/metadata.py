"""What the metadata of all distributions have in common: one version, and siblings of exactly this version.

Each project names its requirements and its siblings in `[tool.hatch.metadata.hooks.custom]`, since what is dynamic in
`[project]` cannot be static as well. The folder is in every project by a link, so that a source distribution has it.
"""

from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

HERE = Path(__file__).parent
NAME = "aegis-masking"

HOME = "https://example.org/aegis"
"""Where the project is. Whoever uploads it for the first time names its place here."""

HAS_A_HOME = "example.org" not in HOME


class Metadata(MetadataHookInterface):
    """Completes the metadata of a project."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add version, requirements, addresses and classifiers.

        Raises:
            ValueError: A sibling has a version of its own.
        """
        version = (HERE / "VERSION").read_text().strip()
        extras = self.config.get("optional-dependencies", {})
        metadata["version"] = version
        metadata["dependencies"] = pinned(self.config["dependencies"], version)
        metadata["optional-dependencies"] = {name: pinned(wanted, version) for name, wanted in extras.items()}
        metadata["urls"] = {"Homepage": HOME, "Changelog": f"{HOME}/CHANGELOG.md"}
        metadata["classifiers"] = [
            "Development Status :: 4 - Beta",
            "Intended Audience :: Healthcare Industry",
            "Intended Audience :: Science/Research",
            "Operating System :: OS Independent",
            "Programming Language :: Python :: 3 :: Only",
            "Programming Language :: Python :: 3.11",
            "Programming Language :: Python :: 3.12",
            "Programming Language :: Python :: 3.13",
            "Topic :: Scientific/Engineering :: Information Analysis",
            "Topic :: Security",
            "Typing :: Typed",
            # The public index refuses what has this one.
            *([] if HAS_A_HOME else ["Private :: Do Not Upload"]),
        ]


def pinned(requirements: list[str], version: str) -> list[str]:
    """The requirements, with siblings of this version alone: `aegis-masking-provider[check]` becomes `...==0.2.0`.

    Raises:
        ValueError: A sibling has a version of its own.
    """
    for requirement in requirements:
        if requirement.startswith(NAME) and any(sign in requirement for sign in "=<>~!;"):
            raise ValueError(f"{requirement}: siblings are of the version in distribution/VERSION; name them alone")
    return [f"{each}=={version}" if each.startswith(NAME) else each for each in requirements]
