"""The benchmarks: `python -m bench` runs them all, `python -m bench.advice` and its like one of them."""
