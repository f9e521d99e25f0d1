"""The figures of `trigram report` that a reader explores, in headless Chromium: what they say is what the files hold, by mouse and by
keyboard; nothing is asked of any server; the page fits a phone, and paper. Ends with 77 where plotly, Selenium or Chromium is missing."""

import base64
import csv
import importlib.util
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.environ["TRIGRAM_PROGRAM"]
MOST_BYTES = 6e6
GRID = """
[study]
title = A grid
[run]
cluster = bagua_v100
fidelity = fluid
steps = 2
[sweep]
cluster.nic_bandwidth = 100Gbps 1Gbps 10Gbps
cluster.nic_latency = 10us 5000us
ranks = 16 64
workload = vgg16 resnet50
[row.all_reduce]
algorithm = all_reduce
[row.bytegrad]
algorithm = bytegrad
[row.d_psgd]
algorithm = d_psgd
[measure]
value = summary.iteration_s
label = seconds an iteration
"""
LEARNING = """
[study]
title = Seeds
[run]
workload = softmax
steps = 40
evaluate-every = 10
[sweep]
workload = softmax
seed = 1 2 3
[row.all_reduce]
algorithm = all_reduce
[row.local_sgd]
algorithm = local_sgd:every=10
[measure]
value = summary.loss
label = loss
"""
ARROW_LEFT, ARROW_RIGHT, SPACE = "\ue012", "\ue014", "\ue00d"


def browser():
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    options = webdriver.ChromeOptions()
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(flag)
    options.binary_location = shutil.which("chromium")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    return webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)


def shown(value):
    """As the page shows a number: four digits, and neither an exponent nor zeros behind them."""
    return f"{float(f'{value:.4g}'):.12f}".rstrip("0").rstrip(".")


class Explored(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.place = pathlib.Path(cls.scratch.name)
        cls.browser = browser()
        cls.addClassCleanup(cls.browser.quit)

    def trigram(self, *words):
        subprocess.run([PROGRAM, *words], cwd=self.place, check=True, capture_output=True)

    def open(self, folder, width=1280):
        """The page in a window of so many pixels, once its figures are drawn, and its size."""
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": width < 500})
        path = self.place / folder / "report.html"
        self.browser.get(path.as_uri())
        self.wait(lambda: self.script("return document.documentElement.dataset.drawn"), "the figures are not drawn")
        self.assertEqual(self.browser.get_log("browser"), [], "errors in the console")
        self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), width, "the page is wider than its window")
        self.assertLess(path.stat().st_size, MOST_BYTES)

    def wait(self, condition, otherwise):
        for _ in range(1200):
            if condition():
                return
            time.sleep(0.05)
        self.fail(otherwise)

    def script(self, text, *arguments):
        return self.browser.execute_script(text, *arguments)

    def find(self, selector):
        return self.browser.find_elements("css selector", selector)

    def section(self, title):
        number = [one.text for one in self.find("section h2")].index(title)
        return f"#figure_{number}"

    def table(self, section):
        """The rows that a figure says, without the line above them."""
        return [[cell.text for cell in row.find_elements("tag name", "td")] for row in self.find(f"{section} .readout tr")][1:]

    def slider(self, section, label):
        return self.find(f"{section} input[aria-label='{label}']")[0]

    def move_to(self, section, label, text):
        slider = self.slider(section, label)
        for key in (ARROW_LEFT, ARROW_RIGHT):
            for _ in range(10):
                if slider.get_attribute("aria-valuetext") == text:
                    return
                slider.send_keys(key)
        self.assertEqual(slider.get_attribute("aria-valuetext"), text)

    def make_grid(self):
        if (self.place / "grid").exists():
            return
        (self.place / "grid.cfg").write_text(GRID)
        self.trigram("study", "grid.cfg", "--out=grid", "--plot=off")
        self.trigram("report", "grid")

    def error(self, row, **place):
        """How far off the calibration says that the measure of a row may be there."""
        with open(self.place / "grid" / "runs.csv", newline="") as file:
            folder = next(run["folder"] for run in csv.DictReader(file) if run["row"] == row and all(run[key] == value for key, value in place.items()))
        return json.loads((self.place / "grid" / folder / "run.json").read_text())["error_bar"]["error"]

    def times(self, **place):
        """The measure of each row at a place, fastest first, from runs.csv."""
        with open(self.place / "grid" / "runs.csv", newline="") as file:
            found = {row["row"]: float(row["measure"]) for row in csv.DictReader(file) if all(row[key] == value for key, value in place.items())}
        return sorted(found.items(), key=lambda one: one[1])

    def test_a_grid_says_what_was_measured_at_each_place_that_sliders_choose(self):
        self.make_grid()
        self.open("grid")
        section = self.section("Which is fastest where")
        for bandwidth, latency, ranks, workload in (("1Gbps", "10us", "16", "vgg16"), ("100Gbps", "5000us", "64", "resnet50")):
            for label, text in (("nic_bandwidth", bandwidth), ("nic_latency", latency), ("ranks", ranks), ("workload", workload)):
                self.move_to(section, label, text)
            place = {"cluster.nic_bandwidth": bandwidth, "cluster.nic_latency": latency, "ranks": ranks, "workload": workload}
            expected = self.times(**place)
            against = dict(expected)["all_reduce"]
            rows = self.table(section)
            self.assertEqual([row[:2] for row in rows], [[name, shown(time)] for name, time in expected])
            self.assertEqual([row[3] for row in rows], [shown(against / time) + "x" for _, time in expected])
            (fastest, least), *others = expected
            deviation = {name: math.log1p(self.error(name, **place)) for name, _ in expected}
            chances = [statistics.NormalDist(0, math.hypot(deviation[name], deviation[fastest])).cdf(math.log(time / least)) for name, time in others]
            self.assertEqual([row[4] for row in rows], ["fastest", *("" if chance >= 0.9 else "slower with less than 90 %" for chance in chances)])

    def test_a_click_on_the_map_chooses_its_place(self):
        from selenium.webdriver import ActionChains
        self.make_grid()
        self.open("grid")
        section = self.section("Which is fastest where")
        chart = self.find(f"{section} .chart .nsewdrag")[0]
        size = chart.size
        ActionChains(self.browser).move_to_element_with_offset(chart, size["width"] * 0.45, -size["height"] * 0.4).click().perform()
        self.wait(lambda: self.slider(section, "nic_bandwidth").get_attribute("aria-valuetext") == "100Gbps", "the click chose no bandwidth")
        self.assertEqual(self.slider(section, "nic_latency").get_attribute("aria-valuetext"), "5000us")

    def test_the_map_names_the_fastest_of_every_cell(self):
        self.make_grid()
        self.open("grid")
        section = self.section("Which is fastest where")
        for label, text in (("ranks", "16"), ("workload", "vgg16")):
            self.move_to(section, label, text)
        drawn = self.script("const {x, y, text} = document.querySelector(arguments[0]).data[0]; return {x, y, text};", f"{section} .chart")
        self.assertEqual(drawn["x"], ["1Gbps", "10Gbps", "100Gbps"], "bandwidths in the order of their numbers")
        for latency, line in zip(drawn["y"], drawn["text"]):
            for bandwidth, text in zip(drawn["x"], line):
                name, time = self.times(**{"cluster.nic_bandwidth": bandwidth, "cluster.nic_latency": latency, "ranks": "16", "workload": "vgg16"})[0]
                self.assertTrue(text.startswith(f"{name}: {shown(time)}"), f"{text} at {bandwidth}, {latency}")

    def test_curves_are_medians_and_ranges_over_seeds_and_are_switched_by_keys(self):
        (self.place / "learning.cfg").write_text(LEARNING)
        self.trigram("study", "learning.cfg", "--out=learning", "--plot=off")
        self.trigram("report", "learning")
        self.open("learning")
        section = self.section("Learning curves, workload = softmax")
        rows = {row[0]: row[1:] for row in self.table(section)}
        for name in ("all_reduce", "local_sgd"):
            losses = [json.loads(path.read_text())["curve"][-1]["loss"] for path in self.place.glob(f"learning/runs/*{name}*/run.json")]
            self.assertEqual(len(losses), 3)
            self.assertEqual(rows[name], ["40", shown(statistics.median(losses)), f"{shown(min(losses))} to {shown(max(losses))}"])
        self.find(f"{section} fieldset input")[0].send_keys(SPACE)
        self.assertEqual([row[0] for row in self.table(section)], ["local_sgd"])
        traces = "return document.querySelector(arguments[0]).data.length"
        self.assertEqual(self.script(traces, f"{section} .chart"), 2, "a band and its median")
        self.find(f"{section} .controls input")[0].send_keys(SPACE)
        self.assertEqual(self.script(traces, f"{section} .chart"), 1, "the median alone")

    def test_a_timeline_adds_up_to_the_trace(self):
        self.trigram("run", "--workload=mlp", "--algorithm=local_sgd:every=2", "--steps=4", "--evaluate-every=2", "--trace=on", "--out=run")
        self.trigram("report", "run")
        self.open("run")
        section = self.section("A step's timeline")
        self.move_to(section, "step", "2")
        with open(self.place / "run" / "steps.csv", newline="") as file:
            ends = [float(row["time_s"]) for row in csv.DictReader(file) if row["rank"] == "0"]
        sums = {}
        for event in json.loads((self.place / "run" / "trace.json").read_text())["traceEvents"]:
            if event["ph"] == "X" and ends[0] <= round(event["ts"] * 1e-6, 9) < ends[1]:
                sums.setdefault(event["name"], []).append(event["dur"] * 1e-6)
        self.assertIn("all_reduce", sums)
        self.assertEqual({row[0]: row[2] for row in self.table(section)}, {name: str(len(some)) for name, some in sums.items()})
        for name, _, _, seconds in self.table(section):
            self.assertAlmostEqual(float(seconds) / sum(sums[name]), 1, delta=1e-3)

    def test_an_advice_shows_the_methods_that_are_still_considered(self):
        told = subprocess.run([PROGRAM, "advise", "--workload=vgg16", "--cluster=bagua_v100:nic_bandwidth=10Gbps", "--methods=bytegrad,d_psgd,qsgd",
                               "--uncertainty=16", "--html=advice/report.html"], cwd=self.place, capture_output=True, text=True)
        self.assertIn("there is no folder", told.stderr)
        (self.place / "advice").mkdir()
        told = subprocess.run([*told.args], cwd=self.place, capture_output=True, text=True)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.open("advice")
        section = self.section("A step with each method")
        rows = [line.split() for line in told.stdout.split("\n\n")[1].splitlines()[2:] if line]
        printed = {words[0]: words[1:4] for words in rows if words[0] in ("all_reduce", "bytegrad", "d_psgd", "qsgd")}
        self.assertEqual(len(printed), 4)
        for name, milliseconds, _, gain, chance, *_ in self.table(section):
            self.assertAlmostEqual(float(milliseconds) / float(printed[name][0]), 1, delta=1e-3)
            if name != "all_reduce":
                self.assertAlmostEqual(float(gain.rstrip("x")) / float(printed[name][1].rstrip("x")), 1, delta=1e-2)
                self.assertEqual(chance.split()[0], printed[name][2])
        self.find(f"{section} fieldset input")[[one.text for one in self.find(f"{section} fieldset label")].index("low precision")].send_keys(SPACE)
        self.assertEqual({row[0] for row in self.table(section)}, {"all_reduce", "d_psgd"})
        self.assertIn("trigram advise", self.find("pre")[-1].text)

    def test_it_asks_nobody_fits_a_phone_turns_dark_and_prints_without_controls(self):
        self.make_grid()
        self.browser.get_log("performance")
        self.open("grid", width=390)
        asked = [json.loads(entry["message"])["message"] for entry in self.browser.get_log("performance")]
        addresses = {one["params"]["request"]["url"] for one in asked if one["method"] == "Network.requestWillBeSent"}
        own = (self.place / "grid" / "report.html").as_uri()
        self.assertEqual({address for address in addresses if not address.startswith(("data:", "blob:"))}, {own})
        ground = "return getComputedStyle(document.body).backgroundColor"
        light = self.script(ground)
        self.find("#theme")[0].send_keys(SPACE)
        self.assertNotEqual(self.script(ground), light)
        chart = "return document.querySelector('.chart').layout.paper_bgcolor"
        self.wait(lambda: self.script(chart) == "#15181c", "the charts stayed light")
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        self.addCleanup(self.browser.execute_cdp_cmd, "Emulation.setEmulatedMedia", {"media": ""})
        self.assertFalse(any(one.is_displayed() for one in self.find(".explored")))
        self.assertTrue(all(one.is_displayed() for one in self.find("figure img")))
        paper = base64.b64decode(self.browser.execute_cdp_cmd("Page.printToPDF", {})["data"])
        self.assertTrue(paper.startswith(b"%PDF"))
        self.assertTrue(self.script("return Array.from(document.querySelectorAll('figure img')).every(one => one.complete && one.naturalWidth > 0)"))


if __name__ == "__main__":
    if not (shutil.which("chromium") and shutil.which("chromedriver")) or \
            any(importlib.util.find_spec(module) is None for module in ("jinja2", "matplotlib", "plotly", "selenium")):
        sys.exit(77)
    unittest.main()
