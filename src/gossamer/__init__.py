"""Gossamer, a polite, durable web crawler that explains itself."""
