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
from app.platform.secret_files import text_in


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
        float | None, typer.Option(min=0, help="Change nothing, but wait so many seconds for another that migrates.")
    ] = None,
) -> None:
    """Bring the database to the newest revision. Safe to run at any time, also several times at once.

    A server that does not take connections yet is waited for, a minute at most.
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
    """Create an operator's key, unless a key was ever created: the one in a file, or one that is written into a file
    that only its owner can read.

    A file to read that is not there is a secret that was taken away, or that an issuer of tokens makes unnecessary.

    Raises:
        OperatorError: the file to read has no key.
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
        typer.echo(f"aegis-server: no first key was created: {to_read} is not there", err=True)
