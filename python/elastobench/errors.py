class Error(Exception):
    """What keeps the package from going on; the message says what, where and what to do."""
