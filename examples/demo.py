"""`make demo`: the whole path on the health insurance study, with the commands that a provider and a consumer use."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

PLACE = Path(".aegis/demo")
RELEASE, SHARED, WORK, RECEIVED = (PLACE / name for name in ("release", "shared", "fulfil", "received.csv"))
#: The demo's own, so that a run before this one is not what left of the table.
STATE = PLACE / "state"
TABLE = "examples/health/health.csv"
K = 5
#: The storage is on this machine, to which links lead only if somebody allows it.
PRIVATE = {"AEGIS_LINKS_ALLOW_PRIVATE": "true"}
#: Seconds; a first start makes the database.
PATIENCE = 60.0


def main() -> None:
    """Start the service, release the table meanwhile, publish the entry, ask, deliver, stop the service."""
    start = time.perf_counter()
    clear()
    say("The database, the service and a worker start in the background. The release, which comes first, needs none.")
    with running_service() as (service, log):
        make_release()
        say("Waiting for the service ...")
        with timed():
            url = address_of(service, log)
        say(f"It runs at {url}. The provider publishes the summaries; a masked table follows if asked for:")
        environment = {"AEGIS_URL": url} | PRIVATE
        entry_id = aegis(environment, "publish", str(RELEASE / "entry.json"), "--update").strip()
        say("A consumer who needs more privacy asks which configuration to request:")
        aegis(environment, "advise", entry_id, "--require", "k=10", "--limit", "5")
        deliver(environment, entry_id)
    say(f"Done in {time.perf_counter() - start:.1f} s. The release is in {RELEASE} (begin with card.html), and what")
    say_line(f"arrived is {RECEIVED}. Next: make serve.")


def clear() -> None:
    """Remove what an earlier run made, but for its database, so that every run does and shows the same."""
    PLACE.mkdir(parents=True, exist_ok=True)
    for folder in (RELEASE, SHARED, WORK, STATE / "aegis" / "ledger"):
        shutil.rmtree(folder, ignore_errors=True)
    RECEIVED.unlink(missing_ok=True)
    SHARED.mkdir()


def make_release() -> None:
    """The provider turns its table into a release."""
    say("The provider turns its table into a release, on its own machine. No one has written a plan for it:")
    aegis({}, "release", TABLE, "--label", "health", "--require", f"k={K}", "--output", str(RELEASE))
    say("This is what the masked table looks like:")
    sys.stdout.writelines(f"  {line}" for line in (RELEASE / "masked.csv").read_text().splitlines(keepends=True)[:4])


def deliver(environment: Mapping[str, str], entry_id: str) -> None:
    """The consumer requests the table, the provider delivers it, and the consumer verifies it."""
    say("It requests that table and says what for. The provider agrees:")
    asked = ("--require", "k=10", "--purpose", "A study of local care", "--contact", "me@lab.example", "--accept-terms")
    request_id = aegis(environment, "requests", "new", entry_id, *asked).strip()
    aegis(environment, "requests", "approve", request_id)
    say("The provider masks its table to order, puts it into its own storage (here: a folder), and says where it is:")
    with served(SHARED) as link:
        to = ("--to", str(SHARED), "--link", link, "--work", str(WORK))
        aegis(environment, "requests", "fulfil", request_id, TABLE, "--plan", str(RELEASE / "configurations.yaml"), *to)
        say("The consumer fetches it, counts it again, and compares that with what was published:")
        aegis(environment, "receive", request_id, "--output", str(RECEIVED))


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """A web server on this machine that shares a folder; its address."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, args=[0.05], daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@contextmanager
def running_service() -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """The service on a free port, which takes seconds to get ready, and the file of its log."""
    log_path = PLACE.with_suffix(".log")
    command = [str(Path(sys.executable).with_name("aegis-server")), "serve", "--port", "0", "--data-dir", str(PLACE)]
    environment = {name: value for name, value in os.environ.items() if name != "AEGIS_DATABASE_URL"} | PRIVATE
    with log_path.open("w") as log:
        service = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, env=environment)  # noqa: S603
    try:
        yield service, log_path
        say("Stopping what was started ...")
        with timed():
            stop(service)
    finally:
        stop(service)


def stop(service: subprocess.Popen[str]) -> None:
    """Stop the service with its database and its worker, unless it is stopped."""
    service.terminate()
    service.wait(PATIENCE)


def address_of(service: subprocess.Popen[str], log: Path) -> str:
    """What the service says it listens on; it says so when it is ready, and ends its output when it fails."""
    for line in service.stdout or ():
        if line.startswith("Aegis listens on "):
            return line.split()[-1]
    sys.exit(f"The service did not start; the end of {log} says why:\n{log.read_text()[-2000:]}")


def aegis(environment: Mapping[str, str], *arguments: str) -> str:
    """Run the command `aegis`, show it, what it does meanwhile, what it prints and its seconds; return what it prints.

    On a terminal, the command shows bars itself; otherwise it says in lines what it does.
    """
    say_line(f"  $ aegis {shlex.join(arguments)}")
    command = [str(Path(sys.executable).with_name("aegis")), *arguments]
    environment = {**os.environ, "AEGIS_PROGRESS": "lines", "XDG_STATE_HOME": str(STATE.resolve()), **environment}
    progress = None if sys.stderr.isatty() else subprocess.PIPE
    with (
        timed(),
        subprocess.Popen(  # noqa: S603
            command, env=environment, stdout=subprocess.PIPE, stderr=progress, text=True, start_new_session=True
        ) as process,
        ended_by_interrupts(process, telling := threading.Thread(target=tell, args=[process.stderr or ()])),
    ):
        telling.start()
        printed = process.stdout.read() if process.stdout else ""
        telling.join()
        sys.stdout.writelines(f"  {line}" for line in printed.splitlines(keepends=True))
    if process.returncode != 0:
        sys.exit(process.returncode)
    return printed


@contextmanager
def ended_by_interrupts(process: subprocess.Popen[str], telling: threading.Thread) -> Iterator[None]:
    """Let Ctrl-C end a process, with those it has started, at once: `aegis release` would go on with what it has.

    The thread that tells what they say is through with it then, before anything is closed.
    """
    try:
        yield
    except KeyboardInterrupt:
        os.killpg(process.pid, signal.SIGTERM)
        if telling.is_alive():
            telling.join()
        raise


def tell(lines: Iterable[str]) -> None:
    """Show what a command says while it runs, each line with the seconds until then."""
    start = time.perf_counter()
    for line in lines:
        say_line(f"  {time.perf_counter() - start:4.1f} s  {line.rstrip()}")


@contextmanager
def timed() -> Iterator[None]:
    """Say how many seconds the block took."""
    start = time.perf_counter()
    yield
    say_line(f"  ({time.perf_counter() - start:.1f} s)")


def say(text: str) -> None:
    """A heading, for people."""
    say_line(f"\n{text}")


def say_line(text: str) -> None:
    """A line that is shown at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("\nStopped, and with it the service and its database.")
