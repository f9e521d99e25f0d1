"""`python -m trigram` is the command `trigram`."""

from .program import main

main()
