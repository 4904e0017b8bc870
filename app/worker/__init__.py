"""The worker: its tasks, and the process that runs them."""
