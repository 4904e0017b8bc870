"""The files beside the masked table of a release: its card in Markdown, HTML and JSON, and its Data Package."""

import json
from pathlib import Path

from aegis_provider.errors import OutputError
from aegis_provider.files import digest_of, written_whole
from aegis_provider.report.model import Report
from aegis_provider.report.rendering import markdown_lines, render_page
from aegis_provider.workflow.card import CARD_ENDINGS, Card
from aegis_provider.workflow.steps import ENTRY, MASKED, Steps
from aegis_sdk.reading import PACKAGE, Packaged, entry_in_package, package_of, text_of


def remove_card(stem: Path) -> None:
    """Remove an older card, so that it never stands beside another table.

    Raises:
        OutputError: The card cannot be removed.
    """
    for ending in CARD_ENDINGS:
        file = stem.with_name(f"{stem.name}{ending}")
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(f"{file}: cannot be removed: {error.strerror}") from error


def write_provider_only(file: Path, as_json: str) -> None:
    """Write the card with exact numbers, for the provider only, to a file that only its owner can read.

    Raises:
        OutputError: The file cannot be written.
    """
    with written_whole(file, private=True) as part:
        part.write_text(f"{as_json}\n", encoding="utf-8")


def write_card(stem: Path, report: Report, as_json: str, *, private: bool = False) -> tuple[Path, ...]:
    """Write a card to `stem` with the endings `.json`, `.md` and `.html`.

    A `private` card can be read by its owner only.

    Raises:
        OutputError: A file cannot be written.
    """
    texts = {".json": as_json, ".md": "\n".join(markdown_lines(report)), ".html": render_page(report).rstrip()}
    files = {stem.with_name(f"{stem.name}{ending}"): text for ending, text in texts.items()}
    for file, text in files.items():
        with written_whole(file, private=private) as part:
            part.write_text(f"{text}\n", encoding="utf-8")
    return tuple(files)


def write_package(steps: Steps, card: Card) -> None:
    """Write the Data Package of the masked table, which has nothing that entry, card and masked table do not have.

    Raises:
        OutputError: It cannot be written.
    """
    folder, entry = steps.folder, json.loads(steps.folder.file(ENTRY).read_bytes())
    name, id_ = entry["name"], None if card.service is None else card.service.entry
    about = Packaged(
        f"{card.configuration} of {name}",
        card.configuration,
        entry_in_package(name, id_, None, f"sha256:{digest_of(folder.file(ENTRY))}"),
        license=entry.get("license", ""),
        privacy=card.reached,
        unit=entry.get("unit"),
        may_have_stars=card.suppressed_cells > 0,
    )
    masked = folder.file(MASKED)
    package = package_of(masked, MASKED, digest_of(masked), entry, about, steps.how["delimiter"])
    with written_whole(folder.file(PACKAGE)) as part:
        part.write_text(text_of(package), encoding="utf-8")
