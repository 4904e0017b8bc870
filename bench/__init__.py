"""How fast Aegis is (`bench.speed`), and how good its advice is (`bench.quality`).

`python -m bench` runs all benchmarks, `python -m bench.speed.advice` and its like one of them. The evaluation is
`python -m bench.quality`.
"""
