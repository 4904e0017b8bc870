"""An issuer of tokens that runs here: discovery, keys that can be rotated, and signatures."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa


class Issuer:
    """An issuer at `url`. `fetched` counts how often its keys were asked for."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.fetched = 0
        self.is_down = False
        self.keys: dict[str, Any] = {}
        self.discovery: dict[str, Any] = {"issuer": self.url, "jwks_uri": f"{self.url}/keys"}
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


@contextmanager
def running_issuer() -> Iterator[Issuer]:
    """Run an issuer on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            issuer.fetched += self.path == "/keys"
            answers = {"/.well-known/openid-configuration": issuer.discovery, "/keys": {"keys": issuer.listed}}
            found = answers.get(self.path)
            self.send_response(500 if issuer.is_down else 404 if found is None else 200)
            self.end_headers()
            self.wfile.write(json.dumps(found).encode())

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
