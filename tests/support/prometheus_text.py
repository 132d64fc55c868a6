"""The Prometheus text format, line by line."""

import re

LINE = re.compile(r'[a-z_]+(?:\{(?:[a-z_]+="(?:[^"\\\n]|\\[\\n"])*",?)*\})? -?[0-9.e+-]+')


def check(text):
    """Every line is one of the format's, every metric is described once, before its samples."""
    described = set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            name = line.split()[2]
            assert name not in described
            described.add(name)
        elif not line.startswith("# HELP "):
            assert LINE.fullmatch(line), line
            assert re.split(r"[{ ]", line)[0] in described
    return described
