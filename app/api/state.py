"""What a process of the API holds as long as it runs."""

from dataclasses import dataclass

from procrastinate import App

from app.catalog.announcements import Announcements
from app.catalog.session import Database
from app.process.child import ChildProcess
from app.services.policy import Policy


@dataclass(frozen=True, slots=True)
class State:
    """Made when the process starts, found at `request.app.state.aegis`."""

    database: Database
    queue: App
    announcements: Announcements
    child: ChildProcess
    max_body_bytes: int
    policy: Policy
    development_mode: bool
