"""Studies of the product: what its advice, its controls and its releases are worth, and what they give away.

Each folder answers one question and writes its page of `research/results` (`python -m research.evaluation`,
`research.papers`, `research.controls`, `research.suppression`, `research.generation`, `research.leakage`,
`research.scaling`); `research.rivals` has the published methods it is compared with, and `research.chance` what samples
alone do to figures. Neither the product nor its tests import this.
`make research` installs what they need beyond the product (`requirements.txt`, pinned by `constraints.txt`, both beside
this file). `make evaluate` runs the tests of the studies first.
"""
