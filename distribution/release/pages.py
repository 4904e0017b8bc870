"""The pages of `docs/start`, done literally by three people, each in an environment of their own.

Installers find the libraries in a folder, our wheels by the release's folder alone, and no index. Of the commands, only
the address, the keys and what people choose (`$ENTRY`, ...) are filled in.
"""

import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from distribution.release.building import VERSION
from distribution.release.environments import PIPX, UV, House
from distribution.release.journey import PRIVATE, TABLE, Installed
from distribution.release.programs import ROOT, run
from examples.demo import served

ADDRESS: Final = "http://127.0.0.1:8000"
_BLOCK: Final = re.compile(r"^```sh\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_CHOSEN: Final = ("ENTRY", "REQUEST")


@dataclass
class Person:
    """Somebody who follows the page of a role.

    Attributes:
        blocks: The commands of the page that are not done yet.
        filled: What the page leaves open, by its text.
        chosen: Variables of the shell.
    """

    role: str
    house: House
    folder: Path
    blocks: Iterator[str] = field(init=False)
    filled: dict[str, str] = field(default_factory=dict)
    chosen: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Begin with the line that installs."""
        self.folder.mkdir(parents=True)
        (self.folder / f"aegis-{(ROOT / VERSION).read_text().strip()}").symlink_to(self.house.ours.parent)
        self.blocks = iter(_BLOCK.findall((ROOT / f"docs/start/{self.role}.md").read_text()))
        run(UV, "venv", "--quiet", "--seed", "--python", self.house.python, self.folder / "env")
        self.go_on()

    def go_on(self, blocks: int = 1) -> str:
        """Do the next blocks of the page; what they print."""
        return "".join(self.do(next(self.blocks)) for _ in range(blocks))

    def do(self, block: str) -> str:
        """Do commands, and keep the variables that they set."""
        for text, filled in self.filled.items():
            block = block.replace(text, filled)
        kept = "".join(f'\necho "${{{name}-}}" > .{name}' for name in _CHOSEN)
        said = run("bash", "-eu", "-o", "pipefail", "-c", block + kept, where=self.folder, environ=self._variables())
        for name in _CHOSEN:
            if text := (self.folder / f".{name}").read_text().strip():
                self.chosen[name] = text
        return said

    def _variables(self) -> Mapping[str, str]:
        found = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.house.others)}
        programs = {"PATH": f"{self.folder / 'env/bin'}:/usr/bin:/bin", "XDG_STATE_HOME": str(self.folder / "state")}
        pipx = {f"PIPX_{name}": str(self.folder / "pipx" / name) for name in ("HOME", "BIN_DIR", "MAN_DIR")}
        return found | programs | pipx | PRIVATE | self.chosen


def first_minutes(house: House, folder: Path) -> None:
    """Follow the three pages, from the installation to the table that is verified.

    Raises:
        ReleaseError: A command of a page failed.
    """
    house.once("aegis-masking[provider]", "aegis", "release", "--help")
    operator, provider, consumer = (Person(role, house, folder / role) for role in ("operator", "provider", "consumer"))
    operator.do(f"pip install --quiet {PIPX[0]}")
    operator.go_on()
    run(operator.folder / "pipx/BIN_DIR/aegis-server", "--version")
    service, data = Installed(operator.folder / "env/bin", operator.folder), operator.folder / "aegis-data"
    with service.serving(data):  # as the next block says, on a free port
        next(operator.blocks)
        of_provider, of_consumer = operator.go_on().split()
        operator.go_on()
    with service.serving(data) as url, served(provider.folder / "shared") as link:
        for person, key in ((provider, of_provider), (consumer, of_consumer)):
            person.filled = {ADDRESS: url, "AEGIS_API_KEY=...": f"AEGIS_API_KEY={key}"}
            person.chosen |= {"AEGIS_URL": url, "AEGIS_API_KEY": key, "LINK": link}
        shutil.copy(ROOT / TABLE, provider.folder / "table.csv")
        provider.go_on(2)
        consumer.chosen["ENTRY"] = provider.chosen["ENTRY"]
        consumer.go_on(2)
        consumer.chosen["CONFIGURATION"] = consumer.go_on().partition(":")[0]
        consumer.go_on(2)
        provider.chosen["REQUEST"] = consumer.chosen["REQUEST"]
        (provider.folder / "shared").mkdir()
        provider.go_on()
        consumer.go_on()
