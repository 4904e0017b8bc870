"""The verdict on an entry that is about to be published."""

from pathlib import Path
from typing import Final

from aegis_provider.disclosure import EntryError, verdict_on
from aegis_provider.identifiers import identifying_in_entry
from aegis_provider.report.disclosure_verdict import judged_line
from aegis_sdk.cli.group import LocalVerdict
from aegis_sdk.cli.terminal import InputError, say, warn
from aegis_sdk.reading import shown
from aegis_sdk.wire import EntryDocument

_SECONDS: Final = 60.0


def judge(entry: EntryDocument, path: Path, *, counts: bool = True) -> LocalVerdict:
    """Return the verdict of `aegis disclose` on the entry in this file; what takes over a minute is undecided.
    Identifying values are only warned about, since the entry's maker accepted them. Without `counts`, nothing else is
    judged.

    Raises:
        InputError: The entry contradicts its controls, or its counts contradict each other.
    """
    say(f"judging {path} ...")
    for name, how in identifying_in_entry(entry).items():
        warn(f"{path}: {shown(name)} identifies persons: it {how}, which everyone with access to the counts will see")
    if not counts:
        return LocalVerdict(passed=True, line="")
    try:
        judged = verdict_on(entry, _SECONDS)
    except EntryError as error:
        raise InputError(f"{path}: {error}") from error
    made_by = f"aegis summarize TABLE --plan PLAN --name {entry.name} --output {path}"
    return LocalVerdict(judged.verdict.passed, judged_line(entry.name, judged, made_by))
