"""What guards the product: how fast it is (`speed`), and what it does under load, faults and hostile input.

`python -m bench` runs the benchmarks of speed; `python -m bench.speed.advice`, for example, runs one. `bench.load`,
`bench.chaos` and `bench.hostile` have commands of their own. Neither the product nor its tests import any of it.
"""
