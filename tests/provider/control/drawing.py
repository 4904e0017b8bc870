"""Randomness of rounding by a generator."""

from aegis_provider.control import LastingRandomness


def drawn_by(rng):
    """A key that is the generator's next."""
    return LastingRandomness(rng.bytes(32))
