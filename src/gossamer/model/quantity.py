"""Types for configuration values that carry a unit; TOML may say `"10s"` or `"64MiB"` instead of a number."""

from typing import Annotated

from msgspec import Meta

Seconds = Annotated[float, Meta(ge=0, extra={"unit": "s"})]
Bytes = Annotated[int, Meta(ge=0, extra={"unit": "B"})]
Count = Annotated[int, Meta(ge=0)]
