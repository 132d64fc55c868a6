"""The language of queries: words, phrases, prefixes, brackets; read into a tree, in linear time."""
