"""A search by several processes, on machines that share its folder: Optuna's journal storage tells each what the others have
found. It has no server to lose, and whoever is killed costs the trials that he was at, be it in the middle of a line."""

import optuna
from optuna.trial import TrialState

import search
import space
from journal_lock import JournalLock

ENDED = (TrialState.COMPLETE, TrialState.PRUNED)


def journal(path):
    """Optuna's storage in a file, under either of the names that its versions have."""
    try:
        from optuna.storages.journal import JournalFileBackend
    except ImportError:
        from optuna.storages import JournalFileStorage as JournalFileBackend
    return optuna.storages.JournalStorage(JournalFileBackend(str(path), lock_obj=JournalLock(f"{path}.lock")))


class SearchTogether(search.Search):
    """Each batch knows what has ended anywhere. Those who draw the same configuration make it once, or to the same end."""

    def __init__(self, plan, pool, measure, folder):
        self.path = folder / "journal.log"
        super().__init__(plan, pool, measure)

    def new_study(self):
        return optuna.create_study(storage=journal(self.path), study_name="tune", load_if_exists=True)

    def begin(self):
        super().begin()
        self.first = self.trials[0]
        self.read()

    def draw(self, number):
        """Without a seed, which would be the same for all."""
        self.study.sampler = optuna.samplers.TPESampler(multivariate=True, group=True, constant_liar=True)
        return self.new_trials(self.pool.jobs)

    def make(self, batch):
        super().make(batch)
        self.read()

    def add_begin(self, parameters, distributions, value):
        """Once for all of them."""
        if not any(trial.user_attrs.get("begin") for trial in self.study.get_trials(deepcopy=False)):
            self.study.add_trial(optuna.trial.create_trial(params=parameters, distributions=distributions, value=value, user_attrs={"begin": True}))

    def read(self):
        """All trials that have ended, the given configuration first, others as they were drawn, each configuration once."""
        self.trials, known = [self.first], set()
        for ended in self.study.get_trials(deepcopy=False, states=ENDED):
            chosen = ended.user_attrs.get("chosen")
            if chosen is None or tuple(sorted(chosen.items())) in known:
                continue
            known.add(tuple(sorted(chosen.items())))
            run = self.pool.run(self.plan["settings"] | chosen)
            if run.read():
                self.trials.append(search.Trial(len(self.trials), chosen, run))
        self.seen |= known
