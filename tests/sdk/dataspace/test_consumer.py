"""The consumer: the 32 scenarios of the official test kit for consumers by their ids, with a provider as a process.

The provider plays a script (`tests.scripted_provider`) and notes how its messages are answered, and the state that the
consumer then gives.
"""

import subprocess
import sys
from dataclasses import dataclass

import httpx
import pytest

from aegis_sdk.dataspace import Connector, Inbox, listening
from aegis_sdk.wire import dataspace as dsp
from tests.waiting import wait_until

SECONDS = 20.0


@pytest.fixture(scope="module")
def provider():
    with subprocess.Popen(
        [sys.executable, "-m", "tests.scripted_provider"], stdout=subprocess.PIPE, text=True
    ) as process:
        yield process.stdout.readline().strip()
        process.kill()


@dataclass
class Consumer:
    """A connector that listens, and what the provider notes of it."""

    connector: Connector
    provider: str

    def negotiate(self, script):
        offer = dsp.Policy.model_validate({"@id": "urn:offer", "@type": "Offer", "permission": [{"action": "use"}]})
        return self.plays(script, self.connector.request(offer, f"urn:script:{script}"))

    def transfer(self, script):
        return self.plays(script, self.connector.request_transfer(f"urn:script:{script}"))

    def plays(self, script, process):
        self.script, self.process = script, process
        return process

    def said(self):
        return httpx.get(f"{self.provider}/log").json()

    def noted(self):
        """The statuses of the provider's messages, and the states after them, once all are sent."""
        sent = sum(len(part.split(":")[1].split(",")) for part in self.script.split(";"))
        wait_until(lambda: len(self.noted_yet()) == sent, "the provider does not send all")
        return [(one["sent"], one["status"], one["state"]) for one in self.noted_yet()]

    def noted_yet(self):
        return [one for one in self.said()["log"] if one["about"] == self.process.consumer_pid and "state" in one]

    def reaches(self, process, *states):
        """Wait until a process is in these states, one after the other, after each of which the provider may go on."""
        for place, state in enumerate(states):
            if place:
                httpx.get(f"{self.provider}/go")
            assert self.connector.wait(process, (state,), SECONDS) == state
        return process


@pytest.fixture
def consumer(provider):
    inbox = Inbox()
    with listening(inbox, "127.0.0.1", 0) as callback, httpx.Client() as http:
        yield Consumer(Connector.at(provider, http, callback, inbox), provider)


def offered(consumer, script):
    return consumer.reaches(consumer.negotiate(script), "OFFERED")


def agreed(consumer, script="request:agreement"):
    return consumer.reaches(consumer.negotiate(script), "AGREED")


def test_cn_c_01_01(consumer):
    one = offered(consumer, "request:offers;events:agreement;verification:events")
    consumer.connector.accept(one)
    consumer.connector.verify(consumer.reaches(one, "AGREED"))
    consumer.reaches(one, "FINALIZED")
    expected = [("offers", 200, "OFFERED"), ("agreement", 200, "AGREED"), ("events", 200, "FINALIZED")]
    assert [(sent, status) for sent, status, _ in consumer.noted()] == [(sent, status) for sent, status, _ in expected]
    assert consumer.noted()[-1] == expected[-1]


def test_cn_c_01_02(consumer):
    one = offered(consumer, "request:offers;request:termination")
    consumer.connector.counter(one, one.offer, "urn:script:x:y")
    consumer.reaches(one, "TERMINATED")
    assert consumer.noted()[-1] == ("termination", 200, "TERMINATED")


def test_cn_c_01_03(consumer):
    one = offered(consumer, "request:offers")
    consumer.connector.terminate(one)
    assert consumer.reaches(one, "TERMINATED")
    assert consumer.said()["got"][-1] == "termination"


def test_cn_c_01_04(consumer):
    one = agreed(consumer, "request:agreement;verification:events")
    consumer.connector.verify(one)
    consumer.reaches(one, "FINALIZED")
    assert consumer.noted()[-1] == ("events", 200, "FINALIZED")


def test_cn_c_02_01(consumer):
    consumer.reaches(consumer.negotiate("request:termination"), "TERMINATED")
    assert consumer.noted() == [("termination", 200, "TERMINATED")]


def test_cn_c_02_02(consumer):
    one = consumer.negotiate("")
    consumer.connector.terminate(one)
    assert one.state == "TERMINATED"


def test_cn_c_02_03(consumer):
    one = agreed(consumer)
    consumer.connector.terminate(one)
    assert one.state == "TERMINATED"


def test_cn_c_02_04(consumer):
    consumer.reaches(consumer.negotiate("request:offers,+termination"), "OFFERED", "TERMINATED")
    assert consumer.noted() == [("offers", 200, "OFFERED"), ("termination", 200, "TERMINATED")]


def test_cn_c_02_05(consumer):
    one = offered(consumer, "request:offers;events:termination")
    consumer.connector.accept(one)
    consumer.reaches(one, "TERMINATED")


def test_cn_c_02_06(consumer):
    one = agreed(consumer, "request:agreement;verification:termination")
    consumer.connector.verify(one)
    consumer.reaches(one, "TERMINATED")


def test_cn_c_03_01(consumer):
    consumer.negotiate("request:events")
    assert consumer.noted() == [("events", 400, "REQUESTED")]


def test_cn_c_03_02(consumer):
    consumer.negotiate("request:offers,agreement")
    assert consumer.noted()[-1] == ("agreement", 400, "OFFERED")


def test_cn_c_03_03(consumer):
    consumer.negotiate("request:offers,events")
    assert consumer.noted()[-1] == ("events", 400, "OFFERED")


def test_cn_c_03_04(consumer):
    one = offered(consumer, "request:offers;events:events")
    consumer.connector.accept(one)
    assert consumer.noted()[-1] == ("events", 400, "ACCEPTED")


def test_cn_c_03_05(consumer):
    one = offered(consumer, "request:offers;events:offers")
    consumer.connector.accept(one)
    assert consumer.noted()[-1] == ("offers", 400, "ACCEPTED")


def test_cn_c_03_06(consumer):
    one = offered(consumer, "request:offers;events:agreement,events")
    consumer.connector.accept(one)
    assert consumer.noted()[1:] == [("agreement", 200, "AGREED"), ("events", 400, "AGREED")]


def started(consumer, script="request:start"):
    return consumer.reaches(consumer.transfer(script), "STARTED")


def test_tp_c_01_01(consumer):
    consumer.reaches(consumer.transfer("request:start,+termination"), "STARTED", "TERMINATED")
    assert consumer.noted() == [("start", 200, "STARTED"), ("termination", 200, "TERMINATED")]


def test_tp_c_01_02(consumer):
    consumer.reaches(consumer.transfer("request:start,+completion"), "STARTED", "COMPLETED")
    assert consumer.noted()[-1] == ("completion", 200, "COMPLETED")


def test_tp_c_01_03(consumer):
    one = consumer.transfer("request:start,+suspension,+termination")
    consumer.reaches(one, "STARTED", "SUSPENDED", "TERMINATED")
    assert [state for *_, state in consumer.noted()] == ["STARTED", "SUSPENDED", "TERMINATED"]


def test_tp_c_01_04(consumer):
    one = consumer.transfer("request:start,+suspension,+start,+completion")
    consumer.reaches(one, "STARTED", "SUSPENDED", "STARTED", "COMPLETED")
    assert [state for *_, state in consumer.noted()] == ["STARTED", "SUSPENDED", "STARTED", "COMPLETED"]


def test_tp_c_01_05(consumer):
    consumer.reaches(consumer.transfer("request:termination"), "TERMINATED")
    assert consumer.noted() == [("termination", 200, "TERMINATED")]


def test_tp_c_02_01(consumer):
    one = started(consumer)
    consumer.connector.terminate(one)
    assert one.state == "TERMINATED"


def test_tp_c_02_02(consumer):
    one = started(consumer)
    assert one.address.endpoint == "https://a.example"
    consumer.connector.complete(one)
    assert one.state == "COMPLETED"


def test_tp_c_02_03(consumer):
    one = started(consumer)
    consumer.connector.suspend(one)
    assert one.state == "SUSPENDED"
    consumer.connector.terminate(one)
    assert one.state == "TERMINATED"


def test_tp_c_02_04(consumer):
    one = started(consumer)
    consumer.connector.suspend(one)
    consumer.connector.resume(one)
    assert one.state == "STARTED"
    consumer.connector.complete(one)
    assert one.state == "COMPLETED"


def test_tp_c_02_05(consumer):
    one = consumer.transfer("")
    consumer.connector.terminate(one)
    assert one.state == "TERMINATED"


def test_tp_c_03_01(consumer):
    consumer.transfer("request:completion")
    assert consumer.noted() == [("completion", 400, "REQUESTED")]


def test_tp_c_03_02(consumer):
    consumer.transfer("request:suspension")
    assert consumer.noted() == [("suspension", 400, "REQUESTED")]


def test_tp_c_03_03(consumer):
    consumer.transfer("request:start,suspension,completion")
    assert consumer.noted()[-1] == ("completion", 400, "SUSPENDED")


def refused_after_termination(consumer, sent):
    consumer.transfer(f"request:start,termination,{sent}")
    assert consumer.noted()[-1] == (sent, 400, "TERMINATED")


def test_tp_c_03_04(consumer):
    refused_after_termination(consumer, "start")


def test_tp_c_03_05(consumer):
    refused_after_termination(consumer, "suspension")


def test_tp_c_03_06(consumer):
    refused_after_termination(consumer, "completion")


def test_constraints_may_be_any_json():
    said = [5, None, "k", {"leftOperand": "urn:aegis:k"}, ["k", {"leftOperand": "urn:aegis:t"}, 3], []]
    permission = [{"action": "use"}, *({"action": "use", "constraint": one} for one in said)]
    offer = dsp.Policy.model_validate({"@id": "urn:x", "@type": "Offer", "permission": permission})
    assert list(offer.constraints) == [{"leftOperand": "urn:aegis:t"}]
    refused = dsp.Policy.model_validate({"@id": "urn:x", "@type": "Offer", "prohibition": permission})
    assert list(refused.constraints) == []
