"""A complete marketplace: PostgreSQL with two roles, an API, workers, agents, and the provider's storage."""

import os
import random
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx

from app.platform.process.embedded.server import EmbeddedPostgres
from bench.served import SERVER, START_SECONDS

PROVIDER = "hospital"


@dataclass
class Process:
    """A restartable process and its log."""

    command: list[str]
    log: Path
    environment: dict[str, str]
    running: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, now or again."""
        with self.log.open("ab") as log:
            self.running = subprocess.Popen(
                self.command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self.environment
            )

    def kill(self) -> None:
        """Kill it."""
        if self.running is not None:
            self.running.kill()
            self.running.wait()


@dataclass
class Marketplace:
    """The service, the agents and the storage.

    Attributes:
        url: The service.
        place: A directory for its files.
        storage: The provider's storage, a web server that takes PUT.
        keys: An API key by tenant.
        uploads: How often each request's table was uploaded.
        processes: The processes that can be killed, by kind.
        killed: The number of kills by kind.
    """

    url: str
    place: Path
    storage: str
    keys: dict[str, str]
    uploads: Counter[str]
    environment: dict[str, str]
    processes: dict[str, list[Process]] = field(default_factory=dict)
    killed: Counter[str] = field(default_factory=Counter)
    ended: threading.Event = field(default_factory=threading.Event)

    def kill(self, kills: int) -> None:
        """Kill a random process of each kind in turn, and start it again."""
        chance = random.Random(22)
        for number in range(kills):
            kind = ("agent", "worker", "api")[number % 3]
            process = chance.choice(self.processes[kind])
            process.kill()
            process.start()
            self.killed[kind] += 1
            if self.ended.wait(chance.uniform(0.5, 2.5)):
                return

    def stop(self) -> None:
        """End all processes."""
        self.ended.set()
        for process in (process for kind in self.processes.values() for process in kind):
            process.kill()

    def start(self, kind: str, number: int, command: list[str], **settings: str) -> None:
        """Start a process that can be killed."""
        process = Process(command, self.place / f"{kind}-{number}.log", self.environment | settings)
        process.start()
        self.processes.setdefault(kind, []).append(process)

    def shared(self) -> list[str]:
        """The names of the files in the storage."""
        return [path.name for path in (self.place / "shared").iterdir()]


@contextmanager
def marketplace(workers: int, consumers: list[str]) -> Iterator[Marketplace]:
    """Run the service on free ports of this machine, with a key for each consumer and one for the provider."""
    with tempfile.TemporaryDirectory(prefix="aegis-bench-") as name:
        place, uploads = Path(name), Counter[str]()
        place.chmod(0o711)  # started by root, PostgreSQL runs as another user, who needs to pass through
        (place / "shared").mkdir()
        with EmbeddedPostgres(place / "data") as postgres, _storage(place / "shared", uploads) as storage:
            environment = {name: value for name, value in os.environ.items() if not name.startswith("AEGIS_")}
            environment |= {"AEGIS_DATABASE_URL": postgres.urls.service, "AEGIS_PORT": _port()}
            environment |= {"AEGIS_OWNER_DATABASE_URL": postgres.urls.owner, "AEGIS_LINKS_ALLOW_PRIVATE": "true"}
            environment |= {"AEGIS_AUDIT_KEY_FILE": str(place / "audit-key.pem")}
            subprocess.run([*SERVER, "migrate"], env=environment, check=True, stdout=subprocess.DEVNULL)
            keys = {tenant: key(environment, tenant, "consumer") for tenant in consumers}
            keys[PROVIDER] = key(environment, PROVIDER, "provider")
            url = f"http://127.0.0.1:{environment['AEGIS_PORT']}"
            market = Marketplace(url, place, storage, keys, uploads, environment)
            try:
                market.start("api", 0, [*SERVER, "api"])
                for number in range(workers):
                    market.start("worker", number, [*SERVER, "worker"])
                _wait_until_ready(url)
                yield market
            finally:
                market.stop()


def key(environment: dict[str, str], tenant: str, role: str) -> str:
    """Create a key of a tenant, by the command of operators."""
    command = [*SERVER, "keys", "create", "--tenant", tenant, "--role", role]
    made = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return made.stdout.split()[-1]


@contextmanager
def _storage(folder: Path, uploads: Counter[str]) -> Iterator[str]:
    """Serve the files of a folder, accept uploads by PUT, and yield the address; count the uploads by request."""

    class Handler(SimpleHTTPRequestHandler):
        def do_PUT(self) -> None:
            name = self.path.strip("/")
            content = self.rfile.read(int(self.headers["Content-Length"]))
            uploads[name[:36]] += 1
            (folder / f".{name}").write_bytes(content)
            (folder / f".{name}").replace(folder / name)
            self._answer(201)

        def do_DELETE(self) -> None:
            (folder / self.path.strip("/")).unlink(missing_ok=True)
            self._answer(204)

        def _answer(self, status: int) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def _port() -> str:
    """A free port, the same at every start of the API."""
    with ThreadingHTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
        return str(server.server_address[1])


def _wait_until_ready(url: str) -> None:
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until:
        with suppress(httpx.HTTPError):
            if httpx.get(f"{url}/readyz").is_success:
                return
        time.sleep(0.1)
    raise TimeoutError(f"{url} is not ready")
