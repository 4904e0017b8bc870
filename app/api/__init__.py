"""HTTP: paths, bodies, headers, status codes. The only package that knows FastAPI and the wire contract."""
