"""The search: batches of trials by Optuna's tree-structured Parzen estimator. Nothing is random but the seed: each batch is
drawn from the seed, its own number and the trials before it, so that neither the number of runs at a time nor where a
search was stopped changes what is tried."""

import sys
import warnings

import optuna
from optuna.trial import TrialState

import runs
import space

DRAWS = 20  # of one trial that is none of those before


class Trial:
    """One configuration that was tried: what was chosen, and its run."""

    def __init__(self, number, chosen, run):
        self.number, self.chosen, self.run = number, chosen, run


class Search:
    def __init__(self, plan, pool, measure):
        self.plan, self.pool, self.measure = plan, pool, measure
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        self.study = self.new_study()
        self.trials = []
        self.seen = set()

    def new_study(self):
        return optuna.create_study()

    def tried(self):
        """Yields all trials after each batch, the configuration that was given first. Raises Refused where that cannot be."""
        self.begin()
        yield self.trials
        number = 0
        while len(self.trials) < self.plan["trials"] and (batch := self.draw(number)):
            self.make(batch)
            yield self.trials
            number += 1

    def begin(self):
        trial = Trial(0, {}, self.pool.run(self.plan["settings"]))
        self.pool.make([trial.run])
        if trial.run.refusal is not None:
            trial.run.remove()
            raise runs.Refused(trial.run.refusal)
        self.keep(trial)
        known = space.begin_of(self.plan["choices"], self.plan["defaults"])
        if known is not None:
            parameters, distributions = known
            self.add_begin(parameters, distributions, self.measure.order(trial.run.json))
            self.seen.add(tuple(sorted(space.chosen(optuna.trial.FixedTrial(parameters), self.plan["choices"]).items())))

    def add_begin(self, parameters, distributions, value):
        self.study.add_trial(optuna.trial.create_trial(params=parameters, distributions=distributions, value=value))

    def draw(self, number):
        """The trials of one batch; none where draws find nothing new."""
        self.study.sampler = optuna.samplers.TPESampler(seed=(self.plan["seed"] * 1_000_003 + number) % 2**32, multivariate=True,
                                                        group=True, constant_liar=True)
        return self.new_trials(self.plan["batch"])

    def new_trials(self, most):
        batch = []
        for _ in range(min(most, self.plan["trials"] - len(self.trials))):
            for _ in range(DRAWS):
                asked = self.study.ask()
                chosen = space.chosen(asked, self.plan["choices"])
                if self.is_new(chosen):
                    asked.set_user_attr("chosen", chosen)
                    run = self.pool.run(self.plan["settings"] | chosen)
                    batch.append((asked, Trial(len(self.trials) + len(batch), chosen, run)))
                    break
                self.study.tell(asked, state=TrialState.FAIL)
        return batch

    def is_new(self, chosen):
        key = tuple(sorted(chosen.items()))
        is_new = key not in self.seen
        self.seen.add(key)
        return is_new

    def make(self, batch):
        self.pool.make([trial.run for _, trial in batch])
        for asked, trial in batch:
            self.tell(asked, trial)

    def tell(self, asked, trial):
        if trial.run.refusal is not None:
            self.study.tell(asked, state=TrialState.PRUNED)
        else:
            self.study.tell(asked, self.measure.order(trial.run.json))
        self.keep(trial)

    def keep(self, trial):
        self.trials.append(trial)

    def best(self):
        made = [trial for trial in self.trials if trial.run.json is not None]
        return min(made, key=lambda trial: self.measure.order(trial.run.json))


def show(trials, plan, best):
    """How far it is, on standard error."""
    line = f"trigram: {len(trials)} of {plan['trials']} trials, best {best}"
    print(f"\r\033[K{line}" if sys.stderr.isatty() else line, end="" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)
