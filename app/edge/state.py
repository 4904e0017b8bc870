"""The state of the process, which every route may use."""

from asyncio import Event
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from fastapi import Depends, Request
from procrastinate import App
from sqlalchemy.ext.asyncio import AsyncSession

from app.advice.service.recent_versions import RecentVersions
from app.advice.store.announcements import Announcements
from app.audit.service import Signer
from app.callers.identity import CodeFlow, TokenReader
from app.callers.service import SessionRules
from app.edge.limits import Limits
from app.entries.service.admission import Admission
from app.entries.service.policy import Policy
from app.factory import Factory
from app.platform.database.probe import Probe
from app.platform.database.session import Database
from app.platform.process.child import ChildProcess
from app.platform.queue.lane import Lane
from app.platform.recent import MOST_OF_ANSWERS, Recent
from app.platform.telemetry import ApiMetrics


@dataclass(frozen=True, slots=True)
class State:
    """The state of the process: made when it starts, and kept at `request.app.state.aegis`.

    Attributes:
        database: the catalogue's.
        probe: looks whether it answers.
        queue: the queue of jobs.
        announcements: tell which advice has been answered.
        checking: the child processes that check entries.
        making: the child process that makes large answers.
        recent: what is known of the versions that were asked about lately.
        max_body_bytes: how large an entry may be.
        limits: what callers may use.
        question_budget: how many questions a tenant with the coarse view may ask about a version.
        tenant_jobs: how many jobs of a tenant may run at the same time.
        policy: what disclosure control entries must have.
        admission: what is asked of new versions besides.
        development_mode: whether everybody may do everything.
        webhooks_allow_private: whether webhooks may lead into private networks.
        links_allow_private: whether links to delivered tables may.
        metrics: what the process counts.
        session_rules: how long people stay signed in to the console.
        console_origin: where browsers find the console; None if that is where they ask for it.
        tokens: reads tokens of the trusted issuer; None if there is none.
        code_flow: signs people in at that issuer; None if it does not know this service.
        signer: signs receipts; None if there is no key.
        read: what the console has made of the versions that were read lately.
        answers: what it has made of answers.
        ending: set once the process is asked to end.
    """

    database: Database
    probe: Probe
    queue: App
    announcements: Announcements
    checking: Mapping[Lane, ChildProcess]
    making: ChildProcess
    recent: RecentVersions
    max_body_bytes: int
    limits: Limits
    question_budget: int
    tenant_jobs: int
    policy: Policy
    admission: Admission
    development_mode: bool
    webhooks_allow_private: bool
    links_allow_private: bool
    metrics: ApiMetrics
    session_rules: SessionRules
    console_origin: str | None = None
    tokens: TokenReader | None = None
    code_flow: CodeFlow | None = None
    signer: Signer | None = None
    read: Recent[Any] = field(default_factory=Recent)
    answers: Recent[Any] = field(default_factory=lambda: Recent(MOST_OF_ANSWERS))
    ending: Event = field(default_factory=Event)


def get_state(request: Request) -> State:
    """The state of the process."""
    state: State = request.app.state.aegis
    return state


StateDependency = Annotated[State, Depends(get_state)]


def services_of(state: State, session: AsyncSession) -> Factory:
    """The services of a transaction, by the settings of the process."""
    return Factory(session, state.queue, state.tenant_jobs, state.limits.quota)
