"""Run the service or a part of it, migrate its database, and write its OpenAPI document."""

import asyncio
import json
import os
import socket
import sys
from pathlib import Path
from typing import Annotated

import typer
from uvicorn.loops.auto import auto_loop_factory

from aegis_sdk.cli.group import loading
from app.callers.service import Keyring, refuse_open_door
from app.cli.commands import fail
from app.cli.environment import (
    DataDir,
    audit_key_file_of,
    database_of,
    made_audit_key_file,
    own_database,
    refuse_bad_audit_key,
    settings_of,
    with_services,
    write_privately,
)
from app.platform import log
from app.platform.database import migrations
from app.platform.database.migrations import refuse_mismatch, refuse_old_server
from app.platform.errors import OperatorError
from app.platform.http.server import ANSWER_SECONDS
from app.platform.process.embedded.cluster import home_of, server_account
from app.platform.process.embedded.server import running_urls
from app.platform.process.supervisor import GroupMember, Supervisor
from app.settings import Settings, text_in
from app.tenants.required_privacy import required_by

#: Settings for migrations only.
_OWNER_ONLY = ("AEGIS_OWNER_DATABASE_URL", "AEGIS_OWNER_DATABASE_PASSWORD_FILE")

#: Seconds to stop a process, in addition to those for its work.
_END_SECONDS = 2.0

#: The advisor's arrays are small, so one thread in each process is fastest and leaves the cores to the workers.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def serve(
    host: Annotated[str | None, typer.Option(envvar="AEGIS_HOST", help="Address to listen on.")] = None,
    port: Annotated[
        int | None, typer.Option(envvar="AEGIS_PORT", help="Port to listen on; 0 picks a free one.")
    ] = None,
    workers: Annotated[int | None, typer.Option(envvar="AEGIS_WORKERS", help="Number of workers to start.")] = None,
    data_dir: DataDir = None,
    example: Annotated[
        Path | None, typer.Option(envvar="AEGIS_EXAMPLE", help="Entry file to use in the printed curl commands.")
    ] = None,
) -> None:
    """Run the whole service until SIGTERM. Starts the database (embedded unless AEGIS_DATABASE_URL is set),
    migrations, the API and its workers.
    """
    settings = settings_of(host=host, port=port, workers=workers, data_dir=data_dir)
    log.configure(settings.log_level)
    port = _free_port(settings.host, settings.port)
    with own_database(settings) as (urls, postmaster):
        migrations.upgrade(urls)
        asyncio.run(with_services(urls.service, lambda services: refuse_open_door(services.keyring(), settings)))
        environment = _ONE_THREAD | {
            "AEGIS_DATABASE_URL": urls.service,
            "AEGIS_HOST": settings.host,
            "AEGIS_PORT": str(port),
            "AEGIS_EXAMPLE": str(example or ""),
        }
        if settings.disk_dir is None and settings.database_url is None:
            environment["AEGIS_DISK_DIR"] = str(home_of(settings.data_dir, server_account()))
        if (key_file := made_audit_key_file(settings)) is not None:
            environment["AEGIS_AUDIT_KEY_FILE"] = str(key_file)
            refuse_bad_audit_key(settings.model_copy(update={"audit_key_file": key_file}))
        for name in _OWNER_ONLY:
            os.environ.pop(name, None)  # the other processes do not need the owner's rights
        this = (sys.executable, "-m", "app.cli")
        group = [GroupMember(name="api", argv=(*this, "api"), env=environment)]
        for number in range(1, settings.workers + 1):
            name = f"worker {number}"
            own = environment | settings.of_worker(number)
            group.append(GroupMember(name=name, argv=(*this, "worker"), env=own))
        grace = max(settings.stop_seconds, settings.drain_seconds + ANSWER_SECONDS) + _END_SECONDS
        status = Supervisor(group, server=postmaster, grace=grace).run()
    raise typer.Exit(status)


def api(example: Annotated[str, typer.Option(envvar="AEGIS_EXAMPLE")] = "") -> None:
    """Run the API alone, as `serve` starts it."""
    with loading():
        from app.main import run  # noqa: PLC0415 -- neither the supervisor nor a worker needs the application

    settings = settings_of()
    refuse_bad_audit_key(settings)
    log.configure(settings.log_level)
    if settings.urls is not None:
        refuse_old_server(settings.urls.service)
    run(settings, example)


def worker(data_dir: DataDir = None) -> None:
    """Run one more worker, on any machine that can reach the database."""
    with loading():
        from app.worker.worker import run_worker  # noqa: PLC0415 -- only a worker needs it

    os.environ.update(_ONE_THREAD)
    settings = settings_of(data_dir=data_dir)
    log.configure(settings.log_level)
    urls = settings.urls or running_urls(settings.data_dir)
    if urls is None:
        fail(f"no database: set AEGIS_DATABASE_URL, or start `aegis-server serve --data-dir {settings.data_dir}`")
    own = settings.model_copy(update={"database_url": urls.service, "audit_key_file": audit_key_file_of(settings)})
    refuse_bad_audit_key(own)
    refuse_mismatch(urls.service)  # otherwise its jobs would fail
    with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:  # the same loop as the API's
        runner.run(run_worker(own, required_by(own)))


def _free_port(host: str, port: int) -> int:
    """The port to listen on: for 0 a free one, which stays the same when the API restarts.

    Exit if it is taken, before starting anything; the API itself would notice only at the end.
    """
    try:
        with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as tried:
            number: int = tried.getsockname()[1]
            return number
    except OSError as error:
        fail(f"cannot listen on {host}, port {port}: {error.strerror or error}; choose another by --port or AEGIS_PORT")


def openapi(
    *,
    check: Annotated[bool, typer.Option("--check", help="Only check that the committed file is up to date.")] = False,
    path: Annotated[Path, typer.Option(help="File to write or check.")] = Path("openapi/openapi.json"),
) -> None:
    """Write the OpenAPI document. Needs no database."""
    with loading():
        from app.main import create_app  # noqa: PLC0415 -- as in `api`

    if not path.parent.is_dir():
        fail(f"{path.parent} does not exist: name another file with --path, or run this in a checkout")
    document = json.dumps(create_app(Settings(database_url=None)).openapi(), indent=2, ensure_ascii=False) + "\n"
    if not check:
        path.write_text(document, encoding="utf-8")
    elif not path.exists() or path.read_text(encoding="utf-8") != document:
        fail(f"{path} is out of date: run `make openapi` and commit it")


def migrate(
    data_dir: DataDir = None,
    draft: Annotated[str | None, typer.Option(help="Then write a draft revision with this message.")] = None,
    first_key_file: Annotated[
        Path | None,
        typer.Option(envvar="AEGIS_FIRST_KEY_FILE", help="File for an operator's key, if no key was ever created."),
    ] = None,
    bootstrap_key_file: Annotated[
        Path | None,
        typer.Option(
            envvar="AEGIS_BOOTSTRAP_KEY_FILE",
            help="File that has an operator's key, which becomes valid if no key was ever created.",
        ),
    ] = None,
    wait: Annotated[
        float | None, typer.Option(min=0, help="Change nothing; wait at most this many seconds for another migration.")
    ] = None,
) -> None:
    """Bring the database to the newest revision. Safe to run at any time, also in parallel.

    Waits up to a minute for a server that does not accept connections yet.
    """
    settings = settings_of(data_dir=data_dir)
    log.configure(settings.log_level)
    with database_of(settings) as urls:
        if wait is not None:
            migrations.wait(urls.service, wait)
            return
        migrations.wait_for_server(urls.owner)
        migrations.upgrade(urls)
        made_audit_key_file(settings)
        if draft is not None:
            migrations.draft(urls.owner, draft)
        if first_key_file is not None or bootstrap_key_file is not None:
            asyncio.run(
                with_services(
                    urls.service,
                    lambda services: _create_first_key(services.keyring(), first_key_file, bootstrap_key_file),
                )
            )


async def _create_first_key(keyring: Keyring, to_write: Path | None, to_read: Path | None) -> None:
    """Create an operator's key unless a key was ever created: the one in `to_read`, or a new one written to `to_write`,
    which only its owner can read.

    A missing `to_read` is a secret that was removed, or that an issuer of tokens makes unnecessary.
    """
    if await keyring.any_created(lock=True):
        return
    if to_read is not None and to_read.exists():  # noqa: ASYNC240 -- no other task waits
        try:
            await keyring.create_first(text_in(to_read, "the first key"))
        except ValueError as error:
            raise OperatorError(str(error)) from None
    elif to_write is not None:
        write_privately(to_write, await keyring.create_first() + "\n")
    else:
        typer.echo(f"aegis-server: no first key was created: {to_read} does not exist", err=True)
