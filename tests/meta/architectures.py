#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The strata authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels fit each architecture, with as many blocks per multiprocessor as their tuning row asks for.

Compiles architectures.cu for each architecture. PTX has the launch bounds of each kernel. ptxas reports its registers,
its static shared memory and its spills. Constants of the source have the dynamic shared memory of tuning rows. The
limits of architectures are those of the CUDA programming guide.

    architectures.py --nvcc nvcc --arch 80          prints a table, and what does not fit
    architectures.py --nvcc nvcc --arch 80          a table, and what does not fit
    architectures.py --nvcc nvcc --arch 86 89       PTX of the first, machine code of both, which have the same rows
    architectures.py --self-test
"""

import pathlib
import re
import tempfile

import toolbox

SOURCE = pathlib.Path(__file__).with_name("architectures.cu")

REGISTERS = 65536
STATIC_SHARED = 48 << 10
# Threads, blocks and KiB of shared memory of a multiprocessor, and KiB of shared memory that one block may have.
LIMITS = {75: (1024, 16, 64, 64), 80: (2048, 32, 164, 163), 86: (1536, 16, 100, 99), 87: (1536, 16, 164, 163),
          88: (1536, 16, 100, 99), 89: (1536, 24, 100, 99), 90: (2048, 32, 228, 227), 100: (2048, 32, 228, 227),
          103: (2048, 32, 228, 227), 107: (1024, 16, 228, 227), 110: (1536, 24, 228, 227), 120: (1536, 24, 100, 99),
          121: (1536, 24, 100, 99)}

# Limits on bytes of spill stores per thread: low for most kernels, higher where a measured row for the H200 spills.
MOST_SPILLED = 24
SPILLS = {
    "top_k_kernel": (100, "two blocks of 512 threads have 64 registers; the measured row"),
    "segmented_top_k_warps_kernel": (80, "1,024 threads have 64 registers; the measured row"),
    "segmented_top_k_block_kernel": (1460, "long segments: AgentTopK in a loop over segments"),
    "segmented_top_k_parts_kernel": (224, "two blocks of 512 threads have 64 registers, as of top_k_kernel"),
    "segmented_top_k_groups_kernel": (64, "four blocks of 256 threads have 64 registers; the measured row"),
    "group_first_pass_kernel": (80, "1,024 threads have 64 registers; the measured row"),
    "group_second_pass_kernel": (70, "1,024 threads have 64 registers; the measured row"),
    "segmented_reduce_kernel": (80, "four blocks of 256 threads; the row says what spills cost"),
    "long_segment_count_kernel": (96, "1,024 threads have 64 registers"),
    "segmented_radix_sort_kernel": (240, "three blocks of 256 threads; almost without spills for 4-byte keys"),
    "join_merge_kernel": (168, "four blocks of 256 threads have 64 registers; the measured row, in probe order"),
    "join_partition_kernel": (46, "1,024 threads have 64 registers"),
    "join_merge_write_kernel": (32, "four blocks of 256 threads have 64 registers"),
    "scan_pipeline_kernel": (282, "672 threads have 80 registers for flags that are looked at before their items, 640 "
                                  "have 96 for sums by key; the measured rows"),
    "scan_tile_kernel": (466, "two blocks of 512 threads have 64 registers; the measured row for numbers of 8 bytes"),
    "radix_grid_kernel": (50, "512 threads have 128 registers for 16 pairs of 16 bytes; the measured row"),
    "merge_ranges_kernel": (28, "seven blocks of 256 threads; the measured row"),
    # nvcc 13.5 spills more for 10.7, where nothing was measured.
    (107, "radix_histogram_kernel"): (80, "1,024 threads have 64 registers"),
    (107, "segmented_top_k_parts_kernel"): (240, "two blocks of 512 threads have 64 registers"),
}

# (architecture, kernel) that may miss its row's blocks per multiprocessor, and why.
MISFITS = {
    (75, "top_k_kernel"): "33 KiB of counters: one block where the row wants two",
    (75, "segmented_top_k_warps_kernel"): "65 KiB of lists for 1,024 threads: one block less than the row wants",
    (75, "segmented_top_k_block_kernel"): "33 KiB of counters: one block where the row wants two",
    (75, "segmented_top_k_parts_kernel"): "33 KiB of counters: one block where the row wants two",
    (75, "merge_ranges_kernel"): "two or three blocks where the row wants four",
    (75, "sorted_search_kernel"): "two blocks where the row of merges wants four",
    (75, "long_segments_of_numbers"): "47 KiB of shared memory: one block where the row wants two",
    **{(75, f"{kind}join_{number}_pass"): "such joins take the table in global memory"
       for kind in ("", "wide_") for number in ("only", "first", "second")},
}


class Kernel:
    def __init__(self, name, threads, blocks):
        self.name, self.threads, self.blocks = name, threads, blocks
        self.registers = self.static_shared = self.dynamic_shared = self.spilled = 0


def short_name(mangled):
    """The function's own name. A mangled name begins with namespaces, and the last of these names is the function's."""
    names, rest = [], re.sub(r"^_ZN?", "", mangled)
    while match := re.match(r"(?:S\w?_|L)?(\d+)", rest):
        end = match.end() + int(match.group(1))
        names.append(rest[match.end():end])
        rest = rest[end:]
    return names[-1] if names else mangled


def kernels_of(ptx, messages):
    """The kernels of a PTX text, with the figures that ptxas has reported."""
    kernels = {}
    for match in re.finditer(r"\.entry (\w+)\((.*?)\n\{", ptx, re.DOTALL):
        threads = re.search(r"\.maxntid (\d+)", match.group(2))
        blocks = re.search(r"\.minnctapersm (\d+)", match.group(2))
        kernels[match.group(1)] = Kernel(short_name(match.group(1)), int(threads.group(1)) if threads else 0,
                                         int(blocks.group(1)) if blocks else 1)
    for part in re.split(r"Compiling entry function ", messages)[1:]:
        kernel = kernels[re.match(r"'(\w+)'", part).group(1)]
        used = re.search(r"Used (\d+) registers", part)
        shared = re.search(r"(\d+) bytes smem", part)
        spilled = re.search(r"(\d+) bytes spill stores", part)
        kernel.registers = int(used.group(1))
        kernel.static_shared = int(shared.group(1)) if shared else 0
        kernel.spilled = int(spilled.group(1)) if spilled else 0
    return list(kernels.values())


def shapes_of(ptx):
    """The launch shapes in constants of 16 bytes: 4 bytes of threads, 4 of blocks, and 8 of shared memory."""
    shapes = []
    for name, text in re.findall(r"\.b8 shape_(\w+)\[16\] = \{([\d, ]*)\}", ptx):
        values = bytes(int(value) for value in text.split(",")).ljust(16, b"\0")
        threads, blocks, shared = (int.from_bytes(values[begin:end], "little")
                                   for begin, end in ((0, 4), (4, 8), (8, 16)))
        kernel = Kernel(name, threads, blocks)
        kernel.dynamic_shared = shared
        shapes.append(kernel)
    return shapes


def blocks_by_registers(kernel):
    """The number of blocks for which a multiprocessor has registers. Each of its 4 partitions has a quarter of them,
    and allocates them to a warp in units of 256."""
    of_warp = max(1, -(-kernel.registers * 32 // 256)) * 256
    return REGISTERS // 4 // of_warp * 4 // max(1, -(-kernel.threads // 32))


def misfits(architecture, kernel):
    """Yields what does not fit if this kernel runs on this architecture."""
    threads, blocks, shared, shared_of_block = LIMITS[architecture]
    reserved = (shared - shared_of_block) << 10
    taken = kernel.static_shared + kernel.dynamic_shared
    if kernel.blocks * kernel.threads > threads:
        yield f"{kernel.blocks} blocks of {kernel.threads} threads: there are {threads}"
    if kernel.blocks > blocks:
        yield f"{kernel.blocks} blocks: there are {blocks}"
    if kernel.blocks > blocks_by_registers(kernel):
        yield f"{kernel.blocks} blocks of {kernel.threads} threads with {kernel.registers} registers: there are 65,536"
    if kernel.static_shared > STATIC_SHARED:
        yield f"{kernel.static_shared} bytes of static shared memory: there are 48 KiB"
    if taken > shared_of_block << 10:
        yield f"{taken} bytes of shared memory: a block may have {shared_of_block} KiB"
    elif kernel.blocks * (taken + reserved) > shared << 10:
        yield f"{kernel.blocks} blocks with {taken} bytes of shared memory: there are {shared} KiB"
    most, _ = SPILLS.get((architecture, kernel.name)) or SPILLS.get(kernel.name, (MOST_SPILLED, ""))
    if kernel.spilled > most:
        yield f"{kernel.spilled} bytes are spilled: {most} may be"


def compiled(nvcc, cxx, first, architecture, folder):
    """PTX for the first architecture, and the messages of ptxas for machine code of `architecture`."""
    source = [SOURCE, "-std=c++17", "-I", toolbox.INCLUDE, "--keep", "--keep-dir", folder]
    ptx = pathlib.Path(folder, "architectures.ptx")
    if architecture != first:
        source = [ptx]
    command = [nvcc, "-ccbin", cxx, f"-arch=sm_{architecture}", "-cubin", "-Xptxas=-v", "-Wno-deprecated-gpu-targets",
               *source, "-o", pathlib.Path(folder, "out.cubin")]
    status, output, messages = toolbox.run(command)
    messages = output + messages
    if status != 0 or re.search(r"\b(warning|error)\b", messages):
        toolbox.fail(f"sm_{architecture}: {' '.join(map(str, command))}\n"
                     + "\n".join(line for line in messages.split("\n") if re.search(r"\b(warning|error)\b", line)))
    return ptx.read_text(), messages


# (numbers of a kernel, whether it fits sm_86)
EXAMPLES = [
    (dict(threads=256, blocks=6, registers=40, static_shared=15 << 10), True),
    (dict(threads=256, blocks=7, registers=32), False),
    (dict(threads=1024, blocks=3, registers=32), False),
    (dict(threads=256, blocks=6, registers=41), False),
    (dict(threads=32, blocks=17, registers=16), False),
    (dict(threads=64, blocks=8, registers=128), True),
    (dict(threads=64, blocks=9, registers=128), False),
    (dict(threads=256, blocks=2, registers=40, dynamic_shared=49 << 10), True),
    (dict(threads=256, blocks=2, registers=40, static_shared=16, dynamic_shared=49 << 10), False),
    (dict(threads=256, blocks=1, registers=40, static_shared=(48 << 10) + 16), False),
    (dict(threads=256, blocks=1, registers=40, dynamic_shared=99 << 10), True),
    (dict(threads=256, blocks=1, registers=40, dynamic_shared=(99 << 10) + 16), False),
    (dict(threads=256, blocks=1, registers=40, spilled=MOST_SPILLED), True),
    (dict(threads=256, blocks=1, registers=40, spilled=MOST_SPILLED + 4), False),
]


def self_test():
    for numbers, fits in EXAMPLES:
        kernel = Kernel("example", 0, 0)
        vars(kernel).update(numbers)
        found = list(misfits(86, kernel))
        if (not found) != fits:
            toolbox.fail(f"{numbers}: {found}")
    ptx = (".visible .entry _ZN6strata6detail11some_kernelIiEEvT_(\n\t.param .u32 p\n)\n.maxntid 512, 1, 1\n"
           ".minnctapersm 2\n{\n}\n.const .align 8 .b8 shape_tile[16] = {0, 1, 0, 0, 3, 0, 0, 0, 128, 208};\n")
    messages = ("ptxas info    : Compiling entry function '_ZN6strata6detail11some_kernelIiEEvT_' for 'sm_86'\n"
                "    8 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
                "ptxas info    : Used 64 registers, used 1 barriers, 3200 bytes smem, 424 bytes cmem[0]\n")
    kernel, = kernels_of(ptx, messages)
    shape, = shapes_of(ptx)
    expected = dict(name="some_kernel", threads=512, blocks=2, registers=64, static_shared=3200, dynamic_shared=0,
                    spilled=4)
    if vars(kernel) != expected:
        toolbox.fail(f"{vars(kernel)} is not {expected}")
    if (shape.name, shape.threads, shape.blocks, shape.dynamic_shared) != ("tile", 256, 3, 53376):
        toolbox.fail(f"{vars(shape)}")


def main():
    parser = toolbox.parser(__doc__)
    parser.add_argument("--arch", type=int, nargs="+", choices=sorted(LIMITS))
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        for architecture in arguments.arch:
            ptx, messages = compiled(arguments.nvcc, arguments.cxx, arguments.arch[0], architecture, folder)
            kernels, shapes = kernels_of(ptx, messages), shapes_of(ptx)
            if len(kernels) < 50 or len(shapes) < 30:
                toolbox.fail(f"{len(kernels)} kernels and {len(shapes)} shapes of {SOURCE.name} are found")
            for kernel in kernels + shapes:
                print(f"sm_{architecture} {kernel.name}: {kernel.threads} threads x {kernel.blocks}, "
                      f"{kernel.registers} registers, shared {kernel.static_shared} + {kernel.dynamic_shared}, "
                      f"spilled {kernel.spilled}")
                if (architecture, kernel.name) not in MISFITS:
                    bad += [f"sm_{architecture}, {kernel.name}: {text}" for text in misfits(architecture, kernel)]
    if bad:
        toolbox.fail("\n".join([f"{len(bad)} misfits", *bad]))


if __name__ == "__main__":
    main()
