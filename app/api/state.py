"""What a process of the API holds as long as it runs."""

from dataclasses import dataclass

from procrastinate import App

from app.api.bodies import EntryReader
from app.catalog.announcements import Announcements
from app.catalog.session import Database


@dataclass(frozen=True, slots=True)
class State:
    """Made when the process starts, found at `request.app.state.aegis`."""

    database: Database
    queue: App
    announcements: Announcements
    reader: EntryReader
    max_body_bytes: int
    development_mode: bool
