"""What is printed for people and programs: tables, progress, closing words.

Nothing that came from the web can steer a terminal.
"""
