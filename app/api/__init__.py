"""HTTP: paths, bodies, headers, status codes. The only room that knows FastAPI and the wire contract."""
