"""Packages that are needed when they are used only, and the extra of this one that brings each."""

import importlib.util

EXTRAS = {"torch": "training", "pandas": "tables", "matplotlib": "pictures", "redis": "servers"}


def how_to_install(package: str, *more: str) -> str:
    """As messages end that miss it, or what is used with it."""
    return f"install it by pip install 'trigram[{EXTRAS[package]}]', or as Debian's {' and '.join(f'python3-{one}' for one in (package, *more))}"


def require(package: str, what: str) -> None:
    """Raises ModuleNotFoundError, which names the extra, where `what` needs a package that is not there."""
    if importlib.util.find_spec(package) is None:
        raise ModuleNotFoundError(f"{what} needs {package}, which is missing; {how_to_install(package)}", name=package)
