"""How well offers are ordered by what their counts say a model will reach, over entries cut from real tables."""
