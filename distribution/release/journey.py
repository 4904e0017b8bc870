"""The journey of provider, consumer and operator, from wheels alone: no index, nothing of a checkout on any path."""

import json
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from distribution.release.programs import ROOT, ReleaseError, clean, run

PATIENCE: Final = 120.0
"""Seconds to wait for the service: a first start makes the database."""

TABLE: Final = "examples/health/health.csv"
PLAN: Final = "examples/health/plan.yaml"
PRIVATE: Final = {"AEGIS_LINKS_ALLOW_PRIVATE": "true"}
"""Links lead to this machine, which has to be allowed."""

ROLES: Final = "aegis-masking[provider,receipts,server]"


@dataclass(frozen=True)
class Installed:
    """The commands of an environment, run in a folder outside of the checkout."""

    programs: Path
    folder: Path

    def aegis(self, *words: str, url: str = "") -> str:
        """What a command prints."""
        state = {"XDG_STATE_HOME": str(self.folder / "state"), "AEGIS_URL": url}
        return run(self.programs / "aegis", *words, where=self.folder, environ=PRIVATE | state)

    def server(self, *words: str) -> str:
        """What an operator's command prints."""
        return run(self.programs / "aegis-server", *words, where=self.folder)

    @contextmanager
    def serving(self, data: Path) -> Iterator[str]:
        """Run the service on a data folder during the block; its address."""
        command = [str(self.programs / "aegis-server"), "serve", "--port", "0", "--data-dir", str(data)]
        with (self.folder / "serve.log").open("w") as log:
            service = subprocess.Popen(  # noqa: S603 -- the release's own command
                command, cwd=self.folder, env=clean(PRIVATE), stdout=subprocess.PIPE, stderr=log, text=True
            )
        try:
            yield _address(service, self.folder / "serve.log")
        finally:
            service.terminate()
            service.communicate(timeout=PATIENCE)


def _address(service: "subprocess.Popen[str]", log: Path) -> str:
    for line in service.stdout or ():
        if found := re.match(r"Aegis listens on (\S+)", line):
            return found[1].rstrip(".")
    raise ReleaseError(f"the service did not start:\n{log.read_text()[-2000:]}")


def prepared(folder: Path) -> Path:
    """The examples alone, in an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "examples").mkdir(parents=True)
    for name in ("__init__.py", "demo.py"):
        shutil.copy(ROOT / "examples" / name, folder / "examples")
    shutil.copytree(ROOT / "examples/health", folder / "examples/health")
    return folder


def whole_way(installed: Installed) -> None:
    """Release a table, publish, ask, request, fulfil, receive and verify; then read the pages that people begin with.

    Raises:
        ReleaseError: Something of it failed.
    """
    run(installed.programs / "python", "-m", "examples.demo", where=installed.folder)
    with installed.serving(installed.folder / ".aegis/demo") as url:
        for path in ("/", "/requests", "/glossary", "/docs", "/openapi.json", "/readyz", "/metrics"):
            page = read(url + path)
            for place in set(re.findall(r'(?:src|rel="stylesheet" href)="(/[^"]+)"', page)):
                read(url + place)
    installed.server("migrate", "--data-dir", str(installed.folder / "another"))


def read(url: str) -> str:
    """The text at an address of this machine.

    Raises:
        ReleaseError: The answer is no success.
    """
    request = urllib.request.Request(url, headers={"Accept": "text/html, */*"})  # noqa: S310 -- our own service
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310 -- likewise
            return str(answer.read().decode())
    except OSError as error:
        raise ReleaseError(f"{url}: {error}") from error


def upgraded(before: Installed, now: Installed, data: Path) -> None:
    """Upgrade a data folder that the version before has made, with clients of both versions on both sides of it.

    Raises:
        ReleaseError: An answer of the same model is another one afterwards, or a client of one version fails at a
            service of the other.
    """
    counted = ("summarize", TABLE, "--plan", PLAN, "--name", "upgraded", "--output", "entry.json", "--pairs", "--exact")
    before.aegis(*counted)
    with before.serving(data) as url:
        published = ("publish", "entry.json", "--accept-small-counts", "--accept-unique")
        entry = before.aegis(*published, url=url).split()[-1]
        answers = [answer_of(each, entry, url) for each in (before, now)]
    with now.serving(data) as url:
        answers += [answer_of(each, entry, url) for each in (before, now)]
    refuse_other_answers(answers)


def refuse_other_answers(answers: list[dict[str, Any]]) -> None:
    """Refuse answers to one question that differ although a model of one version gave them.

    Raises:
        ReleaseError: The model is another one, so its version has to be.
    """
    of_model: dict[str, Any] = {}
    for answer in answers:
        if of_model.setdefault(answer["model_version"], answer) != answer:
            said = json.dumps(answers, indent=1)[:2000]
            raise ReleaseError(f"one MODEL_VERSION answers a question in two ways, so raise it: {said}")


def answer_of(installed: Installed, entry: str, url: str) -> dict[str, Any]:
    """The order of the configurations, what is expected, and by which model, without times and ids."""
    answer = json.loads(installed.aegis("advise", entry, "--require", "k=10", "--json", url=url))
    return {name: answer[name] for name in ("configuration", "ranking", "expected", "model_version") if name in answer}
