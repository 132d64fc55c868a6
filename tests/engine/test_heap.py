import os
import subprocess
import sys

import pytest

HELD = """
from gossamer.engine.heap import give_back

def resident():
    return int(open("/proc/self/statm").read().split()[1])

blocks = [bytes(100_000) for _ in range(600)]
for block in range(0, 600):
    if block % 20 != 19:
        blocks[block] = b""
before = resident()
give_back()
print((before - resident()) * {page})
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only glibc is known to do it")
def test_what_is_free_between_what_stays_goes_back():
    """In a process of its own, as other tests' memory would be in the figures."""
    program = HELD.format(page=os.sysconf("SC_PAGE_SIZE"))
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(ran.stdout) > 20_000_000
