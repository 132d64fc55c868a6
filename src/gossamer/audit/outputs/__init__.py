"""Writes the result of an audit for people, programs and continuous integration; each form is gone through once."""
