"""A module whose import takes sixteen seconds."""

import time

time.sleep(16)
