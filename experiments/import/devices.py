"""Peaks of GPUs in f32 and of their memory, by the names that drivers give them. From NVIDIA's data sheets of each."""

# name within the driver's: TFLOPS in f32, GB/s of memory
PEAKS = {
    "H200": (67, 4800), "H100 NVL": (60, 3900), "H100 PCIe": (51, 2000), "H100": (67, 3350), "A100-SXM4-80GB": (19.5, 2039), "A100-SXM-80GB": (19.5, 2039),
    "A100 80GB": (19.5, 1935), "A100": (19.5, 1555), "V100-SXM2": (15.7, 900), "V100-PCIE": (14, 900), "V100": (15.7, 900), "P100": (10.6, 732),
    "L40S": (91.6, 864), "L4": (30.3, 300), "A10G": (31.2, 600), "A10": (31.2, 600), "T4": (8.1, 320), "RTX 4090": (82.6, 1008), "RTX 3090": (35.6, 936),
}


def peaks_of(name):
    """(TFLOPS, GB/s), or None for a device that is not in the table."""
    return next((peaks for known, peaks in PEAKS.items() if known in name), None)
