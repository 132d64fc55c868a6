"""Answers questions of other programs of this machine (`gossamer dns --serve`, W12).

`messages` reads and writes the wire format, `name_service` says what is true of a name, `sockets` listens. A question
becomes an answer in one step forward: socket, message, service, message, socket.
"""
