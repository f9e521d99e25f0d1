"""Choices as Optuna's distributions, and their values as the text of a flag."""

import re

from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution


def name_of(choice):
    """One parameter of the search: a key that is chosen under several conditions is one under each."""
    return " ".join([choice["key"], *(f"where {flag} is {value}" for flag, value in choice["when"].items())])


def distribution(choice):
    if "values" in choice:
        return CategoricalDistribution(choice["values"])
    bounds = choice["range"]
    if bounds["whole"]:
        return IntDistribution(int(bounds["low"]), int(bounds["high"]), log=bounds["log"])
    return FloatDistribution(bounds["low"], bounds["high"], log=bounds["log"])


def text_of(choice, value):
    """Of three digits at most, which say enough and can be read."""
    if "values" in choice:
        return value
    bounds = choice["range"]
    if bounds["whole"]:
        return f"{value}"
    return f"{min(max(float(f'{value:.3g}'), bounds['low']), bounds['high']):.6g}{bounds['unit']}"


def chosen(trial, choices):
    """Flag → text of all that is chosen in an Optuna trial. Conditions name choices that come before them."""
    texts = {}
    for choice in choices:
        if any(texts.get(flag) != value for flag, value in choice["when"].items()):
            continue
        texts[choice["key"]] = text_of(choice, suggested(trial, choice))
    return texts


def suggested(trial, choice):
    name = name_of(choice)
    if "values" in choice:
        return trial.suggest_categorical(name, choice["values"])
    bounds = choice["range"]
    if bounds["whole"]:
        return trial.suggest_int(name, int(bounds["low"]), int(bounds["high"]), log=bounds["log"])
    return trial.suggest_float(name, bounds["low"], bounds["high"], log=bounds["log"])


def begin_of(choices, defaults):
    """(parameters, distributions) of the configuration that the search begins at; None where the space lacks it."""
    parameters, distributions = {}, {}
    for choice in choices:
        if any(defaults.get(flag) != value for flag, value in choice["when"].items()):
            continue
        value = parameter(choice, defaults.get(choice["key"]))
        if value is None:
            return None
        parameters[name_of(choice)], distributions[name_of(choice)] = value, distribution(choice)
    return parameters, distributions


def parameter(choice, text):
    """The value that stands for `text`; None where there is none in the space."""
    if "values" in choice:
        return text if text in choice["values"] else None
    bounds = choice["range"]
    found = re.fullmatch(r"([-+.0-9e]+)" + re.escape(bounds["unit"]), text or "")
    try:
        value = float(found.group(1)) if found else None
    except ValueError:
        return None
    if value is None or not bounds["low"] <= value <= bounds["high"]:
        return None
    return int(value) if bounds["whole"] else value
