"""Makes a release: a folder of sdists, wheels and what goes with them, tried before it is there (`make release`)."""
