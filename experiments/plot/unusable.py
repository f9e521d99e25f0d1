"""What is wrong with a folder, for people."""


class Unusable(Exception):
    """A file that cannot be read, drawn or written; says which, where, and why."""
