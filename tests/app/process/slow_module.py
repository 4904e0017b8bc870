"""A module whose import takes a second."""

import time

time.sleep(1)
