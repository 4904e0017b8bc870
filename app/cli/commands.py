"""Run and administer the Aegis service. Every option has an environment variable `AEGIS_...`."""

import asyncio
import os
import socket
import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from uvicorn.loops.auto import auto_loop_factory

from app import log
from app.catalog import migrations
from app.catalog.compatibility import refuse_mismatch
from app.cli.audit import audit
from app.cli.environment import (
    DataDir,
    audit_key_file_of,
    database_of,
    fail,
    own_database,
    refuse_bad_audit_key,
    settings_of,
    with_services,
)
from app.cli.keys import keys
from app.cli.private_files import create_privately, write_privately
from app.cli.replay import replay
from app.cli.tenants import tenants
from app.domain.callers import DEFAULT_TENANT, Role
from app.domain.errors import RefusalError
from app.process.embedded import EmbeddedPostgresError, home_of, running_urls, server_account
from app.process.loading import loading
from app.process.supervisor import GroupMember, Supervisor
from app.services.keyring import Keyring
from app.services.open_door import OpenDoorError, refuse_open_door
from app.services.signing import draw_key_text
from app.settings import Settings
from app.web.server import ANSWER_SECONDS

cli = typer.Typer(
    help=__doc__, add_completion=False, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False
)
cli.add_typer(keys, name="keys")
cli.add_typer(tenants, name="tenants")
cli.add_typer(audit, name="audit")
cli.command()(replay)

#: Settings that only migrations need.
_OWNER_ONLY = ("AEGIS_OWNER_DATABASE_URL", "AEGIS_OWNER_DATABASE_PASSWORD_FILE")

#: Seconds that a process has to end besides those for what it does.
_END_SECONDS = 2.0

#: The advisor's arrays are small, so one thread in each process is fastest and leaves the cores to the workers.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


@cli.command()
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
        if (key_file := _audit_key_file(settings)) is not None:
            environment["AEGIS_AUDIT_KEY_FILE"] = str(key_file)
            refuse_bad_audit_key(settings.model_copy(update={"audit_key_file": key_file}))
        for name in _OWNER_ONLY:
            os.environ.pop(name, None)  # the others do not need what the owner may do
        this = (sys.executable, "-m", "app.cli")
        group = [GroupMember(name="api", argv=(*this, "api"), env=environment)]
        for number in range(1, settings.workers + 1):
            name = f"worker {number}"
            own = environment | settings.of_worker(number)
            group.append(GroupMember(name=name, argv=(*this, "worker"), env=own))
        grace = max(settings.stop_seconds, settings.drain_seconds + ANSWER_SECONDS) + _END_SECONDS
        status = Supervisor(group, server=postmaster, grace=grace).run()
    raise typer.Exit(status)


@cli.command(hidden=True)
def api(example: Annotated[str, typer.Option(envvar="AEGIS_EXAMPLE")] = "") -> None:
    """Run the API alone, as `serve` starts it."""
    with loading():
        from app.main import run  # noqa: PLC0415 -- neither the supervisor nor a worker needs the application

    settings = settings_of()
    refuse_bad_audit_key(settings)
    log.configure(settings.log_level)
    run(settings, example)


@cli.command()
def worker(data_dir: DataDir = None) -> None:
    """Run one more worker, on any machine that can reach the database."""
    with loading():
        from app.jobs.worker import run_worker  # noqa: PLC0415 -- only a worker needs it

    os.environ.update(_ONE_THREAD)
    settings = settings_of(data_dir=data_dir)
    log.configure(settings.log_level)
    urls = settings.urls or running_urls(settings.data_dir)
    if urls is None:
        fail(f"no database: set AEGIS_DATABASE_URL, or start `aegis-server serve --data-dir {settings.data_dir}`")
    own = settings.model_copy(update={"database_url": urls.service, "audit_key_file": audit_key_file_of(settings)})
    refuse_bad_audit_key(own)
    refuse_mismatch(urls.service)  # its jobs would fail
    with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:  # as the API has it
        runner.run(run_worker(own))


@cli.command()
def migrate(
    data_dir: DataDir = None,
    draft: Annotated[str | None, typer.Option(help="Then write a draft revision with this message.")] = None,
    first_key_file: Annotated[
        Path | None,
        typer.Option(envvar="AEGIS_FIRST_KEY_FILE", help="File for an operator's key, if no key was ever created."),
    ] = None,
    wait: Annotated[
        float | None, typer.Option(min=0, help="Change nothing, but wait so many seconds for another that migrates.")
    ] = None,
) -> None:
    """Bring the database to the newest revision. Safe to run at any time, also several times at once."""
    settings = settings_of(data_dir=data_dir)
    with database_of(settings) as urls:
        if wait is not None:
            migrations.wait(urls.service, wait)
            return
        migrations.upgrade(urls)
        _audit_key_file(settings)
        if draft is not None:
            migrations.draft(urls.owner, draft)
        if first_key_file is not None:
            asyncio.run(
                with_services(urls.service, lambda services: _create_first_key(services.keyring(), first_key_file))
            )


@cli.command()
def openapi(
    *,
    check: Annotated[bool, typer.Option("--check", help="Only check that the committed file is up to date.")] = False,
    path: Annotated[Path, typer.Option(help="File to write or check.")] = Path("openapi/openapi.json"),
) -> None:
    """Write the OpenAPI document. Needs no database."""
    import json  # noqa: PLC0415 -- this command only

    from app.main import create_app  # noqa: PLC0415 -- as above

    document = json.dumps(create_app(Settings(database_url=None)).openapi(), indent=2, ensure_ascii=False) + "\n"
    if not check:
        path.write_text(document, encoding="utf-8")
    elif not path.exists() or path.read_text(encoding="utf-8") != document:
        fail(f"{path} is out of date: run `make openapi` and commit it")


def _free_port(host: str, port: int) -> int:
    """The port to listen on: for 0 a free one, which the API has again after each start.

    Exit if it is taken, before anything is started; the API itself would notice only after the rest.
    """
    try:
        with socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as tried:
            number: int = tried.getsockname()[1]
            return number
    except OSError as error:
        fail(f"cannot listen on {host}, port {port}: {error.strerror or error}; choose another by --port or AEGIS_PORT")


def _audit_key_file(settings: Settings) -> Path | None:
    """The file of the key that signs, which is made if there is none."""
    path = audit_key_file_of(settings)
    try:
        if path is not None and not path.exists():
            create_privately(path, draw_key_text())
    except OSError as error:
        fail(f"the audit key cannot be written to {path}: {error.strerror}")
    return path


async def _create_first_key(keyring: Keyring, path: Path) -> None:
    """Create an operator's key in a file that only its owner can read, unless a key was ever created."""
    if await keyring.any_created():
        return
    key, _ = await keyring.create(DEFAULT_TENANT, Role.OPERATOR)
    write_privately(path, key + "\n")


def main() -> NoReturn:
    """Run a command. An error that the operator can correct is one line, with exit code 2."""
    try:
        cli(auto_envvar_prefix="AEGIS")
    except (EmbeddedPostgresError, OpenDoorError, RefusalError) as error:
        fail(str(error))
    sys.exit(0)
