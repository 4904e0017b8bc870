"""The settings, the database and the services for commands."""

import asyncio
import os
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from pydantic import ValidationError

from app.audit.service import draw_key_text, signer_of
from app.callers.identity.code_flow import code_flow, token_reader
from app.cli.commands import fail
from app.factory import Factory
from app.platform.database import migrations
from app.platform.database.session import Database
from app.platform.process.embedded.cluster import home_of, server_account
from app.platform.process.embedded.server import EmbeddedPostgres, Postmaster, running_urls
from app.platform.queue.queue import queue_app
from app.platform.telemetry import refuse_missing_exporter
from app.settings import DatabaseUrls, Settings
from app.tenants.model import Quota
from app.tenants.required_privacy import required_by

T = TypeVar("T")

#: The file of the audit key beside an embedded database.
AUDIT_KEY = "audit-key.pem"

DataDir = Annotated[
    Path | None,
    typer.Option(envvar="AEGIS_DATA_DIR", help="Directory of the embedded PostgreSQL's files."),
]


def settings_of(**options: object) -> Settings:
    """The settings of the environment, overridden by the given options; exit with a message if one is invalid."""
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    try:
        settings = Settings(**given)
        required_by(settings)  # an unknown criterion is also an error of the settings
        Quota.from_numbers(settings.quota)
        code_flow(settings, token_reader(settings))
        signer_of(settings.audit_key)
        if settings.database_url is None and settings.owner_database_url is not None:
            fail("AEGIS_OWNER_DATABASE_URL is the database's URL for its owner: set AEGIS_DATABASE_URL, too")
        refuse_missing_exporter(settings.traces_endpoint)
    except ValidationError as error:
        fail("; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()))
    except ValueError as error:
        fail(str(error))
    return settings


@contextmanager
def database_of(settings: Settings) -> Iterator[DatabaseUrls]:
    """The URLs of the configured database, or of the embedded one, started for the block unless it runs."""
    urls = running_urls(settings.data_dir) if settings.urls is None else None
    if urls is not None:
        yield urls
        return
    with own_database(settings) as (urls, _):
        yield urls


@contextmanager
def own_database(settings: Settings) -> Iterator[tuple[DatabaseUrls, Postmaster | None]]:
    """The URLs of the configured database, or of an embedded one that runs during the block, and its process."""
    if settings.urls is not None:
        yield settings.urls, None
        return
    with EmbeddedPostgres(settings.data_dir) as server:
        yield server.urls, server.postmaster


def audit_key_file_of(settings: Settings) -> Path | None:
    """The file of the signing key: the configured one, or the one beside an embedded database; None without one."""
    if settings.audit_key is not None:
        return None
    if settings.audit_key_file is None and settings.database_url is None:
        return home_of(settings.data_dir, server_account()) / AUDIT_KEY
    return settings.audit_key_file


def made_audit_key_file(settings: Settings) -> Path | None:
    """The file of the signing key, created if missing; exit with a message if that fails."""
    path = audit_key_file_of(settings)
    try:
        if path is not None and not path.exists():
            create_privately(path, draw_key_text())
    except OSError as error:
        fail(f"the audit key cannot be written to {path}: {error.strerror}")
    return path


def refuse_bad_audit_key(settings: Settings) -> None:
    """Exit with a message if the signing key cannot be used."""
    try:
        signer_of(settings.audit_key, settings.audit_key_file)
    except ValueError as error:
        fail(str(error))


def on_services(data_dir: Path | None, work: Callable[[Factory], Awaitable[T]]) -> T:
    """Run `work` with the services of the configured database, after migrating it."""
    with database_of(settings_of(data_dir=data_dir)) as urls:
        migrations.upgrade(urls)
        return asyncio.run(with_services(urls.service, work))


async def with_services(url: str, work: Callable[[Factory], Awaitable[T]]) -> T:
    """Run `work` with the services of one transaction."""
    database = Database(url, pool_size=1)
    try:
        async with database.transaction() as session:
            return await work(Factory(session, queue_app(url)))
    finally:
        await database.close()


def write_privately(path: Path, text: str) -> None:
    """Write a file, over the one that exists."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        # Others may be able to read an existing file.
        os.fchmod(file.fileno(), 0o600)
        file.write(text)


def create_privately(path: Path, text: str) -> None:
    """Create a file unless it exists. Of several concurrent processes, one wins; the others change nothing.

    It appears complete, and survives a crash of the machine.
    """
    handle, part = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # for its owner only
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(part, path)
    finally:
        Path(part).unlink()
    handle = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(handle)  # the names in the directory
    finally:
        os.close(handle)
