"""Run and administer the Aegis service. Every option has an environment variable `AEGIS_...`."""

import asyncio
import os
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

import typer
from pydantic import ValidationError
from uvicorn.loops.auto import auto_loop_factory

from app import log
from app.api.required_privacy import privacy_in, required_by
from app.catalog import migrations
from app.catalog.queue import queue_app
from app.catalog.session import Database
from app.domain.callers import DEFAULT_TENANT, ApiKey, Role
from app.domain.errors import RefusalError
from app.factory import Factory
from app.identity import token_reader
from app.main import OpenDoorError, create_app, refuse_open_door, run
from app.process.embedded import EmbeddedPostgres, EmbeddedPostgresError, running_url
from app.process.supervisor import GroupMember, Supervisor
from app.services.keyring import Keyring
from app.settings import Settings

T = TypeVar("T")

cli = typer.Typer(
    help=__doc__, add_completion=False, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False
)
keys = typer.Typer(help="Create, list and revoke API keys.", no_args_is_help=True, rich_markup_mode=None)
cli.add_typer(keys, name="keys")
tenants = typer.Typer(help="Say what tenants require.", no_args_is_help=True, rich_markup_mode=None)
cli.add_typer(tenants, name="tenants")

#: The advisor's arrays are small, so one thread in each process is fastest and leaves the cores to the workers.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

DataDir = Annotated[
    Path | None,
    typer.Option(envvar="AEGIS_DATA_DIR", help="Directory of the embedded PostgreSQL's files."),
]


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
    settings = _settings(host=host, port=port, workers=workers, data_dir=data_dir)
    log.configure(settings.log_level)
    _refuse_taken_port(settings.host, settings.port)
    with _own_database(settings) as url:
        migrations.upgrade(url)
        asyncio.run(_with_keyring(url, lambda keyring: refuse_open_door(keyring, settings)))
        environment = _ONE_THREAD | {
            "AEGIS_DATABASE_URL": url,
            "AEGIS_HOST": settings.host,
            "AEGIS_PORT": str(settings.port),
            "AEGIS_EXAMPLE": str(example or ""),
        }
        this = (sys.executable, "-m", "app.cli")
        group = [GroupMember(name="api", argv=(*this, "api"), env=environment)]
        for number in range(1, settings.workers + 1):
            name = f"worker {number}"
            group.append(GroupMember(name=name, argv=(*this, "worker"), env=environment, restart=True))
        status = Supervisor(group).run()
    raise typer.Exit(status)


@cli.command(hidden=True)
def api(example: Annotated[str, typer.Option(envvar="AEGIS_EXAMPLE")] = "") -> None:
    """Run the API alone, as `serve` starts it."""
    settings = _settings()
    log.configure(settings.log_level)
    run(settings, example)


@cli.command()
def worker(data_dir: DataDir = None) -> None:
    """Run one more worker, on any machine that can reach the database."""
    from app.jobs.worker import run_worker  # noqa: PLC0415 -- it imports the advisor

    os.environ.update(_ONE_THREAD)
    settings = _settings(data_dir=data_dir)
    log.configure(settings.log_level)
    url = settings.database_url or running_url(settings.data_dir)
    if url is None:
        _fail(f"no database: set AEGIS_DATABASE_URL, or start `aegis-server serve --data-dir {settings.data_dir}`")
    with asyncio.Runner(loop_factory=auto_loop_factory()) as runner:  # as the API has it
        runner.run(run_worker(settings.model_copy(update={"database_url": url})))


@cli.command()
def migrate(
    data_dir: DataDir = None,
    draft: Annotated[str | None, typer.Option(help="Then write a draft revision with this message.")] = None,
    first_key_file: Annotated[
        Path | None,
        typer.Option(envvar="AEGIS_FIRST_KEY_FILE", help="File for an operator's key, if no key was ever created."),
    ] = None,
) -> None:
    """Bring the database to the newest revision. Safe to run at any time, also several times at once."""
    with _database(_settings(data_dir=data_dir)) as url:
        migrations.upgrade(url)
        if draft is not None:
            migrations.draft(url, draft)
        if first_key_file is not None:
            asyncio.run(_with_keyring(url, lambda keyring: _create_first_key(keyring, first_key_file)))


@cli.command()
def openapi(
    *,
    check: Annotated[bool, typer.Option("--check", help="Only check that the committed file is up to date.")] = False,
    path: Annotated[Path, typer.Option(help="File to write or check.")] = Path("openapi/openapi.json"),
) -> None:
    """Write the OpenAPI document. Needs no database."""
    import json  # noqa: PLC0415 -- this command only

    document = json.dumps(create_app(Settings(database_url=None)).openapi(), indent=2, ensure_ascii=False) + "\n"
    if not check:
        path.write_text(document, encoding="utf-8")
    elif not path.exists() or path.read_text(encoding="utf-8") != document:
        _fail(f"{path} is out of date: run `make openapi` and commit it")


@keys.command("create")
def create_key(
    tenant: Annotated[str, typer.Option(help="Name of the tenant, created if it is new.")],
    role: Annotated[Role, typer.Option(help="What the key may do.")],
    expires_days: Annotated[
        int | None, typer.Option(min=1, max=36_500, help="Days until the key expires; by default, it never does.")
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Create a key and print it. It is never shown again, since only its hash is stored.

    A service that runs in development mode requires keys only after a restart.
    """
    lifetime = None if expires_days is None else timedelta(days=expires_days)
    with _database(_settings(data_dir=data_dir)) as url:
        migrations.upgrade(url)
        typer.echo(asyncio.run(_with_keyring(url, lambda keyring: keyring.create(tenant, role, lifetime))))


@keys.command("list")
def list_keys(data_dir: DataDir = None) -> None:
    """List every key ever created: prefix, tenant, role, and whether it is valid."""
    with _database(_settings(data_dir=data_dir)) as url:
        migrations.upgrade(url)
        for key in asyncio.run(_with_keyring(url, Keyring.all)):
            typer.echo("\t".join(_key_line(key)))


@keys.command("revoke")
def revoke_key(
    prefix: Annotated[str, typer.Argument(help="Readable prefix of the key, such as `aegis_1a2b3c4d`.")],
    data_dir: DataDir = None,
) -> None:
    """Revoke a key. The service refuses it from now on."""
    with _database(_settings(data_dir=data_dir)) as url:
        migrations.upgrade(url)
        asyncio.run(_with_keyring(url, lambda keyring: keyring.revoke(prefix)))


@tenants.command("set")
def set_tenant(
    tenant: Annotated[str, typer.Argument(help="Name of the tenant, created if it is new.")],
    require: Annotated[
        str, typer.Option(help="Privacy that its configurations must vouch for to compete, as in k=10,t=0.2; '': none.")
    ],
    data_dir: DataDir = None,
) -> None:
    """Say what privacy a tenant requires of its entries, besides what the service requires. It applies at once."""
    required = privacy_in(require)
    with _database(_settings(data_dir=data_dir)) as url:
        migrations.upgrade(url)
        asyncio.run(_with_keyring(url, lambda keyring: keyring.require_privacy(tenant, required)))


@tenants.command("list")
def list_tenants(data_dir: DataDir = None) -> None:
    """List every tenant with the privacy that it requires."""
    with _database(_settings(data_dir=data_dir)) as url:
        migrations.upgrade(url)
        for name, required in asyncio.run(_with_keyring(url, Keyring.tenants)):
            typer.echo(f"{name}\t{required or 'nothing required'}")


def _settings(**options: object) -> Settings:
    """The settings of the environment, overridden by the given options; exit with a message if one is invalid."""
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    try:
        settings = Settings(**given)
        required_by(settings)  # a criterion that does not exist is an error of the settings, too
        token_reader(settings)
    except ValidationError as error:
        _fail("; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()))
    except ValueError as error:
        _fail(str(error))
    return settings


@contextmanager
def _database(settings: Settings) -> Iterator[str]:
    """The URL of the database: the one that is set, or the embedded one, started for the block unless it runs."""
    url = running_url(settings.data_dir) if settings.database_url is None else None
    if url is not None:
        yield url
        return
    with _own_database(settings) as url:
        yield url


@contextmanager
def _own_database(settings: Settings) -> Iterator[str]:
    """The URL of the database that is set, or of an embedded one that runs during the block."""
    if settings.database_url is not None:
        yield settings.database_url
        return
    with EmbeddedPostgres(settings.data_dir) as server:
        yield server.url


def _refuse_taken_port(host: str, port: int) -> None:
    """Exit if the port is taken, before anything is started; the API itself would notice only after the rest."""
    try:
        socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET).close()
    except OSError as error:
        _fail(f"cannot listen on {host}, port {port}: {error.strerror or error}; choose another with --port")


async def _with_keyring(url: str, work: Callable[[Keyring], Awaitable[T]]) -> T:
    """Run `work` with the keyring in one transaction."""
    database = Database(url, pool_size=1)
    try:
        async with database.transaction() as session:
            return await work(Factory(session, queue_app(url)).keyring())
    finally:
        await database.close()


async def _create_first_key(keyring: Keyring, path: Path) -> None:
    """Create an operator's key in a file that only its owner can read, unless a key was ever created."""
    if await keyring.any_created():
        return
    key = await keyring.create(DEFAULT_TENANT, Role.OPERATOR)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        # Others may be able to read a file that existed before.
        os.fchmod(file.fileno(), 0o600)
        file.write(key + "\n")


def _key_line(key: ApiKey) -> tuple[str, ...]:
    if key.revoked_at is not None:
        state = f"revoked {key.revoked_at:%Y-%m-%d}"
    elif key.expires_at is not None:
        state = f"{'expires' if key.is_valid(datetime.now(UTC)) else 'expired'} {key.expires_at:%Y-%m-%d}"
    else:
        state = "valid"
    return key.prefix, key.tenant, key.role.value, state


def _fail(message: str) -> NoReturn:
    typer.echo(f"aegis-server: {message}", err=True)
    raise SystemExit(2)


def main() -> NoReturn:
    """Run a command. An error that the operator can correct is one line, with exit code 2."""
    try:
        cli(auto_envvar_prefix="AEGIS")
    except (EmbeddedPostgresError, OpenDoorError, RefusalError) as error:
        _fail(str(error))
    sys.exit(0)


if __name__ == "__main__":
    main()
