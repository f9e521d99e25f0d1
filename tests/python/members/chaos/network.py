"""Network namespaces, one a member, that two bridges connect. All is the calling process's own, as it then is itself, and goes with it:
nothing has a name that others see. Needs the rights of root."""

import ctypes
import os
import subprocess

LIBC = ctypes.CDLL(None, use_errno=True)
NEW_MOUNTS, NEW_NETWORK = 0x00020000, 0x40000000
SLOW = "rate 300kbit burst 2kb limit 100kb"


def call(function, *words):
    if getattr(LIBC, function)(*words) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{function}: {os.strerror(error)}")


def run(tool, *lines):
    """Of ip or tc."""
    subprocess.run([tool, "-batch", "-"], input="\n".join(lines), text=True, check=True, capture_output=True)


def are_allowed():
    """Whether this process may make namespaces."""
    return subprocess.run(["unshare", "--net", "--mount", "ip", "link", "add", "bridge0", "type", "bridge"], capture_output=True,
                          check=False).returncode == 0


def leave_the_hosts():
    """Mounts and networks that this process makes from now on are its own."""
    call("unshare", NEW_MOUNTS | NEW_NETWORK)
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)


def card(place):
    """Who has which is told beforehand: what hosts would learn of it counts in one table of the whole machine, which fills up."""
    return f"02:00:00:00:00:{place:02x}"


class Network:
    """So many places for members. The link of a place can be cut, slowed, and moved to the other bridge."""

    def __init__(self, places):
        own = os.open("/proc/self/ns/net", os.O_RDONLY)
        self._spaces = []
        for _ in range(places):
            call("unshare", NEW_NETWORK)
            self._spaces.append(os.open("/proc/self/ns/net", os.O_RDONLY))
        call("setns", own, 0)
        run("ip", "link set lo up", *(word for side in (0, 1) for word in (f"link add name bridge{side} type bridge", f"link set bridge{side} up")))
        run("ip", *(f"link add port{place} type veth peer name eth0 address {card(place)} netns /proc/{os.getpid()}/fd/{space}"
                    for place, space in enumerate(self._spaces)))
        for place, space in enumerate(self._spaces):
            call("setns", space, 0)
            run("ip", f"addr add {self.address(place)}/24 dev eth0", "link set eth0 up", "link set lo up",
                *(f"neigh add {self.address(one)} lladdr {card(one)} dev eth0" for one in range(places) if one != place))
        call("setns", own, 0)
        self.heal(range(places))

    @staticmethod
    def address(place):
        return f"10.77.0.{place + 1}"

    def enter(self, place):
        """The calling process is there from now on."""
        call("setns", self._spaces[place], 0)

    def cut(self, places):
        """None of them reaches anybody."""
        run("ip", *(f"link set port{place} down" for place in places))

    def part(self, places):
        """They reach each other, and nobody else."""
        run("ip", *(f"link set port{place} master bridge1" for place in places))

    def slow(self, places):
        run("tc", *(f"qdisc replace dev port{place} root tbf {SLOW}" for place in places))

    def heal(self, places):
        run("ip", *(f"link set port{place} up master bridge0" for place in places))
        for place in places:
            subprocess.run(["tc", "qdisc", "delete", "dev", f"port{place}", "root"], check=False, capture_output=True)
