"""Callers with a token of a real issuer, beside callers with a key."""

import base64
import hmac
import json
import time

import jwt
import pytest
from cryptography.hazmat.primitives import serialization

from app.callers.identity import tokens as of_issuer
from app.callers.identity.tokens import APART, FORGOTTEN, FRESH, IssuerKeys
from app.cli.environment import settings_of
from app.platform.errors import IssuerUnavailableError, UnknownKeyError
from tests.issuer import running_issuer
from tests.service import create_key, publish, running_app


@pytest.fixture(scope="module")
def shared_issuer():
    with running_issuer() as issuer:
        yield issuer


@pytest.fixture
def issuer(shared_issuer):
    """An issuer with one key."""
    shared_issuer.rotate("first")
    shared_issuer.is_down, shared_issuer.fetched = False, 0
    return shared_issuer


def trusting(database_url, issuer, **settings):
    return running_app(database_url, oidc_issuer=issuer.url, **settings)


def bearing(token):
    return {"Authorization": f"Bearer {token}"}


async def test_a_token_gives_its_holder_a_tenant_and_a_role(database_url, issuer):
    async with trusting(database_url, issuer) as api:
        head = await publish(api, **bearing(issuer.token()))
        consumer = bearing(issuer.token(scope="aegis:consume"))
        read = await api.get(f"/v1/entries/{head['id']}", headers=consumer)
        refused = await api.post("/v1/entries", json={}, headers=consumer)
        other = await api.get(f"/v1/entries/{head['id']}", headers=bearing(issuer.token(tenant="other")))
        operator = await api.get(
            f"/v1/entries/{head['id']}", headers=bearing(issuer.token(tenant="o", scope="aegis:operate"))
        )
    assert head["tenant"] == "acme"
    assert [each.status_code for each in (read, refused, other, operator)] == [200, 403, 404, 200]


async def test_several_scopes_allow_what_each_of_them_allows(database_url, issuer):
    async with trusting(database_url, issuer) as api:
        both = bearing(issuer.token(sub="bob", scope="aegis:administer aegis:review"))
        await api.put("/v1/policy", json={"sign_off": True}, headers=both)
        head = await publish(api, **bearing(issuer.token(scope="aegis:provide aegis:review")))
        entry = f"/v1/entries/{head['id']}"
        read = {"If-Match": (await api.get(entry, headers=both)).headers["ETag"]}
        own = await api.put(f"{entry}/sign-off", headers=bearing(issuer.token(scope="aegis:review")) | read)
        signed = await api.put(f"{entry}/sign-off", headers=both | read)
        published = await api.post("/v1/entries", json={}, headers=both)
    assert [each.status_code for each in (own, signed, published)] == [403, 200, 403]
    assert (signed.json()["published_by"], signed.json()["signed_off_by"]) == ("ann", "bob")


async def test_of_several_scopes_the_known_ones_count(database_url, issuer):
    async with trusting(database_url, issuer) as api:
        await publish(api, **bearing(issuer.token(scope=["email", "aegis:consume", "aegis:provide"])))
        none = await api.get("/v1/entries", headers=bearing(issuer.token(scope="openid profile provider")))
        wrong = await api.get("/v1/entries", headers=bearing(issuer.token(scope={"aegis:operate": True})))
        no_tenant = await api.get("/v1/entries", headers=bearing(issuer.token(tenant=None)))
        long_tenant = await api.get("/v1/entries", headers=bearing(issuer.token(tenant="x" * 256)))
        nobody = await api.get("/v1/entries", headers=bearing(issuer.token(sub="x" * 256)))
    for answer, told in (
        (
            none,
            "must have one of aegis:consume, aegis:provide, aegis:review, aegis:administer, aegis:operate",
        ),
        (wrong, "gives no role"),
        (no_tenant, "names no tenant: its claim 'tenant'"),
        (long_tenant, "names no tenant"),
        (nobody, "names nobody: its claim 'sub'"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
        assert told in answer.json()["detail"]


async def test_settings_say_where_tenant_and_roles_are(database_url, issuer):
    settings = {
        "oidc_audience": "exchange",
        "oidc_tenant_claim": "https://exchange.example/organisation",
        "oidc_roles_claim": "realm_access.roles",
        "oidc_roles": "data-owner=provider, reader=consumer",
    }
    token = issuer.token(
        aud=["other", "exchange"],
        tenant=None,
        scope=None,
        realm_access={"roles": ["data-owner"]},
        **{"https://exchange.example/organisation": "acme"},
    )
    async with trusting(database_url, issuer, **settings) as api:
        head = await publish(api, **bearing(token))
        assert head["tenant"] == "acme"
        assert (await api.get("/v1/entries", headers=bearing(issuer.token()))).status_code == 401


async def test_keys_work_as_before(database_url, issuer):
    key = await create_key(database_url, "acme", "provider")
    async with trusting(database_url, issuer) as api:
        head = await publish(api, **key)
        same = await api.get(f"/v1/entries/{head['id']}", headers=bearing(issuer.token()))
        unknown = await api.get("/v1/entries", headers=bearing("aegis_00000000_x"))
    assert same.json()["tenant"] == "acme"
    assert (unknown.status_code, issuer.fetched) == (401, 1)
    assert unknown.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'


async def test_whoever_trusts_an_issuer_is_not_in_development_mode(database_url, issuer):
    async with trusting(database_url, issuer, host="0.0.0.0") as api:
        refused = await api.get("/v1/entries")
    assert (refused.status_code, refused.headers["WWW-Authenticate"]) == (401, "Bearer")


def unsigned(issuer):
    return jwt.encode(
        {"iss": issuer.url, "aud": "aegis", "exp": time.time() + 60}, None, "none", headers={"kid": "first"}
    )


def signed_with_the_public_key(issuer):
    """The classic confusion: an HMAC whose secret is the published key, which PyJWT itself would not make."""
    public = (
        issuer.keys["first"]
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    header, payload = {"alg": "HS256", "kid": "first"}, json.loads(decoded(issuer.token().split(".")[1]))
    content = ".".join(encoded(json.dumps(each).encode()) for each in (header, payload))
    return f"{content}.{encoded(hmac.digest(public, content.encode(), 'sha256'))}"


def encoded(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def changed(issuer):
    """A token whose claims were changed after it was signed."""
    header, payload, signature = issuer.token().split(".")
    claims = json.loads(decoded(payload)) | {"scope": "aegis:operate"}
    return ".".join([header, encoded(json.dumps(claims).encode()), signature])


ODD_KEY = b'{"alg": "RS256", "kid": [1]}'
WRONG = {
    "expired": (lambda issuer: issuer.token(exp=time.time() - 120), "has expired"),
    "future": (lambda issuer: issuer.token(nbf=time.time() + 120), "is not valid yet"),
    "issued in the future": (lambda issuer: issuer.token(iat=time.time() + 120), "is not valid yet"),
    "never expires": (lambda issuer: issuer.token(exp=None), "does not say when it expires"),
    "another audience": (lambda issuer: issuer.token(aud="other"), "is not for this service (aud)"),
    "another issuer": (lambda issuer: issuer.token(iss="https://other.example"), "is from another issuer (iss)"),
    "unsigned": (unsigned, "algorithm that is not accepted"),
    "HMAC with the public key": (signed_with_the_public_key, "algorithm that is not accepted"),
    "another algorithm": (lambda issuer: issuer.token(algorithm="PS256"), "algorithm that is not accepted"),
    "changed": (changed, "has a wrong signature"),
    # What is left of a signature may be Base64 or not: both answers name the cause.
    **{f"{cut} cut off": (lambda issuer, cut=cut: issuer.token()[:-cut], "cut short") for cut in (1, 2, 3, 20, 341)},
    "no key id": (lambda issuer: issuer.token(headers={}), "does not say which key signed it"),
    "key id of another kind": (lambda _: f"{encoded(ODD_KEY)}.e30.x", "cannot be read"),
    "unknown key": (lambda issuer: issuer.token(headers={"kid": "other"}), "a key that its issuer does not have"),
    "huge": (lambda issuer: issuer.token(padding="x" * 9_000), "is longer than 8192 characters"),
    "nested deeply": (lambda _: f"{encoded(b'[' * 5_000)}.e30.x", "cannot be read"),
    "no object": (lambda _: f"{encoded(b'1')}.e30.x", "cannot be read"),
    "no token": (lambda _: "password", "cannot be read"),
    "not text": (lambda _: "\xff.\xff.\xff", "cannot be read"),
}


async def test_a_wrong_token_is_refused_with_the_reason(database_url, issuer):
    async with trusting(database_url, issuer, wrong_keys=0) as api:
        for name, (make, told) in WRONG.items():
            answer = await api.get("/v1/entries", headers={"Authorization": f"Bearer {make(issuer)}".encode("latin-1")})
            assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated"), name
            assert told in answer.json()["detail"], name


async def test_clocks_may_differ_a_little(database_url, issuer):
    late, early = issuer.token(exp=time.time() - 50), issuer.token(nbf=time.time() + 50)
    async with trusting(database_url, issuer) as api:
        for token in (late, early):
            assert (await api.get("/v1/entries", headers=bearing(token))).status_code == 200
    async with trusting(database_url, issuer, oidc_leeway_seconds=0) as api:
        for token in (late, early):
            assert (await api.get("/v1/entries", headers=bearing(token))).status_code == 401


async def test_elliptic_curves_and_keys_that_do_not_sign(database_url, issuer):
    issuer.add("curve", "ES256")
    issuer.add("encrypting", use="enc")
    async with trusting(database_url, issuer) as api:
        curve = await api.get("/v1/entries", headers=bearing(issuer.token("curve", "ES256")))
        encrypting = await api.get("/v1/entries", headers=bearing(issuer.token("encrypting")))
    assert (curve.status_code, encrypting.status_code) == (200, 401)


async def test_a_new_key_is_fetched_and_an_old_one_is_forgotten(database_url, issuer, monkeypatch):
    monkeypatch.setattr(of_issuer, "APART", 0.0)
    old = bearing(issuer.token())
    async with trusting(database_url, issuer) as api:
        assert (await api.get("/v1/entries", headers=old)).status_code == 200
        issuer.rotate("second")
        assert (await api.get("/v1/entries", headers=bearing(issuer.token("second")))).status_code == 200
        assert (await api.get("/v1/entries", headers=old)).status_code == 401


async def test_invented_keys_do_not_make_the_service_call_the_issuer(database_url, issuer):
    async with trusting(database_url, issuer) as api:
        for number in range(50):
            token = issuer.token(headers={"kid": f"invented {number}"})
            assert (await api.get("/v1/entries", headers=bearing(token))).status_code == 401
    assert issuer.fetched == 1


async def test_without_an_issuer_there_is_a_problem_and_no_key_is_needed_for_keys(database_url, issuer):
    key = await create_key(database_url, "acme", "provider")
    issuer.is_down = True
    async with trusting(database_url, issuer) as api:
        down = await api.get("/v1/entries", headers=bearing(issuer.token()))
        assert (await api.get("/v1/entries", headers=key)).status_code == 200
    assert (down.status_code, down.json()["code"], down.headers["Retry-After"]) == (503, "issuer_unavailable", "1")


async def test_a_discovery_of_another_issuer_is_not_believed(database_url, issuer):
    usual = dict(issuer.discovery)
    async with trusting(database_url, issuer) as api:
        issuer.discovery["issuer"] = "https://other.example"
        answer = await api.get("/v1/entries", headers=bearing(issuer.token()))
    issuer.discovery.update(usual)
    assert (answer.status_code, issuer.fetched) == (503, 0)


class Clock:
    """A clock that the test moves, and an issuer that answers or not."""

    def __init__(self):
        self.now, self.asked, self.answer = 0.0, 0, {"a": {"kid": "a"}}

    async def fetch(self):
        self.asked += 1
        if self.answer is None:
            message = "no answer"
            raise ValueError(message)
        return self.answer


async def test_keys_are_asked_for_again_but_not_all_the_time():
    clock = Clock()
    keys = IssuerKeys(clock.fetch, lambda: clock.now)
    for _ in range(3):
        await keys.key("a")
    assert clock.asked == 1
    for waited, asked in ((0, 1), (APART - 1, 1), (APART, 2), (APART, 2)):
        clock.now = waited
        with pytest.raises(UnknownKeyError):
            await keys.key("b")
        assert clock.asked == asked
    clock.now = APART + FRESH + 1
    assert await keys.key("a") == {"kid": "a"}
    assert clock.asked == 3


async def test_an_issuer_that_is_away_is_asked_ever_less_and_its_keys_are_used_for_an_hour():
    clock = Clock()
    keys = IssuerKeys(clock.fetch, lambda: clock.now)
    await keys.key("a")
    clock.answer, asked = None, []
    for second in range(int(FORGOTTEN)):
        clock.now = float(second)
        assert await keys.key("a") == {"kid": "a"}
        asked.append(clock.asked)
    assert 1 < asked[-1] < (FORGOTTEN - FRESH) / 60 + 10
    clock.now = FORGOTTEN + 1
    with pytest.raises(IssuerUnavailableError):
        await keys.key("a")


TOO_OPEN = [
    ("OIDC_ISSUER", "http://issuer.example", "must be an https address"),
    ("OIDC_JWKS_URL", "ftp://issuer.example/keys", "must be an https address"),
    ("OIDC_ALGORITHMS", "none", "oidc_algorithms: none is not one of RS256"),
    ("OIDC_ALGORITHMS", "RS256,HS256", "oidc_algorithms: HS256 is not one of RS256"),
    ("OIDC_ALGORITHMS", ",", "oidc_algorithms: none is not one of RS256"),
    (
        "OIDC_ROLES",
        "admin=root",
        "oidc_roles: 'admin=root' is not NAME=ROLE; roles are consumer, provider, reviewer",
    ),
    ("OIDC_ROLES", "operator", "oidc_roles: 'operator' is not NAME=ROLE"),
]


def test_settings_that_would_let_others_in_are_refused(monkeypatch, capsys):
    monkeypatch.setenv("AEGIS_OIDC_ISSUER", "https://issuer.example")
    for setting, value, told in TOO_OPEN:
        with monkeypatch.context() as environment:
            environment.setenv(f"AEGIS_{setting}", value)
            with pytest.raises(SystemExit) as ended:
                settings_of()
        assert ended.value.code == 2
        assert told in capsys.readouterr().err, (setting, value)
