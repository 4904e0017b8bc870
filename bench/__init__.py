"""Experiments that guard the product: its speed, and its behaviour under load, faults and hostile input.

`python -m bench` runs all speed benchmarks, and `python -m bench.speed.advice`, for example, runs one. `bench.load`,
`bench.chaos` and `bench.hostile` have their own commands. Neither the product nor its tests import this package.
"""
