"""Feeds and sitemaps: RSS, Atom, JSON Feed, sitemaps as XML and text, however broken."""
