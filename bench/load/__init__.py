"""Many clients of one service: their responses and response times, and the memory of the service's processes.

`make load`, or `python -m bench.load --minutes 5 --clients 200`; `--rates` looks for the rate at which overload begins
"""
