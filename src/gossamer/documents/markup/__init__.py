"""HTML: its main text, what it says about itself, the data in it, where it leads."""
