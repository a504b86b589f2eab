"""SM90 GEMMs of QuACK (TMA, wgmma, ping-pong) as one shared object for tvm_ffi.

    pip install quack-kernels
    python export_quack.py --dtype bf16 --layout tn --output quack_bf16_tn
    assay race quack_bf16_tn.yaml --shape m=4096,n=4096,k=4096,dtype=bf16,layout=tn

Compiles every configuration that QuACK's own tuner tries on a Hopper GPU, without one, and writes
OUTPUT.so and the manifest OUTPUT.yaml. The package brings torch, which is imported and not used.
"""

import sm90_export  # First: it says for which GPU cutlass compiles.
import cuda.bindings.driver as cuda
import cutlass
import cutlass.cute as cute

options = sm90_export.parse_options(__doc__, "quack")

from quack.gemm_config import get_all_configs  # noqa: E402  Not for --help: torch takes seconds.
from quack.gemm_default_epi import GemmDefaultSm90  # noqa: E402
from quack.tile_scheduler import TileSchedulerOptions  # noqa: E402


def transposed(matrix):
    return cute.make_tensor(matrix.iterator, cute.select(matrix.layout, mode=[1, 0]))


class Gemm:
    """A function of a, b and out alone: QuACK's takes tuples of epilogue and scheduler options
    beside its tensors, which a manifest cannot say. They are constants here."""

    def __init__(self, config):
        self.kernel = GemmDefaultSm90(
            cutlass.Float32,
            sm90_export.DTYPES[options.dtype],
            (config.tile_m, config.tile_n),
            (config.cluster_m, config.cluster_n, config.cluster_k),
            pingpong=config.pingpong,
            # It would begin beside the kernel before it, unasked, and be timed so.
            use_pdl=False,
        )
        self.swapped = config.swap_ab
        self.swizzle = config.max_swizzle_size
        self.clusters = options.multiprocessors // (
            config.cluster_m * config.cluster_n * config.cluster_k
        )

    @cute.jit
    def __call__(
        self, a: cute.Tensor, b: cute.Tensor, out: cute.Tensor, stream: cuda.CUstream
    ):
        b = transposed(b)  # (n, k), as QuACK has it.
        if cutlass.const_expr(self.swapped):  # out^T = b^T a^T
            a, b, out = b, a, transposed(out)
        scheduler = TileSchedulerOptions(
            max_active_clusters=cutlass.Int32(self.clusters),
            max_swizzle_size=cutlass.Int32(self.swizzle),
        )
        epilogue = self.kernel.EpilogueArguments()
        self.kernel(a, b, out, None, epilogue, scheduler, None, stream)


def name_of(config):
    return (
        f"quack_{config.tile_m}x{config.tile_n}_{config.cluster_m}x{config.cluster_n}"
        f"{'_pingpong' if config.pingpong else ''}{'_swapped' if config.swap_ab else ''}"
    )


configurations = [config for config in get_all_configs() if config.device_capacity == 9]
if options.few:
    configurations = configurations[:2] + configurations[-1:]
sm90_export.export(
    options,
    {
        name_of(config): lambda *operands, config=config: (Gemm(config), *operands)
        for config in configurations
    },
)
