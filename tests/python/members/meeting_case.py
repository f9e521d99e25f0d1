"""Processes that meet, as threads of one."""

import socket

from trigram.members.checkpoints import Checkpoints
from trigram.members.folder import Folder
from trigram.members.lines import Answers
from trigram.members.meeting import Meeting, Rules

SILENCE = 0.5


class Process:
    """One that meets others, without training."""

    def __init__(self, folder, name, number=0, **rules):
        self.name, self.folder = name, Folder(folder)
        self.rules = Rules(heartbeat=SILENCE / 2, patience=20, **rules)
        self.answers = Answers("127.0.0.1", self.folder.secret, lambda _: name)
        self.meeting = self.meeting_in(self.folder)
        self.told = {"name": name, "address": list(self.answers.address), "wish": 0, "number": number}

    def meeting_in(self, folder):
        return Meeting(folder, self.name, self.rules, Checkpoints(self.folder))


def silent(test):
    """The address of one that takes calls and says nothing, as where a network is cut."""
    listener = socket.create_server(("127.0.0.1", 0))
    test.addCleanup(listener.close)
    return list(listener.getsockname())
