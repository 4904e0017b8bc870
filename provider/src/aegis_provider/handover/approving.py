"""What the ledger says of a request before it is approved, by the release that made its offer on this machine."""

from pathlib import Path
from typing import Final

from aegis_provider.handover.fulfilling import Task, ask_ledger
from aegis_provider.ledger import CompositionError, LedgerError, ledgers
from aegis_provider.plan.reading import load_plan
from aegis_provider.workflow.folder import Folder, released_as
from aegis_provider.workflow.steps import FOUND
from aegis_sdk import AegisError, Client

_LATER: Final = "the ledger is asked when the table is masked"


def ask_before(service: Client, request_id: str, offered: str | None, *, accept: bool) -> list[str]:
    """Return what the table of a request will tell with what left before, in sentences.

    Args:
        offered: The configuration to offer; `None` to approve the requested one.
        accept: Whether to go on although the promise is broken.

    Returns:
        Nothing for a request that cannot be approved now. If no release of its table is in the ledger, or that table or
        plan cannot be used any more, a sentence says that the ledger is asked later.

    Raises:
        CompositionError: The promise is broken together with what left before, and that is not accepted.
        LedgerError: The ledger cannot be used.
    """
    request = service.requests.get(request_id)
    if request.state != "advised":
        return []
    folder = _folder_of(request.entry.name)
    if folder is None:
        return [f"no release of {request.entry.name} left from this machine; {_LATER}"]
    try:
        return _asked(service, request_id, folder, offered, accept=accept)
    except LedgerError:
        raise
    except CompositionError as error:
        if error.offered is not None:
            error.add_note(f"To offer that one: aegis requests counter {request_id} {error.offered}")
        raise
    except AegisError as error:
        return [f"not measured with what left before: {error}; {_LATER}"]


def _folder_of(name: str) -> Folder | None:
    """Return the folder of the latest release of a table that is in its ledger and still there."""
    events = [event for ledger in ledgers()[0] if ledger.name == name for event in ledger.events if event.place]
    latest = sorted(events, key=lambda event: -event.number)
    places = [Path(event.place) for event in latest]
    place = next((each for each in places if (each / FOUND).exists() and released_as(each / FOUND) == name), None)
    return None if place is None else Folder.open(place, keep=())


def _asked(service: Client, request_id: str, folder: Folder, offered: str | None, *, accept: bool) -> list[str]:
    how = {} if folder.asked is None else folder.asked["how"]
    plan = load_plan(folder.file(FOUND))
    task = Task(service, request_id, folder.table or "", plan, accept_composition=accept, **how)
    return list(ask_ledger(task, offered)) or ["together with what left before, it keeps its promise"]
