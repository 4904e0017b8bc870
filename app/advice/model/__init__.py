"""Questions and answers, without SQL or HTTP."""
