"""The worker: tasks, retention, and the process that runs them."""
