"""Measurements of the whole crawler; each runs as `python -m benchmarks.NAME [--quick] [--json]`."""
