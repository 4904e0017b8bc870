"""Many clients of one service: what they are answered, how soon, and what the service's processes hold in memory.

`make load`, or `python -m bench.load --minutes 5 --clients 200`; `--rates` looks for the rate at which overload begins
"""
