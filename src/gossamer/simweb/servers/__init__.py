"""The simulated web on loopback: HTTP and name servers, in this process or one of their own."""
