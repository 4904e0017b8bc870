"""What can become of a request for data: the table of docs/api.md, and nothing else."""

from dataclasses import replace
from datetime import UTC, datetime
from itertools import product

import pytest

from app.advice.model import AdviceQuestion
from app.platform.callers import Caller, Role
from app.platform.errors import ActionNotPossibleError, RefusalError, RoleNotAllowedError
from app.requests.model.data_requests import OPEN, Action, DataRequest, Side, State
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
        configuration=None,
        state=State(state),
        created_at=now,
        changed_at=now,
    )


def outcome(request, action, sides):
    try:
        return request.after(action, sides).value
    except RefusalError as error:
        return type(error)


EVER = {(side, action) for _, side, action in EXPECTED}
STEPS = list(product(State, Action))


def expected(state, action, sides):
    """Where the table says that a step of one of these sides leads, or why it is refused."""
    then = [EXPECTED[step] for side in sides if (step := (state.value, side, action.value)) in EXPECTED]
    if then:
        return then[0]
    return ActionNotPossibleError if any((side, action.value) in EVER for side in sides) else RoleNotAllowedError


@pytest.mark.parametrize("side", CALLERS)
def test_every_step_leads_where_the_table_says_or_is_refused(side):
    results, possible = {}, {}
    for state, action in STEPS:
        request = request_in(state)
        sides = request.sides_of(CALLERS[side])
        results[state, action] = outcome(request, action, sides)
        possible[state, action] = action in request.possible_for(sides)
    assert results == {step: expected(*step, MAY[side]) for step in STEPS}
    assert possible == {step: isinstance(result, str) for step, result in results.items()}


def test_the_service_takes_its_own_steps_only():
    results = {step: outcome(request_in(step[0]), step[1], frozenset({Side.SERVICE})) for step in STEPS}
    taken = {step: result for step, result in results.items() if isinstance(result, str)}
    assert taken == {step: result for step in STEPS if isinstance(result := expected(*step, ["service"]), str)}


def test_what_has_ended_stays_as_it_is():
    for state in set(State) - set(OPEN):
        assert request_in(state).possible_for(frozenset(Side)) == ()


def test_a_refused_step_says_what_is_possible():
    with pytest.raises(ActionNotPossibleError, match=r"is declined, so approve is not possible\. You cannot change it"):
        request_in("declined").after(Action.APPROVE, frozenset({Side.PROVIDER}))
    with pytest.raises(ActionNotPossibleError, match=r"so accept is not possible\. You may: withdraw\.") as refused:
        request_in("advised").after(Action.ACCEPT, frozenset({Side.CONSUMER}))
    assert refused.value.possible == ("withdraw",)


def test_who_sees_a_request_and_on_whose_side():
    request, both = request_in("advised"), {"provider", "consumer", "operator"}
    table = {
        ("hospital", Role.PROVIDER): ({"provider"}, True, "sha256:1"),
        ("hospital", Role.REVIEWER): (set(), True, "sha256:1"),
        ("hospital", Role.CONSUMER): (set(), True, "hmac-sha256:2"),
        ("insurer", Role.PROVIDER): ({"consumer"}, True, "hmac-sha256:2"),
        ("stranger", Role.PROVIDER): (set(), False, "hmac-sha256:2"),
        ("stranger", Role.OPERATOR): (both, True, "sha256:1"),
    }
    callers = {(tenant, role): Caller(tenant, frozenset({role})) for tenant, role in table}
    assert {
        who: (request.sides_of(caller), request.is_visible_to(caller), request.seen_by(caller).digest)
        for who, caller in callers.items()
    } == table


def test_who_sees_a_request_in_the_full_view():
    callers = [("hospital", Role.PROVIDER), ("hospital", Role.CONSUMER), ("insurer", Role.PROVIDER)]
    callers += [("stranger", Role.OPERATOR), ("stranger", Role.PROVIDER)]
    seen = {
        shared: [
            request.is_visible_to(caller) and request.shows_full_view_to(caller)
            for caller in (Caller(tenant, frozenset({role})) for tenant, role in callers)
        ]
        for shared in (True, False)
        for request in [replace(request_in("advised"), is_coarse=False, is_shared=shared)]
    }
    assert seen == {True: [True, True, True, True, False], False: [True, False, False, True, False]}
