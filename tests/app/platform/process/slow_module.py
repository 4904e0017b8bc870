"""A module whose import takes eight seconds."""

import time

time.sleep(8)
