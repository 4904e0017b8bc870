"""What several require of privacy together, and questions under a policy."""

import hashlib
import json
from dataclasses import asdict

import msgspec

from app.advice.model import AdviceQuestion
from app.platform.errors import InvalidDocumentError
from app.settings import Settings
from app.tenants.model import NOTHING_REQUIRED, RequiredPrivacy
from app.tenants.required_privacy import privacy_in, required_by
from tests.tables import raised


def test_the_stricter_limit_of_two_applies():
    one, other = RequiredPrivacy({"k": 5, "l": 2}, {"t": 0.3}), RequiredPrivacy({"k": 3}, {"t": 0.1, "alpha": 0.5})
    both = RequiredPrivacy({"k": 5, "l": 2}, {"alpha": 0.5, "t": 0.1})
    assert one.stricter_of(other) == other.stricter_of(one) == both
    assert one.stricter_of(NOTHING_REQUIRED) == one


def test_it_can_be_stored():
    required = RequiredPrivacy({"k": 5}, {"t": 0.3})
    assert RequiredPrivacy.from_json(json.loads(json.dumps(asdict(required)))) == required
    assert RequiredPrivacy.from_json({}) == RequiredPrivacy.from_json(None) == NOTHING_REQUIRED


def test_the_text_of_a_setting_says_which_side_a_limit_is_on():
    required = privacy_in(" k=5, t=0.2 ,epsilon=1")
    assert required == RequiredPrivacy({"k": 5}, {"t": 0.2, "epsilon": 1})
    assert privacy_in(str(required)) == required
    assert not privacy_in("")


def test_a_text_that_says_something_else_is_refused():
    texts = ["k", "k=", "k=-1", "k=five", "k=1e400", "k=nan", "k=5,k=6", "K=5", "delta=1", "=5"]
    assert [text for text in texts if raised(InvalidDocumentError, privacy_in, text) is None] == []


def test_settings_require_what_they_name():
    assert required_by(Settings(require_privacy="k=3,l=4,t=0.2")) == RequiredPrivacy({"k": 3, "l": 4}, {"t": 0.2})
    assert not required_by(Settings())


def test_a_question_without_a_policy_is_the_one_that_it_was_before_there_were_any():
    question = AdviceQuestion("g3", at_least={"k": 5.0}, at_most={})
    stored = asdict(question)
    for later in ("policy", "kinds", "unit", "label", "target", "frontier"):
        del stored[later]
    assert question.digest() == hashlib.sha256(json.dumps(stored, sort_keys=True).encode()).digest()
    assert msgspec.convert(stored, AdviceQuestion) == question


def test_a_policy_makes_it_another_question():
    policies = [NOTHING_REQUIRED, RequiredPrivacy({"k": 5}), RequiredPrivacy({}, {"t": 1})]
    assert len({AdviceQuestion("g3", policy=policy).digest() for policy in policies}) == 3
    under = AdviceQuestion("g3", policy=RequiredPrivacy({"k": 5.0}, {"t": 0.5}))
    assert msgspec.convert(json.loads(json.dumps(asdict(under))), AdviceQuestion) == under
