"""The encoding of a document, decided as browsers decide it (Encoding Standard)."""
