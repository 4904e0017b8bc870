"""A module whose import takes two seconds."""

import time

time.sleep(2)
