"""Mutations of SimGrid's platform files: values of attributes, tags, whole elements, bytes."""

import re

from attempt import Attempt
from mutate import mutated
from special import special

HEAD = '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">\n'
CLUSTER = HEAD + '''<cluster id="c" prefix="h" suffix="" radical="0-3" speed="1Gf" bw="12.5GBps" lat="2.5us" sharing_policy="SPLITDUPLEX"/>
</platform>
'''
ZONE = HEAD + '''<zone id="z" routing="Full">
<host id="a" speed="1Gf"/><host id="b" speed="2Gf" core="2"/><host id="c" speed="1Gf"/>
<link id="ab" bandwidth="1GBps" latency="5us"/><link id="ac" bandwidth="1GBps" latency="5us" sharing_policy="SHARED"/>
<link id="bc" bandwidth="125MBps" latency="50us"/>
<route src="a" dst="b"><link_ctn id="ab"/></route>
<route src="a" dst="c"><link_ctn id="ac"/></route>
<route src="b" dst="c"><link_ctn id="bc"/></route>
</zone></platform>
'''
STAR = HEAD + '''<zone id="z" routing="Floyd">
<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><router id="r"/>
<link id="l" bandwidth="1GBps" latency="5us"/><link id="m" bandwidth="1GBps" latency="5us"/>
<route src="a" dst="r"><link_ctn id="l"/></route><route src="b" dst="r"><link_ctn id="m"/></route>
</zone></platform>
'''
VALUES = ["0", "-1", "nan", "inf", "", "x", "1e300Gf", "-1Gf", "0Gf", "1", "nanGf", "-10us", "0GBps", "1e400", "99999999999999", "0-1000000",
          "0-", "3-1", "a", "b", "z", "nowhere", "WIFI", "FATPIPE", "SPLITDUPLEX", "Cluster", "None", "Vivaldi", "Dijkstra", "1Gf,2Gf",
          "&amp;", "0-3,5", "é", "v" * 5000]
ELEMENTS = ['<include file="other.xml"/>', '<host id="a" speed="1Gf"/>', '<link id="w" bandwidth="1GBps" latency="1us" sharing_policy="WIFI"/>',
            '<route src="a" dst="nowhere"><link_ctn id="ab"/></route>', '<route src="a" dst="b"/>', '<host id="lonely" speed="1Gf"/>',
            '<zone id="z2" routing="Full"><host id="d" speed="1Gf"/></zone>', '<zone id="e" routing="None"/>', '<prop id="x" value="y"/>',
            '<config><prop id="network/TCP-gamma" value="x"/></config>', '<config><prop id="no/such" value="1"/></config>',
            '<trace id="t" periodicity="1">0 1</trace>', '<disk id="d" read_bw="1" write_bw="1"/>', '<unknown/>',
            '<!DOCTYPE x [<!ENTITY a "b">]>', '<actor host="a" function="x"/>', '<peer id="p" speed="1Gf" bw_in="1" bw_out="1"/>',
            '<cluster id="big" prefix="g" suffix="" radical="0-100000" speed="1Gf" bw="1GBps" lat="1us"/>',
            '<host id="profile" speed="1Gf" speed_file="no_such_file"/>', '<cabinet id="cab" prefix="p" suffix="" radical="1-2" speed="1Gf" bw="1" lat="1"/>']


def attempt(random, index, catalogue, scratch):
    path = scratch.place / "mine.xml"
    if random.random() < 0.03:
        special(random, path)
    else:
        path.write_bytes(spoiled(random, random.choice([CLUSTER, ZONE, STAR])))
    words = ["run", "--backend=sim", f"--ranks={random.choice([1, 2, 2, 2, 3])}", "--steps=2",
             "--workload=quadratic:dimension=16", "--out=out/made", "--cluster", ""]
    words[1] = "--backend=sim:platform=mine.xml" + random.choice(["", "", ",fidelity=fluid", ",ranks_per_node=2"])
    if random.random() < 0.2:
        words = ["bench", words[1], words[2], "--cluster", "", "--max-size=8KiB"]
        return Attempt(words, [], ["mine.xml"])
    return Attempt(words, [], ["mine.xml"], writes="out/made/run.json")


def spoiled(random, text):
    action = random.random()
    if action < 0.45:
        found = list(re.finditer(r'="([^"]*)"', text[len(HEAD):]))
        one = random.choice(found)
        begin, end = one.start(1) + len(HEAD), one.end(1) + len(HEAD)
        return (text[:begin] + random.choice(VALUES) + text[end:]).encode()
    if action < 0.7:
        places = [match.end() for match in re.finditer(">", text)]
        at = random.choice(places)
        return (text[:at] + random.choice(ELEMENTS) + text[at:]).encode()
    if action < 0.85:
        elements = list(re.finditer(r"<[a-z_]+[^>]*/>", text))
        one = random.choice(elements)
        return (text[:one.start()] + text[one.end():]).encode()
    return mutated(random, text.encode())
