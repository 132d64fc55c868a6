"""A farm of servers that behave well and badly, against which link checkers are judged: see `__main__`."""
