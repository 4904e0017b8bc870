"""What the tests of the product, of `bench` and of `research` have in common."""

pytest_plugins = ["tests.fixtures"]
