"""Who looks at pages, in the place of the developer."""

from app.platform.callers import Caller, Role

CONSUMER = Caller("stranger", frozenset({Role.CONSUMER}), "key-of-a-stranger")
OWNER = Caller("default", frozenset({Role.PROVIDER}), "key-of-an-owner")
REVIEWER = Caller("default", frozenset({Role.REVIEWER}), "key-of-a-reviewer")
