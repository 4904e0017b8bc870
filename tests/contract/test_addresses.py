"""Which addresses are public stands twice, since the SDK and the service import nothing of each other."""

from hypothesis import example, given
from hypothesis import strategies as st

from aegis_sdk import _addresses
from app.webhooks.model import addresses
from tests.app.worker.test_sending import PRIVATE

# Near the borders of networks, where a difference would be; and anywhere.
SPECIAL = [*addresses._SPECIAL]
NEAR = st.sampled_from(SPECIAL).flatmap(
    lambda network: st.sampled_from([network[0], network[-1]]).flatmap(
        lambda edge: st.sampled_from([edge, edge + 1 if int(edge) + 1 < 2**edge.max_prefixlen else edge])
    )
)


def test_both_refuse_what_is_private():
    assert [one for one in PRIVATE if addresses.is_public(one) or _addresses.is_public(one)] == []


@given(st.one_of(st.ip_addresses(), NEAR).map(str))
@example("8.8.8.8")
@example("64:ff9b::8.8.8.8")
def test_the_sdk_and_the_service_judge_alike(text):
    assert _addresses.is_public(text) == addresses.is_public(text)


def test_some_are_public():
    assert addresses.is_public("8.8.8.8")
    assert _addresses.is_public("8.8.8.8")
