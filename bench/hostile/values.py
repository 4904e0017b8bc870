"""Values that programs trip over: as JSON values, and as text in their place."""

from random import Random
from typing import Any

#: A text that no document contains; it is replaced by another text, which need not be JSON.
PLACE = "@@place@@"

#: Numbers at the limits of representations, and texts that are not JSON numbers.
NUMBERS = (
    *("NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e308", "1e-400", "5e-324", "-0.0", "-0", "0", "-1"),
    *("2147483648", "4294967296", "9007199254740991", "9007199254740992", "9007199254740993"),
    *("9223372036854775807", "9223372036854775808", "-9223372036854775809", "18446744073709551616", "1e19", "1.0"),
    *("0.1", "1.0000000000000001", "01", "+1", "0x10", "1_000", "1.", ".5", "1e", "--1", "\u0661", "1e999999999"),
    *("1" * 309, "1" * 4_301, "9" * 100_000, "0." + "0" * 5_000 + "1", "1" + "0" * 400 + "e-400"),
)

#: Texts: lone surrogates, NUL, control characters, marks of order, and what other programs take for commands.
TEXTS = (
    *("", " ", "\x00", "a\x00b", "\ud800", "\udfff", "a\udc00\ud800b", "\x1b[31m", "\x7f", "\r\n", "\u2028", "\ufeff"),
    *("\u202eabc", "\u0301" * 50, "\U0010ffff", "\ufffe", "\uffff", "e\u0301", "\u00e9", "\u0130", "\u1e9e", "K"),
    *("../../etc/passwd", "%s%n", "${jndi:ldap://x}", "{{7*7}}", "'; DROP TABLE entry; --", "<script>", "=1+1"),
    *("__proto__", "constructor", "null", "true", "NaN", "identity", "drop", "sha256:" + "g" * 64, "a" * 256),
    *("b" * 10_000, "\U0001f600" * 5_000, "c" * 300_000),
)


def any_value(rng: Random) -> Any:  # noqa: ANN401 -- that is what it is for
    """A value of some type."""
    lists: tuple[Any, ...] = ([], {}, [[]], [None], {"": 0}, {"a": {"b": []}})
    kinds = (None, True, False, 0, 1, -1, 1.5, 10**30, "", "1", *lists)
    return rng.choice((*kinds, rng.choice(TEXTS), [0] * rng.randrange(9), rng.random(), rng.randrange(-9, 200)))


def nested(rng: Random) -> str:
    """Brackets or braces, up to 100,000 levels deep, and not always closed."""
    levels = int(10 ** rng.uniform(1, 5))
    opening, closing = rng.choice((("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")))
    return opening * levels + "0" + closing * rng.choice((levels, levels, levels - 1, levels + 1, 0))


def long_list(rng: Random) -> str:
    """A list of many items that are all the same."""
    item = rng.choice(("0", "null", '""', "[]", "{}", "1e5", '"a"', "[0,0]", '{"id":"c"}', "-1"))
    return f"[{','.join([item] * int(10 ** rng.uniform(2, 5)))}]"


def large_object(rng: Random) -> str:
    """An object with many members, perhaps with names that collide."""
    number, value = int(10 ** rng.uniform(2, 4.7)), rng.choice(("0", "null", "[]", '"x"', "{}"))
    names = (str(place % number if rng.random() < 0.999 else 0) for place in range(number))
    return "{" + ",".join(f'"{name}":{value}' for name in names) + "}"
