"""The console: pages for people, rendered on the server."""
