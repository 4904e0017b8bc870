"""An issuer of tokens that runs here: discovery, keys that can be rotated, signatures, and people who sign in."""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa


class Issuer:
    """An issuer at `url`. `fetched` counts how often its keys were asked for.

    Whoever opens its authorization endpoint signs in: `signed_in` has claims of the access token, `identified` those of
    the ID token. `answer` and `given` are added to what it answers by the browser, and for a code. `exchanges` has the
    forms that were sent for tokens, each with the client's secret.
    """

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.fetched = 0
        self.is_down = False
        self.keys: dict[str, Any] = {}
        self.discovery: dict[str, Any] = {
            "issuer": self.url,
            "jwks_uri": f"{self.url}/keys",
            "authorization_endpoint": f"{self.url}/authorize?realm=data",
            "token_endpoint": f"{self.url}/token",
        }
        self.client_secret: str | None = None
        self.signed_in: dict[str, Any] = {}
        self.identified: dict[str, Any] = {}
        self.answer: dict[str, str] = {}
        self.given: dict[str, Any] = {}
        self.exchanges: list[dict[str, str]] = []
        self.codes: dict[str, dict[str, str]] = {}
        self.listed: list[dict[str, Any]] = []
        self.add("first")

    def add(self, kid: str, algorithm: str = "RS256", **members: Any) -> None:
        """Add a key, with further members in the set that is published."""
        if algorithm.startswith("ES"):
            self.keys[kid] = ec.generate_private_key(ec.SECP256R1())
            public = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self.keys[kid].public_key()))
        else:
            self.keys[kid] = rsa.generate_private_key(public_exponent=65537, key_size=2048)
            public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.keys[kid].public_key()))
        self.listed.append({**public, "kid": kid, "alg": algorithm, **members})

    def rotate(self, kid: str) -> None:
        """Have this key instead of all others."""
        self.listed.clear()
        self.add(kid)

    def token(self, kid: str = "first", algorithm: str = "RS256", headers: Any = None, **claims: Any) -> str:
        """A token for `acme`'s provider, valid for a minute, with other claims where they are given."""
        now = time.time()
        usual = {"iss": self.url, "aud": "aegis", "exp": now + 60, "iat": now, "sub": "ann"}
        usual |= {"tenant": "acme", "scope": "openid aegis:provide"}
        stated = {name: value for name, value in (usual | claims).items() if value is not None}
        return jwt.encode(stated, self.keys[kid], algorithm, headers={"kid": kid} if headers is None else headers)

    def authorize(self, query: str) -> str:
        """Sign somebody in, and return where the browser is sent back to."""
        asked = dict(parse_qsl(query))
        assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
        assert (asked["realm"], "openid" in asked["scope"].split()) == ("data", True)
        code = secrets.token_urlsafe()
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']} | self.answer)}"

    def exchange(self, form: dict[str, str], authorization: str | None) -> tuple[int, dict[str, Any]]:
        """Give tokens for a code, once, to the client that asked for it and has the verifier."""
        client, secret = form.get("client_id"), form.get("client_secret")
        if authorization is not None:
            pair = base64.b64decode(authorization.removeprefix("Basic ")).decode().split(":")
            client, secret = map(unquote, pair)
        self.exchanges.append(form | ({} if secret is None else {"secret": secret}))
        if secret != self.client_secret:
            return 401, {"error": "invalid_client"}
        asked = self.codes.pop(form["code"], {})
        verified = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(verified).decode().rstrip("=")
        expected = [asked.get(name) for name in ("client_id", "redirect_uri", "code_challenge")]
        if expected != [client, form["redirect_uri"], challenge]:
            return 400, {"error": "invalid_grant", "error_description": "<script>"}
        identity = {"aud": client, "nonce": asked["nonce"], "tenant": None, "scope": None}
        tokens = {"access_token": self.token(**self.signed_in), "id_token": self.token(**(identity | self.identified))}
        return 200, {"token_type": "Bearer", "expires_in": 60, **tokens, **self.given}


@contextmanager
def running_issuer() -> Iterator[Issuer]:
    """Run an issuer on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            place, query = urlsplit(self.path).path, urlsplit(self.path).query
            if place == "/authorize":
                self.answer(303, None, Location=issuer.authorize(query))
                return
            issuer.fetched += place == "/keys"
            answers = {"/.well-known/openid-configuration": issuer.discovery, "/keys": {"keys": issuer.listed}}
            self.answer(200 if place in answers else 404, answers.get(place))

        def do_POST(self) -> None:
            form = dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
            self.answer(*issuer.exchange(form, self.headers["Authorization"]))

        def answer(self, status: int, body: Any, **headers: str) -> None:
            self.send_response(500 if issuer.is_down else status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer = Issuer(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
