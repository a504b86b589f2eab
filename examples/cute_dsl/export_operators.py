"""SM90 GEMMs of nvidia-cutlass-operators (TMA, wgmma) as one shared object for tvm_ffi.

    pip install nvidia-cutlass-dsl apache-tvm-ffi
    pip install --no-deps nvidia-cutlass-operators
    python export_operators.py --dtype f16 --layout tn --output operators_f16_tn
    assay race operators_f16_tn.yaml --shape m=2048,n=2048,k=2048,dtype=f16,layout=tn

Compiles every tile and cluster that the kernel takes, without a GPU, and writes OUTPUT.so and the
manifest OUTPUT.yaml.
"""

import importlib.util
import os
import sys

import sm90_export  # First: it says for which GPU cutlass compiles.
import cutlass


def load_kernel():
    """The kernel's file alone: importing the package as a whole wants torch."""
    inside = "operators/providers/cutedsl/gemm/implementations/sm90_static_persistent_impl.py"
    for folder in sys.path:
        file = os.path.join(folder, "cutlass", inside)
        if os.path.isfile(file):
            spec = importlib.util.spec_from_file_location("sm90_static_persistent_impl", file)
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
            return module.Sm90StaticPersistentGemmKernel
    sys.exit("not installed: pip install --no-deps nvidia-cutlass-operators")


options = sm90_export.parse_options(__doc__, "operators")
configurations = [
    (tile, cluster)
    for tile in [(m, n) for m in (64, 128) for n in (64, 128, 256)]
    for cluster in [(1, 1), (2, 1), (1, 2), (2, 2)]
]
if options.few:
    configurations = [((128, 128), (1, 1)), ((128, 256), (2, 1)), ((64, 128), (1, 1))]

Kernel = load_kernel()


def arguments_of(tile, cluster):
    clusters = options.multiprocessors // (cluster[0] * cluster[1])
    return lambda a, b, out, stream: (
        Kernel(cutlass.Float32, tile, cluster), a, b, out, clusters, stream
    )


sm90_export.export(
    options,
    {
        f"sm90_{tile[0]}x{tile[1]}_{cluster[0]}x{cluster[1]}": arguments_of(tile, cluster)
        for tile, cluster in configurations
    },
)
