"""Bring the database to the newest revision."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from app.catalog import migrations
from app.cli.environment import DataDir, database_of, made_audit_key_file, settings_of, with_services
from app.cli.private_files import write_privately
from app.domain.callers import DEFAULT_TENANT, Role
from app.services.keyring import Keyring


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
        made_audit_key_file(settings)
        if draft is not None:
            migrations.draft(urls.owner, draft)
        if first_key_file is not None:
            asyncio.run(
                with_services(urls.service, lambda services: _create_first_key(services.keyring(), first_key_file))
            )


async def _create_first_key(keyring: Keyring, path: Path) -> None:
    """Create an operator's key in a file that only its owner can read, unless a key was ever created."""
    if await keyring.any_created():
        return
    key, _ = await keyring.create(DEFAULT_TENANT, Role.OPERATOR)
    write_privately(path, key + "\n")
