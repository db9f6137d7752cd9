"""`gochan bench`: how fast channels are on this machine, next to what else there is.

Nothing of gochan imports this package; bench/README.md in the repository says how to
read what it prints, and how to add to it.
"""
