"""Finds what was crawled: a full-text index beside the tables of documents, and a language to ask it in."""
