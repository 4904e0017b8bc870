"""What all commands need: the settings, the database, and errors that an operator can correct."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

import typer
from pydantic import ValidationError

from app.api.required_privacy import required_by
from app.catalog import migrations
from app.catalog.queue import queue_app
from app.catalog.session import Database
from app.domain.quotas import Quota
from app.factory import Factory
from app.identity import token_reader
from app.process.embedded import EmbeddedPostgres, running_url
from app.settings import Settings
from app.telemetry import refuse_missing_exporter

T = TypeVar("T")

DataDir = Annotated[
    Path | None,
    typer.Option(envvar="AEGIS_DATA_DIR", help="Directory of the embedded PostgreSQL's files."),
]


def settings_of(**options: object) -> Settings:
    """The settings of the environment, overridden by the given options; exit with a message if one is invalid."""
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    try:
        settings = Settings(**given)
        required_by(settings)  # a criterion that does not exist is an error of the settings, too
        Quota.from_numbers(settings.quota)
        token_reader(settings)
        refuse_missing_exporter(settings.traces_endpoint)
    except ValidationError as error:
        fail("; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()))
    except ValueError as error:
        fail(str(error))
    return settings


@contextmanager
def database_of(settings: Settings) -> Iterator[str]:
    """The URL of the database: the one that is set, or the embedded one, started for the block unless it runs."""
    url = running_url(settings.data_dir) if settings.database_url is None else None
    if url is not None:
        yield url
        return
    with own_database(settings) as url:
        yield url


@contextmanager
def own_database(settings: Settings) -> Iterator[str]:
    """The URL of the database that is set, or of an embedded one that runs during the block."""
    if settings.database_url is not None:
        yield settings.database_url
        return
    with EmbeddedPostgres(settings.data_dir) as server:
        yield server.url


def on_services(data_dir: Path | None, work: Callable[[Factory], Awaitable[T]]) -> T:
    """Run `work` with the services of the settings' database, which is brought to the newest revision first."""
    with database_of(settings_of(data_dir=data_dir)) as url:
        migrations.upgrade(url)
        return asyncio.run(with_services(url, work))


async def with_services(url: str, work: Callable[[Factory], Awaitable[T]]) -> T:
    """Run `work` with the services of one transaction."""
    database = Database(url, pool_size=1)
    try:
        async with database.transaction() as session:
            return await work(Factory(session, queue_app(url)))
    finally:
        await database.close()


def fail(message: str) -> NoReturn:
    """Exit with a message and code 2."""
    typer.echo(f"aegis-server: {message}", err=True)
    raise SystemExit(2)
