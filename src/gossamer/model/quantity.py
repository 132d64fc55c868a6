"""Types for configuration values that carry a unit; TOML may say `"10s"` or `"64MiB"` instead of a number."""

from typing import Annotated

from msgspec import Meta

SECONDS = {"unit": "s"}
BYTES = {"unit": "B"}
"""For fields with a lower bound of their own, which msgspec does not let stand beside another."""

Seconds = Annotated[float, Meta(ge=0, extra=SECONDS)]
Bytes = Annotated[int, Meta(ge=0, extra=BYTES)]
Count = Annotated[int, Meta(ge=0)]
