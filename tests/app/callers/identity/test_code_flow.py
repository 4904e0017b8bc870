"""People sign in at a real issuer, and what it answers is not believed before it is checked."""

import time
from datetime import UTC, datetime
from urllib.parse import parse_qs, parse_qsl, urlsplit

import httpx
import pytest

from app.callers.identity import tokens as of_issuer
from app.callers.identity.code_flow import Answer, code_flow, draw_pending, path_of, token_reader
from app.cli.environment import settings_of
from app.platform.callers import Caller, Role
from app.platform.errors import IssuerUnavailableError, RoleNotAllowedError, UnknownKeyError
from app.settings import Settings
from tests.issuer import running_issuer

ORIGIN = "https://aegis.example.org"
ROLES = "aegis:consume aegis:provide aegis:review aegis:administer aegis:operate"


@pytest.fixture(scope="module")
def shared_issuer():
    with running_issuer() as issuer:
        yield issuer


@pytest.fixture
def issuer(shared_issuer):
    usual = dict(shared_issuer.discovery)
    yield shared_issuer
    shared_issuer.is_down, shared_issuer.discovery, shared_issuer.client_secret = False, usual, None
    for added in (shared_issuer.signed_in, shared_issuer.identified, shared_issuer.answer, shared_issuer.given):
        added.clear()
    shared_issuer.exchanges.clear()


def flow_of(issuer, **changes):
    given = {"oidc_issuer": issuer.url, "oidc_client_id": "console", "console_origin": ORIGIN} | changes
    settings = Settings(**given)
    return code_flow(settings, token_reader(settings))


async def answered(flow, pending):
    """What the issuer sends back by the browser of whoever signs in."""
    async with httpx.AsyncClient(verify=False) as browser:
        sent = await browser.get(await flow.address(pending))
    assert sent.headers["Location"].startswith(f"{ORIGIN}/sign-in/callback?")
    query = dict(parse_qsl(urlsplit(sent.headers["Location"]).query))
    return Answer(query["state"], query.get("code"), query.get("error"), query.get("iss"))


async def signed_in(flow, pending):
    """Who has signed in, by all steps."""
    return await flow.holder(pending, flow.code(pending, await answered(flow, pending)))


async def test_whoever_signs_in_at_the_issuer_is_the_holder_of_its_token(issuer):
    end = int(time.time()) + 600
    issuer.signed_in |= {"sub": "ann", "scope": "openid aegis:review aegis:provide", "exp": end}
    flow, pending = flow_of(issuer), draw_pending("/entries/1?k=5&l=ä;b")
    holder = await signed_in(flow, pending)
    assert holder.caller == Caller("acme", frozenset({Role.REVIEWER, Role.PROVIDER}), "ann")
    assert holder.expires_at == datetime.fromtimestamp(end, UTC)
    assert path_of(pending) == "/entries/1?k=5&l=ä;b"
    assert pending.isascii()
    assert not set(pending) & set('";,\\ ')


async def test_the_browser_takes_along_what_is_needed_and_no_secret(issuer):
    pending = draw_pending("/")
    url = await flow_of(issuer, oidc_client_secret="hidden").address(pending)
    asked = parse_qs(urlsplit(url).query)
    assert url.startswith(f"{issuer.url}/authorize?")
    assert asked["realm"] == ["data"]
    assert asked["redirect_uri"] == [f"{ORIGIN}/sign-in/callback"]
    assert asked["scope"] == [f"openid {ROLES}"]
    assert len({*asked["state"], *asked["nonce"], *asked["code_challenge"]}) == 3
    assert "hidden" not in url
    assert pending.partition(".")[0] not in url


@pytest.mark.parametrize(
    ("settings", "scopes"),
    [
        ({"oidc_roles_claim": "realm_access.roles"}, "openid"),
        ({"oidc_roles_claim": "scp", "oidc_roles": "read=consumer, write=provider"}, "openid read write"),
        ({"oidc_scopes": "openid api://aegis/.default"}, "openid api://aegis/.default"),
    ],
    ids=["roles elsewhere", "other names", "set"],
)
async def test_the_scopes_are_those_that_give_roles_or_that_are_set(issuer, settings, scopes):
    asked = parse_qs(urlsplit(await flow_of(issuer, **settings).address(draw_pending("/"))).query)
    assert asked["scope"] == [scopes]


@pytest.mark.parametrize("methods", [None, ["client_secret_post", "client_secret_basic"], ["client_secret_post"]])
async def test_a_client_shows_its_secret_as_the_issuer_wants_it(issuer, tmp_path, methods):
    file = tmp_path / "secret"
    file.write_text("p@ss:w%rd ä\n", encoding="utf-8")
    issuer.client_secret = "p@ss:w%rd ä"
    if methods is not None:
        issuer.discovery = {**issuer.discovery, "token_endpoint_auth_methods_supported": methods}
    flow, pending = flow_of(issuer, oidc_client_secret_file=file), draw_pending("/")
    assert (await signed_in(flow, pending)).caller.subject == "ann"
    assert ("client_secret" in issuer.exchanges[0]) == (methods == ["client_secret_post"])


async def test_an_answer_is_good_in_the_browser_that_asked_for_it_only(issuer):
    flow, mine, attacker = flow_of(issuer), draw_pending("/"), draw_pending("/")
    theirs = await answered(flow, attacker)
    for pending in (mine, "", ".", attacker.partition(".")[0], f"{attacker}x", "ä", "x" * 43):
        with pytest.raises(UnknownKeyError, match="began in another browser"):
            flow.code(pending, theirs)
    assert issuer.exchanges == []
    assert (await flow.holder(attacker, flow.code(attacker, theirs))).caller.subject == "ann"


async def test_the_path_to_go_to_cannot_be_exchanged(issuer):
    flow, pending = flow_of(issuer), draw_pending("/requests")
    answer = await answered(flow, pending)
    with pytest.raises(UnknownKeyError, match="began in another browser"):
        flow.code(pending.replace("/requests", "/operator"), answer)


async def test_a_code_of_another_sign_in_is_of_no_use(issuer):
    flow, mine, stolen = flow_of(issuer), draw_pending("/"), draw_pending("/")
    code = (await answered(flow, stolen)).code
    answer = await answered(flow, mine)
    with pytest.raises(UnknownKeyError, match="no longer accepts this sign-in"):  # by PKCE
        await flow.holder(mine, flow.code(mine, Answer(answer.state, code)))


async def test_an_answer_is_good_once(issuer):
    flow, pending = flow_of(issuer), draw_pending("/")
    answer = await answered(flow, pending)
    await flow.holder(pending, flow.code(pending, answer))
    with pytest.raises(UnknownKeyError, match="no longer accepts this sign-in"):
        await flow.holder(pending, flow.code(pending, answer))


@pytest.mark.parametrize(
    ("claims", "told"),
    [
        ({"nonce": "another"}, "from another sign-in (nonce)"),
        ({"nonce": None}, "from another sign-in (nonce)"),
        ({"nonce": ["a"]}, "from another sign-in (nonce)"),
        ({"aud": "other"}, "is not for this service (aud)"),
        ({"aud": ["console", "other"], "azp": "other"}, "for another client (azp)"),
        ({"iss": "https://other.example"}, "is from another issuer (iss)"),
        ({"exp": 1}, "has expired"),
    ],
    ids=lambda value: None if isinstance(value, str) else "-".join(value),
)
async def test_an_id_token_must_be_for_this_client_and_this_sign_in(issuer, claims, told):
    issuer.identified |= claims
    flow, pending = flow_of(issuer), draw_pending("/")
    with pytest.raises(UnknownKeyError) as refused:
        await signed_in(flow, pending)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"id_token": None}, "not a JWT"),
        ({"id_token": 1}, "not a JWT"),
        ({"access_token": None}, "not a JWT"),
        ({"access_token": "opaque"}, "not a JWT"),
    ],
    ids=["no ID token", "a number", "no access token", "an opaque access token"],
)
async def test_both_tokens_must_be_there_and_be_tokens(issuer, given, told):
    issuer.given |= given
    flow, pending = flow_of(issuer), draw_pending("/")
    with pytest.raises(UnknownKeyError, match=told):
        await signed_in(flow, pending)


async def test_an_access_token_for_somebody_else_or_without_a_role_is_refused(issuer):
    flow = flow_of(issuer)
    for claims, error in (({"aud": "other"}, UnknownKeyError), ({"scope": "openid"}, RoleNotAllowedError)):
        issuer.signed_in = claims
        pending = draw_pending("/")
        with pytest.raises(error):
            await signed_in(flow, pending)
    issuer.signed_in = {}


async def test_a_refusal_of_the_issuer_is_told_without_its_words(issuer):
    flow, pending = flow_of(issuer), draw_pending("/")
    answer = await answered(flow, pending)
    for error, told in (("access_denied", r"\(access_denied\)"), ("<b>", r"\(unknown\)"), (None, r"\(unknown\)")):
        with pytest.raises(UnknownKeyError, match=told):
            flow.code(pending, Answer(answer.state, error=error))
    with pytest.raises(UnknownKeyError, match="began in another browser"):
        flow.code(pending, Answer("forged", error="access_denied"))


async def test_an_answer_that_names_another_issuer_is_refused(issuer):
    flow = flow_of(issuer)
    for named in (issuer.url, "https://other.example"):
        issuer.answer["iss"] = named
        pending = draw_pending("/")
        answer = await answered(flow, pending)
        if named == issuer.url:
            await flow.holder(pending, flow.code(pending, answer))
        else:
            with pytest.raises(UnknownKeyError, match="from another issuer"):
                await flow.holder(pending, flow.code(pending, answer))


async def test_a_client_that_the_issuer_does_not_accept_is_the_operator_s_matter(issuer, caplog):
    issuer.client_secret = "right"
    flow, pending = flow_of(issuer, oidc_client_secret="wrong"), draw_pending("/")
    with pytest.raises(IssuerUnavailableError):
        await signed_in(flow, pending)
    [line] = [record for record in caplog.records if "no token" in record.message]
    assert (line.status, line.reason) == (401, "invalid_client")
    assert "wrong" not in str(line.__dict__)


async def test_an_issuer_that_does_not_answer_is_not_asked_all_the_time(issuer, monkeypatch):
    flow = flow_of(issuer)
    issuer.is_down = True
    with pytest.raises(IssuerUnavailableError):
        await flow.address(draw_pending("/"))
    issuer.is_down = False
    with pytest.raises(IssuerUnavailableError):
        await flow.address(draw_pending("/"))
    monkeypatch.setattr(flow._discovery, "_clock", lambda: time.monotonic() + of_issuer.WAIT)
    assert await flow.address(draw_pending("/"))


async def test_an_issuer_that_goes_away_in_between_is_unavailable(issuer):
    flow, pending = flow_of(issuer), draw_pending("/")
    answer = await answered(flow, pending)
    issuer.is_down = True
    with pytest.raises(IssuerUnavailableError):
        await flow.holder(pending, flow.code(pending, answer))


@pytest.mark.parametrize(
    "endpoint", [None, 1, "http://login.example/authorize", "javascript:alert(1)", "//login.example"]
)
async def test_browsers_are_sent_to_safe_addresses_only(issuer, endpoint):
    issuer.discovery = {**issuer.discovery, "authorization_endpoint": endpoint}
    with pytest.raises(IssuerUnavailableError):
        await flow_of(issuer).address(draw_pending("/"))


def test_without_a_client_nobody_signs_in_at_the_issuer(issuer):
    assert flow_of(issuer, oidc_client_id=None) is None


UNWORKABLE = [
    ({"OIDC_CLIENT_ID": "console"}, "signing in also needs oidc_issuer and console_origin"),
    (
        {"OIDC_CLIENT_ID": "console", "OIDC_ISSUER": "https://login.example"},
        "signing in also needs oidc_issuer and console_origin",
    ),
    ({"CONSOLE_ORIGIN": "http://aegis.example.org"}, "is not one origin with https"),
    ({"CONSOLE_ORIGIN": "https://a.example,https://b.example"}, "is not one origin with https"),
    ({"CONSOLE_ORIGIN": ""}, "is not one origin with https"),
    ({"CONSOLE_ORIGIN": "https://aegis.example.org/"}, "is not an origin"),
    ({"CONSOLE_SESSION_HOURS": "0"}, "greater than or equal to 1"),
    ({"OIDC_CLIENT_ID": ""}, "at least 1 character"),
]


def test_settings_that_cannot_work_are_refused(monkeypatch, capsys):
    for settings, told in UNWORKABLE:
        with monkeypatch.context() as environment:
            for name, value in settings.items():
                environment.setenv(f"AEGIS_{name}", value)
            with pytest.raises(SystemExit) as ended:
                settings_of()
        assert ended.value.code == 2
        assert told in capsys.readouterr().err, settings


@pytest.mark.parametrize("origin", ["http://127.0.0.1:8000", "http://[::1]:8000", "http://localhost"])
def test_the_console_of_a_developer_needs_no_https(origin):
    assert Settings(console_origin=origin).console_origin == origin
