"""How fast Aegis is (`bench.speed`), and how good its advice is (`bench.quality`).

`python -m bench` runs all benchmarks; `python -m bench.speed.advice`, for example, runs one. The evaluation is
`python -m bench.quality`.
"""
