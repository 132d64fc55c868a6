"""Stands in for `gossamer cluster answer`: answers from what was recorded, as a file in the folder says.

`behaviour` in the folder: `well`, `refuses` (ends with words on standard error), `hangs`, `nonsense`,
`dies` (after the first answer), `lingers` (with nothing left to be asked). Every line
that it hears goes to `heard`.
"""

import os
import sys
import time
from pathlib import Path

folder = Path(sys.argv[1])
behaviour = (folder / "behaviour").read_text()
answer = (folder / "answer.json").read_bytes()
with (folder / "begun").open("a") as begun:
    begun.write(".")
(folder / "pid").write_text(str(os.getpid()))
if behaviour == "refuses":
    print("some noise\ngossamer: its Ray cluster does not answer", file=sys.stderr)
    sys.exit(2)
for line in sys.stdin:
    with (folder / "heard").open("a") as heard:
        heard.write(line)
    if behaviour == "hangs":
        time.sleep(1000)
    figures = '"figures"' in line
    if behaviour == "problem":
        answer = b'{"problem":"the coordinator is being started"}'
    elif not figures:
        answer = b'{"concerned":1}' if '"full"' in line else b"{}"
    else:
        answer = (folder / "answer.json").read_bytes()
    sys.stdout.buffer.write(b"{[\n" if behaviour == "nonsense" else answer + b"\n")
    sys.stdout.buffer.flush()
    if behaviour == "dies":
        sys.exit(1)
if behaviour == "lingers":
    time.sleep(1000)
