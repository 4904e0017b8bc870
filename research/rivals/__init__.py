"""Rival rankers of configurations. Each returns (configurations,) scores; higher is better."""
