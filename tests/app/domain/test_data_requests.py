"""What can become of a request for data: the table of docs/api.md, and nothing else."""

from datetime import UTC, datetime

import pytest

from app.domain.advice import AdviceQuestion
from app.domain.callers import Caller, Role
from app.domain.data_requests import OPEN, Action, DataRequest, Side, State
from app.domain.errors import ActionNotPossibleError, RefusalError, RoleNotAllowedError
from tests.requests_table import ROWS

EXPECTED = {
    (state, side, action): then
    for states, side, actions in ROWS
    for state in states
    for action, then in actions.items()
}
CALLERS = {
    Side.PROVIDER: Caller("hospital", frozenset({Role.PROVIDER}), "aegis_1"),
    Side.CONSUMER: Caller("insurer", frozenset({Role.CONSUMER}), "aegis_2"),
    Side.OPERATOR: Caller("elsewhere", frozenset({Role.OPERATOR}), "aegis_3"),
}
MAY = {  # an operator may do what both sides may
    Side.PROVIDER: ["provider"],
    Side.CONSUMER: ["consumer"],
    Side.OPERATOR: ["provider", "consumer", "operator"],
}


def request_in(state):
    now = datetime(2026, 3, 1, tzinfo=UTC)
    return DataRequest(
        id="5c1e97f3-7d60-4a51-8a51-3f0f9a6a2b11",
        entry_id="0197f3a2-5c1e-4d60-8a51-3f0f9a6a2b11",
        entry_name="health",
        version=1,
        version_id=1,
        digest="sha256:1",
        keyed_digest="hmac-sha256:2",
        provider="hospital",
        consumer="insurer",
        question=AdviceQuestion("joint"),
        question_id=None,
        advice_id=None,
        is_coarse=True,
        purpose="a study",
        contact="data@insurer.example",
        terms="sha256:3",
        state=State(state),
        created_at=now,
        changed_at=now,
    )


def outcome(request, action, sides):
    try:
        return request.after(action, sides).value
    except RefusalError as error:
        return type(error)


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("action", Action)
@pytest.mark.parametrize("side", CALLERS)
def test_every_step_leads_where_the_table_says_or_is_refused(state, action, side):
    request = request_in(state)
    expected = [EXPECTED.get((state.value, name, action.value)) for name in MAY[side]]
    then = next((one for one in expected if one), None)
    ever = any((one, action.value) in {(name, act) for _, name, act in EXPECTED} for one in MAY[side])
    refusal = ActionNotPossibleError if ever else RoleNotAllowedError
    assert outcome(request, action, request.sides_of(CALLERS[side])) == (then or refusal)
    assert (action in request.possible_for(request.sides_of(CALLERS[side]))) == (then is not None)


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize("action", Action)
def test_the_service_takes_its_own_steps_only(state, action):
    then = EXPECTED.get((state.value, "service", action.value))
    result = outcome(request_in(state), action, frozenset({Side.SERVICE}))
    assert (result if isinstance(result, str) else None) == then


def test_what_has_ended_stays_as_it_is():
    for state in set(State) - set(OPEN):
        assert request_in(state).possible_for(frozenset(Side)) == ()


def test_a_refused_step_says_what_is_possible():
    with pytest.raises(ActionNotPossibleError, match=r"is declined, so approve is not possible\. You cannot change it"):
        request_in("declined").after(Action.APPROVE, frozenset({Side.PROVIDER}))
    with pytest.raises(ActionNotPossibleError, match=r"so accept is not possible\. You may: withdraw\.") as refused:
        request_in("advised").after(Action.ACCEPT, frozenset({Side.CONSUMER}))
    assert refused.value.possible == ("withdraw",)


@pytest.mark.parametrize(
    ("caller", "sides", "sees", "digest"),
    [
        (Caller("hospital", frozenset({Role.PROVIDER})), {"provider"}, True, "sha256:1"),
        (Caller("hospital", frozenset({Role.REVIEWER})), set(), True, "sha256:1"),
        (Caller("hospital", frozenset({Role.CONSUMER})), set(), True, "hmac-sha256:2"),
        (Caller("insurer", frozenset({Role.PROVIDER})), {"consumer"}, True, "hmac-sha256:2"),
        (Caller("stranger", frozenset({Role.PROVIDER})), set(), False, "hmac-sha256:2"),
        (Caller("stranger", frozenset({Role.OPERATOR})), {"provider", "consumer", "operator"}, True, "sha256:1"),
    ],
)
def test_who_sees_a_request_and_on_whose_side(caller, sides, sees, digest):
    request = request_in("advised")
    assert request.sides_of(caller) == sides
    assert request.is_visible_to(caller) == sees
    assert request.seen_by(caller).digest == digest
