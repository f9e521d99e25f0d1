"""Whether the best is better: by runs that the search has not seen, what each choice is worth alone, and the summary."""

import math
import statistics

REAL_DIFFERENCE = 1e-9  # below it, two times differ by rounding alone
CALLED = 0.9  # the probability from which on an order is called


def judge(search, pool):
    """What tune.json says of it."""
    begin, best = search.trials[0], search.best()
    seeds = [str(search.plan["seed"] + 1 + i) for i in range(search.plan["confirm"])]
    confirmed = {"default": [pool.run(begin.run.settings | {"seed": seed}) for seed in seeds],
                 "best": [pool.run(best.run.settings | {"seed": seed}) for seed in seeds]}
    alone = {key: pool.run(without(best, key, search.plan)) for key in best.chosen if differs(search.plan, key, best.chosen[key])}
    # In turn, so that a real machine's slow minutes meet both.
    pool.make([run for pair in zip(*confirmed.values()) for run in pair] + list(alone.values()))
    times = {name: [search.measure.value(run.json) if run.json else None for run in runs] for name, runs in confirmed.items()}
    facts = {"best": best.number, "default": search.measure.value(begin.run.json), "value": search.measure.value(best.run.json),
             "confirmed": times, "error_bar": max(error_bar(begin.run), error_bar(best.run)),
             "set_back": {key: {"default": default_of(search.plan, key), "best": best.chosen[key], "words": words_of(run, search.measure),
                                "value": search.measure.value(run.json) if run.json else None} for key, run in alone.items()}}
    facts["chance"] = chance(facts)
    facts["call"] = call(facts)
    return facts


def judged_by(facts):
    """Values of the given and of the best: of the runs that the search has not seen, where there are some."""
    return tuple(facts["confirmed"][name] or [facts[one]] for name, one in (("default", "default"), ("best", "value")))


def chance(facts):
    """The probability that the best is faster, where both medians are off by normal logarithms of their own, as far as the error bar says;
    None where one of them has no number."""
    before, after = judged_by(facts)
    if facts["best"] == 0 or None in before + after:
        return None
    high, low = statistics.median(before), statistics.median(after)
    if not facts["error_bar"]:
        return 1.0 if high - low > REAL_DIFFERENCE * high else 0.5
    return statistics.NormalDist().cdf(math.log(high / low) / (math.sqrt(2) * math.log1p(facts["error_bar"])))


def without(trial, key, plan):
    """Its settings with one choice as it was given, and what was chosen under that one as well."""
    gone = {key} | {choice["key"] for choice in plan["choices"] if choice["when"].get(key) == trial.chosen[key]}
    settings = {name: value for name, value in trial.run.settings.items() if name not in gone}
    return settings | {name: plan["settings"][name] for name in gone if name in plan["settings"]}


def default_of(plan, key):
    return plan["defaults"].get(key, "its own")


def differs(plan, key, value):
    return default_of(plan, key) != value


def error_bar(run):
    bar = run.json.get("error_bar")
    return bar["error"] if bar else 0.0


def words_of(run, measure):
    return measure.words(run.json) if run.json else f"cannot be: {run.refusal}"


def call(facts):
    """"better", "not called" or "nothing is better": by the runs that the search has not seen, where there are some."""
    if facts["best"] == 0:
        return "nothing is better"
    before, after = judged_by(facts)
    if None in after:
        return "not called"
    if None in before:
        return "better" if all(value is None for value in before) else "not called"
    return "better" if max(after) < min(before) and facts["chance"] >= CALLED else "not called"


def gain(before, after):
    """"4.0 times as fast", from seconds."""
    if before is None or after is None:
        return ""
    return f", {before / after:.3g} times as fast" if after > 0 else ""


def summary(plan, search, facts, folder):
    trials = search.trials
    refused = [trial for trial in trials if trial.run.refusal is not None]
    begin, best = trials[0], search.best()
    made = len(trials) < plan["trials"]
    lines = [f"{search.measure.name}, {len(trials)} trials{' (there are no more)' if made else ''} of {len(plan['choices'])} choices",
             f"  default    {search.measure.words(begin.run.json)}",
             f"  best       {search.measure.words(best.run.json)}{gain(facts['default'], facts['value'])} (trial {best.number})"]
    lines += [f"             {key} = {value}{set_back_words(facts, key)}" for key, value in best.chosen.items()]
    if refused:
        lines.append(f"  impossible {len(refused)} of {len(trials)} trials; the first: {refused[0].run.refusal}")
    lines += confirmed_lines(facts)
    if facts["error_bar"]:
        lines.append(f"  error bar  ± {100 * facts['error_bar']:.2g} % of each time, from the cluster's calibration")
    lines.append(f"  verdict    {verdict_words(facts)}")
    lines.append(f"  files      {folder}/; trigram run --config {folder}/best.cfg")
    return "\n".join(lines) + "\n"


def set_back_words(facts, key):
    one = facts["set_back"].get(key)
    return f"   (with {one['default']} in its place: {one['words']})" if one else ""


def confirmed_lines(facts):
    lines = []
    for name in ("default", "best"):
        values = facts["confirmed"][name]
        if values:
            lines.append(f"  {'with other seeds' if name == 'default' else '                '}  {name} {range_words(values)}")
    return lines


def range_words(values):
    arrived = [value for value in values if value is not None]
    if not arrived:
        return f"never in {len(values)} runs"
    text = f"{statistics.median(arrived):.4g} s, {min(arrived):.4g} to {max(arrived):.4g}"
    return text if len(arrived) == len(values) else f"{text}, and never in {len(values) - len(arrived)} of {len(values)} runs"


def verdict_words(facts):
    if facts["call"] == "nothing is better":
        return "nothing is better than what was given"
    if facts["call"] == "not called":
        return f"not called: {chance_words(facts)}"
    before, after = facts["confirmed"]["default"], facts["confirmed"]["best"]
    if not before:
        return "better, by the runs of the search alone (--confirm 0)"
    if None in before:
        return "better: the default never arrives"
    return (f"better{gain(statistics.median(before), statistics.median(after))} by the medians of runs that the search has not seen; "
            f"{chance_words(facts)}")


def chance_words(facts):
    """What seeds and the cluster's error bar leave open."""
    if facts["chance"] is None:
        return "some runs have no number"
    overlap = "" if facts["call"] == "better" else ", and runs of other seeds must not overlap"
    return f"the best is faster with a probability of {100 * facts['chance']:.3g} % by the cluster's error bar{overlap}"
