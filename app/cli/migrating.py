"""Bring the database to the newest revision."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from app.callers.service import Keyring
from app.cli.environment import DataDir, database_of, made_audit_key_file, settings_of, with_services, write_privately
from app.platform import log
from app.platform.database import migrations
from app.platform.errors import OperatorError
from app.settings import text_in


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
        float | None, typer.Option(min=0, help="Change nothing; wait at most so many seconds for another migration.")
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

    Raises:
        OperatorError: `to_read` does not contain a key.
    """
    if not await keyring.needs_first():
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
