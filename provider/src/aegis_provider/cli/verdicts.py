"""The verdict on an entry that is about to be published."""

from pathlib import Path
from typing import Final

from aegis_provider.disclosure import EntryError, verdict_on
from aegis_provider.errors import IdentifierError
from aegis_provider.identifiers import Replayed, refuse_written, texts_of_entry
from aegis_provider.report.disclosure_verdict import judged_line
from aegis_sdk.cli.failures import InputError
from aegis_sdk.cli.terminal import say, warn
from aegis_sdk.cli.verdicts import LocalVerdict
from aegis_sdk.wire import EntryDocument

_SECONDS: Final = 60.0


def judge(entry: EntryDocument, path: Path) -> LocalVerdict:
    """Return the verdict of `aegis disclose` on the entry in this file; after a minute, what is left is undecided.

    Values that identify persons are a warning: whoever made the entry had to accept them.

    Raises:
        InputError: The entry is not what its controls say, or its counts contradict each other.
    """
    say(f"judging {path} ...")
    try:
        judged = verdict_on(entry, _SECONDS)
    except EntryError as error:
        raise InputError(f"{path}: {error}") from error
    try:
        refuse_written(texts_of_entry(entry).items(), Replayed({}), "the entry")
    except IdentifierError as error:
        warn(str(error).partition(". ")[0])
    made_by = f"aegis summarize TABLE --plan PLAN --name {entry.name} --output {path}"
    return LocalVerdict(judged.verdict.passed, judged_line(entry.name, judged, made_by))
