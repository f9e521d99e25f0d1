"""Packages that are needed when they are used only, and the extra of this one that brings each."""

import importlib.util

EXTRAS = {"torch": "training", "pandas": "tables", "matplotlib": "pictures", "redis": "servers"}


def how_to_install(package: str) -> str:
    """As messages end that miss it."""
    return f"install it by pip install 'trigram[{EXTRAS[package]}]', or as Debian's python3-{package}"


def require(package: str, what: str) -> None:
    """Raises ModuleNotFoundError, which names the extra, where `what` needs a package that is not there."""
    if importlib.util.find_spec(package) is None:
        raise ModuleNotFoundError(f"{what} needs {package}, which is missing; {how_to_install(package)}", name=package)
