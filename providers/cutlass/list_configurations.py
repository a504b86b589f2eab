#!/usr/bin/env python3
"""Lists CUTLASS's stock configurations as a table (table.h says how it is read).

  list_configurations.py PACKAGE_DIR [--level default|max] > configurations.txt
  list_configurations.py PACKAGE_DIR --level sm80 > configurations_sm80.txt

PACKAGE_DIR is the folder that holds cutlass_library: where the package nvidia-cutlass is installed
or unpacked, or python/ of CUTLASS itself. Only its generator is run; nothing is compiled.
"""

import argparse
import contextlib
import logging
import os
import re
import sys

CUDA = "13.0.0"  # What the generator is told; it lists more from 12.0, and nothing new since 12.3.


def operations(level):
    """Dense GEMMs on f16 and bf16, as the generator makes them: of Hopper, or (sm80) of Ampere."""
    from cutlass_library import generator, library, manifest

    architecture = "80" if level == "sm80" else "90a"
    words = ["--operations", "gemm", "--architectures", architecture, "--cuda-version", CUDA]
    words += ["--kernels", "all", "--build-dir", ".", "--curr-build-dir", "."]
    if level == "max":
        words += ["--instantiation-level", "max"]
    listed = manifest.Manifest(generator.define_parser().parse_args(words))
    kind = library.GemmKind.Universal3x
    if level == "sm80":
        generator.GenerateSM80_TensorOp_16816(listed, CUDA)
        kind = library.GemmKind.Universal
    else:
        # The two of GenerateSM90 that make such: all of it takes minutes at the largest level.
        generator.GenerateSM90_TensorOp_16b_WGMMA_gemm(listed, CUDA)
        generator.GenerateSM90_TensorOp_16b_WGMMA_alignx_gemm(listed, CUDA)

    def walk(entry):
        if isinstance(entry, dict):
            entry = list(entry.values())
        if isinstance(entry, list):
            for part in entry:
                yield from walk(part)
        else:
            yield entry

    halves = (library.DataType.f16, library.DataType.bf16)
    for operation in walk(listed.operations):
        if getattr(operation, "gemm_kind", None) == kind and operation.A.element in halves:
            yield operation


SCHEDULES = {
    "ScheduleAuto": "auto",
    "TmaWarpSpecialized": "tma",
    "TmaWarpSpecializedPingpong": "pingpong",
    "TmaWarpSpecializedCooperative": "cooperative",
    "CpAsyncWarpSpecialized": "cpasync",
    "CpAsyncWarpSpecializedCooperative": "cpasync_cooperative",
}
EPILOGUES = {
    "ScheduleAuto": "auto",
    "NoSmemWarpSpecialized": "direct",
    "TmaWarpSpecialized": "tma",
    "TmaWarpSpecializedCooperative": "tma",
}
SCHEDULERS = {"Default": "persistent", "StreamK": "stream_k"}
LAYOUTS = {"RowMajor": "t", "ColumnMajor": "n"}


def design_of(operation):
    tile = operation.tile_description
    shape = operation.get_collective_tile_shape()
    if tile.cluster_shape[2] != 1:
        raise ValueError(f"{operation.procedural_name()}: a cluster along k")
    schedule, epilogue = operation.kernel_schedule.name, operation.epilogue_schedule.name
    if "Tma" in epilogue and schedule.endswith("Cooperative") != epilogue.endswith("Cooperative"):
        raise ValueError(f"{operation.procedural_name()}: an epilogue of another schedule")
    return (*shape, *tile.cluster_shape[:2], tile.stages, SCHEDULES[schedule],
            EPILOGUES[epilogue], SCHEDULERS[operation.tile_scheduler.name])


def group_of(operation):
    a, b, c, d = operation.A, operation.B, operation.C, operation.D
    if b.element != a.element or operation.element_epilogue != operation.accumulator_type():
        raise ValueError(f"{operation.procedural_name()}: a mixture of types")
    if LAYOUTS[c.layout.name] != "n" or LAYOUTS[d.layout.name] != "n":
        raise ValueError(f"{operation.procedural_name()}: D is not column-major")
    if a.alignment != b.alignment or c.alignment != d.alignment:
        raise ValueError(f"{operation.procedural_name()}: a mixture of alignments")
    return (a.element.name, c.element.name, d.element.name, operation.accumulator_type().name,
            LAYOUTS[a.layout.name], LAYOUTS[b.layout.name], a.alignment, d.alignment)


def design_of_sm80(operation):
    tile = operation.tile_description
    if tile.warp_count[2] != 1:
        raise ValueError(f"{operation.procedural_name()}: warps along k")
    return (*tile.threadblock_shape, *tile.warp_count[:2], tile.stages)


def group_of_sm80(operation):
    """The kernel that is launched: its D is row-major, that of the operation's name its transpose."""
    a, b, c = operation.A, operation.B, operation.C
    sums = operation.accumulator_type()
    if b.element != a.element or operation.element_epilogue != sums:
        raise ValueError(f"{operation.procedural_name()}: a mixture of types")
    if LAYOUTS[c.layout.name] != "n" or a.alignment != b.alignment or a.alignment < c.alignment:
        raise ValueError(f"{operation.procedural_name()}: not as the others")
    turned = {"t": "n", "n": "t"}
    # 16 bytes at once are the most that a thread stores.
    out = min(c.alignment, 4 if c.element.name == "f32" else 8)
    return (a.element.name, c.element.name, c.element.name, sums.name,
            turned[LAYOUTS[b.layout.name]], turned[LAYOUTS[a.layout.name]], a.alignment, out)


def ranges(numbers):
    """0 1 2 5 as 0-2,5."""
    parts = []
    for number in numbers:
        if parts and parts[-1][1] + 1 == number:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def table(level, version):
    group, design = (group_of_sm80, design_of_sm80) if level == "sm80" else (group_of, design_of)
    groups = {}
    for operation in operations(level):
        groups.setdefault(group(operation), []).append(design(operation))
    # Numbered in the order of their values, so that neighbours in a list are neighbours in numbers.
    numbers = {design: i for i, design in enumerate(sorted({d for g in groups.values() for d in g}))}
    lists, lines = {}, []
    for operands, designs in sorted(groups.items(), key=lambda item: (-item[0][6], item[0])):
        taken = ranges(sorted(numbers[design] for design in designs))
        if len(set(designs)) != len(designs):
            raise ValueError(f"{operands}: a configuration twice")
        lists.setdefault(taken, len(lists))
        lines.append(f"g {' '.join(map(str, operands))} {lists[taken]}")
    count = sum(len(designs) for designs in groups.values())
    yield f"assay-cutlass-table 1 nvidia-cutlass {version} {level} {count}"
    yield "# Made by list_configurations.py; do not edit."
    if level == "sm80":
        yield "# m TILE_M TILE_N TILE_K WARPS_M WARPS_N STAGES; D is row-major"
    else:
        yield "# d TILE_M TILE_N TILE_K CLUSTER_M CLUSTER_N STAGES(0: as many as fit) SCHEDULE EPILOGUE SCHEDULER"
    for numbered in numbers:
        yield ("m " if level == "sm80" else "d ") + " ".join(map(str, numbered))
    yield "# l DESIGNS, by number"
    for taken in lists:
        yield f"l {taken}"
    yield "# g A_AND_B C D ACCUMULATE LAYOUT_A LAYOUT_B ALIGNMENT_A_B ALIGNMENT_C_D LIST"
    yield from lines


def version_of(package):
    """Of the headers beside the generator: in the package, or in CUTLASS itself."""
    for include in ("cutlass_library/source/include", "../include"):
        with contextlib.suppress(OSError):
            with open(os.path.join(package, include, "cutlass/version.h")) as header:
                parts = dict(re.findall(r"#define CUTLASS_(MAJOR|MINOR|PATCH)\s+(\d+)", header.read()))
            return ".".join(parts[part] for part in ("MAJOR", "MINOR", "PATCH"))
    return "unknown"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package", help="The folder that holds cutlass_library")
    parser.add_argument("--level", choices=("default", "max", "sm80"), default="default")
    options = parser.parse_args()
    sys.path.insert(0, options.package)
    sys.dont_write_bytecode = True
    logging.disable(logging.CRITICAL)
    with contextlib.redirect_stdout(sys.stderr):
        lines = list(table(options.level, version_of(options.package)))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
