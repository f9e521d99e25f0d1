"""NCCL's topology of a node in XML (NCCL_TOPO_DUMP_FILE): the GPUs, links and NICs of a cluster's nodes."""

import xml.etree.ElementTree

from imported import Imported, bits_a_second, bytes_a_second
from unusable import Unusable

# GB/s of one NVLink, one way, by compute capability: NVIDIA's data sheets.
NVLINK = {60: 20, 61: 20, 70: 25, 80: 25, 86: 14.06, 89: 14.06, 90: 25, 100: 50, 103: 50}
TRANSFERS = {"2.5": 0.25, "5": 0.5, "5.0": 0.5, "8": 0.985, "8.0": 0.985, "16": 1.969, "16.0": 1.969, "32": 3.938, "32.0": 3.938, "64": 7.563,
             "64.0": 7.563}  # GB/s of a PCIe lane by its GT/s, coding taken off


def imported(paths, given):
    if len(paths) != 1:
        raise Unusable(f"{len(paths)} files were given; a cluster has nodes of one kind: give the XML of one")
    [path] = paths
    root = parsed(path)
    gpus, nics = root.findall(".//gpu"), [one for one in root.findall(".//net") if int(one.get("speed", 0)) > 0]
    if not gpus:
        raise Unusable(f"'{path}' has no gpu; NCCL leaves its topology where NCCL_TOPO_DUMP_FILE says, in a job that uses GPUs")
    result = Imported(summary="From NCCL's topology of one node.")
    result.cluster["gpus_per_node"] = (len(gpus), f"gpu elements of {path}")
    take_links(result, path, root, gpus)
    take_nics(result, path, nics, len(gpus))
    result.unknown += ["how many nodes there are, unless --cluster says: the program's default is 2", "latencies, which `trigram calibrate` or nccl-tests measure",
                       "what payload reaches of these figures of data sheets: 0.76 to 0.82 of NVLink's, as measured elsewhere"]
    return result


def parsed(path):
    try:
        root = xml.etree.ElementTree.parse(path).getroot()
    except OSError as error:
        raise Unusable(f"cannot read '{path}': {error.strerror}") from error
    except xml.etree.ElementTree.ParseError as error:
        raise Unusable(f"'{path}' is no whole XML: {error}") from error
    if root.tag != "system":
        raise Unusable(f"'{path}' is XML, but no topology of NCCL: it begins with <{root.tag}>, and that with <system>")
    return root


def take_links(result, path, root, gpus):
    links = [sum(int(one.get("count", 0)) for one in gpu.findall("nvlink")) for gpu in gpus]
    capability = int(gpus[0].get("sm", 0))
    if min(links) > 0 and capability in NVLINK:
        rate = min(links) * NVLINK[capability] * 1e9
        source = f"{min(links)} NVLinks of {NVLINK[capability]} GB/s of each GPU, compute capability {capability / 10}"
    else:
        rate, source = min((pcie(one) for one in root.findall(".//pci") if one.find("gpu") is not None), default=(0, ""))
    if rate:
        result.cluster["node_bandwidth"] = (bytes_a_second(rate), source)
        result.took.append(f"'{path}': {len(gpus)} GPUs, {source}")
    else:
        result.unknown.append("what links inside the node give: neither NVLinks of a known generation nor link_speed and link_width of PCIe")


def pcie(element):
    """(bytes a second, where it is from) of a PCIe device."""
    lanes, speed = int(element.get("link_width", 0) or 0), element.get("link_speed", "").split(" ")[0]
    return lanes * TRANSFERS.get(speed, 0) * 1e9, f"PCIe of {speed} GT/s, {lanes} lanes"


def take_nics(result, path, nics, gpus):
    if not nics:
        result.unknown.append("the NICs: the file has none with a speed")
        return
    speeds = [int(one.get("speed")) * 1e6 for one in nics]
    own = len(nics) == gpus
    result.cluster["nic"] = ("gpu" if own else "node", f"{len(nics)} NICs for {gpus} GPUs")
    result.cluster["nic_bandwidth"] = (bits_a_second(min(speeds) if own else sum(speeds)), "speed of its NICs in the file" + ("" if own else ", all of them together"))
    result.took.append(f"'{path}': {len(nics)} NICs")
