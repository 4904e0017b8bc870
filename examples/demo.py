"""`make demo`: the whole path on the health insurance study, with the commands that a provider and a consumer use."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PLACE = Path(".aegis/demo")
TABLE = "examples/health/health.csv"
K = 5
#: The storage is on this machine, to which links lead only if somebody allows it.
PRIVATE = {"AEGIS_LINKS_ALLOW_PRIVATE": "true"}
#: Seconds; a first start makes the database.
PATIENCE = 60.0


def main() -> None:
    """Release the table, start the service, publish the entry, ask, deliver, stop the service."""
    start = time.perf_counter()
    PLACE.mkdir(parents=True, exist_ok=True)
    folder = PLACE / "release"
    say("The provider turns its table into a release, on its own machine. No one has written a plan for it:")
    aegis(dict(os.environ), "release", TABLE, "--label", "health", "--require", f"k={K}", "--output", str(folder))
    say("This is what the masked table looks like:")
    sys.stdout.writelines(f"  {line}" for line in (folder / "masked.csv").read_text().splitlines(keepends=True)[:4])
    say("Starting the database, the service and a worker ...")
    with running_service() as url:
        environment = os.environ | {"AEGIS_URL": url} | PRIVATE
        say(f"They run at {url}.")
        say("The provider publishes the summaries; besides the masked table, nothing else leaves its machine:")
        entry_id = aegis(environment, "publish", str(folder / "entry.json"), "--update").strip()
        say("A consumer who needs more privacy asks which configuration to request:")
        aegis(environment, "advise", entry_id, "--require", "k=10", "--limit", "5")
        deliver(environment, entry_id, folder)
        say("Stopping what was started ...")
    say(f"Done in {time.perf_counter() - start:.1f} s. Everything is in {folder}; start with card.html.")


def deliver(environment: dict[str, str], entry_id: str, folder: Path) -> None:
    """The consumer requests the table, the provider delivers it, and the consumer verifies it."""
    say("It requests that table and says what for. The provider agrees:")
    asked = ("--require", "k=10", "--purpose", "A study of local care", "--contact", "me@lab.example", "--accept-terms")
    request_id = aegis(environment, "request", entry_id, *asked).strip()
    aegis(environment, "approve", request_id)
    say("The provider masks its table to order, puts it into its own storage (here: a folder), and says where it is:")
    shared = PLACE / "shared"
    shutil.rmtree(shared, ignore_errors=True)
    shared.mkdir()
    with served(shared) as link:
        to = ("--to", str(shared), "--link", link, "--work", str(PLACE / "fulfil"))
        aegis(environment, "fulfil", request_id, TABLE, "--plan", str(folder / "configurations.yaml"), *to)
        say("The consumer fetches it, counts it again, and compares that with what was published:")
        aegis(environment, "receive", request_id, "--output", str(PLACE / "received.csv"))


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A web server on this machine that shares a folder; its address."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@contextmanager
def running_service() -> Iterator[str]:
    """The service on a free port, its log in a file; the address once it is ready."""
    log_path = PLACE.with_suffix(".log")
    command = [str(Path(sys.executable).with_name("aegis-server")), "serve", "--port", "0", "--data-dir", str(PLACE)]
    environment = {name: value for name, value in os.environ.items() if name != "AEGIS_DATABASE_URL"} | PRIVATE
    with log_path.open("w") as log:
        service = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)  # noqa: S603
    try:
        yield address_of(service, log_path)
    finally:
        service.send_signal(signal.SIGTERM)
        service.wait(PATIENCE)


def address_of(service: subprocess.Popen[str], log: Path) -> str:
    """What the service says it listens on; it says so when it is ready, and ends its output when it fails."""
    for line in service.stdout or ():
        if line.startswith("Aegis listens on "):
            return line.split()[-1]
    sys.exit(f"The service did not start; the end of {log} says why:\n{log.read_text()[-2000:]}")


def aegis(environment: dict[str, str], *arguments: str) -> str:
    """Run the command `aegis`, show it and what it prints, and return that."""
    sys.stdout.write(f"  $ aegis {shlex.join(arguments)}\n")
    sys.stdout.flush()
    command = [str(Path(sys.executable).with_name("aegis")), *arguments]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603
    if done.returncode != 0:
        sys.exit(done.returncode)
    sys.stdout.writelines(f"  {line}" for line in done.stdout.splitlines(keepends=True))
    return done.stdout


def say(text: str) -> None:
    """Progress, for people."""
    sys.stdout.write(f"\n{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
