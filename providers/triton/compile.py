"""Compiles one function of a user's Python file with Triton, ahead of time and without a GPU.

assay runs this with the Python that has Triton, in a process that has given up its rights. What is
asked for comes as one JSON object on standard input; one line of JSON goes back on standard output:
{"kernel": {...}} or {"error": {...}}. All else that is printed goes to standard error. The user's
files come as text inside the request, so that what is compiled is what the cache's key knows.
"""

import base64
import importlib.abc
import importlib.util
import inspect
import json
import linecache
import os
import re
import subprocess
import sys
import traceback

PROTOCOL = 1


class Refused(Exception):
    """What is wrong with the user's file or entry, as a sentence."""


class LocalFiles(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The user's modules, from the request's texts."""

    def __init__(self, files):
        self.files = files
        for name, text in files.items():
            # Triton reads the source of a function; there is no file to read it from.
            linecache.cache[name] = (len(text), None, text.splitlines(True), name)

    def find_spec(self, fullname, path=None, target=None):
        stem = fullname.replace(".", "/")
        for name, is_package in ((stem + "/__init__.py", True), (stem + ".py", False)):
            if name in self.files:
                return importlib.util.spec_from_loader(fullname, self, origin=name,
                                                       is_package=is_package)
        if any(name.startswith(stem + "/") for name in self.files):  # A folder without a file.
            return importlib.util.spec_from_loader(fullname, self, is_package=True)
        return None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        name = module.__spec__.origin
        if name is None:
            return
        module.__file__ = name
        exec(compile(self.files[name], name, "exec"), module.__dict__)


def cuda_release(ptxas):
    """(13, 0) of an assembler; None where it does not run."""
    try:
        text = subprocess.run([ptxas, "--version"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=True).stdout.decode()
    except (OSError, subprocess.CalledProcessError, UnicodeDecodeError):
        return None
    found = re.search(r"release (\d+)\.(\d+)", text)
    return (int(found.group(1)), int(found.group(2))) if found else None


def bundled_ptxas(capability):
    """The assembler that this version of Triton takes of itself."""
    from triton.backends.nvidia import compiler
    if not hasattr(compiler, "get_ptxas"):
        return compiler._path_to_binary("ptxas")[0]
    by_gpu = len(inspect.signature(compiler.get_ptxas).parameters) > 0
    return (compiler.get_ptxas(capability) if by_gpu else compiler.get_ptxas()).path


def choose_ptxas(own, asked, toolkit):
    """The assembler as asked; else the toolkit's where that is the older one, since its cubins load
    into the driver that the toolkit came with."""
    if asked == "bundled":
        return own
    if asked:
        if cuda_release(asked) is None:
            raise Refused("the setting triton.ptxas names '%s', which does not run as an assembler"
                          % asked)
        return asked
    installed = cuda_release(toolkit) if toolkit else None
    bundled = cuda_release(own)
    if installed and (bundled is None or ((12, 4) <= installed < bundled)):
        return toolkit
    return own


class AssemblerLog:
    """Triton throws away what its assembler said; the lines about registers are in it."""

    def __init__(self):
        self.text = ""
        self.run = subprocess.run
        subprocess.run = self

    def __call__(self, *arguments, **named):
        done = self.run(*arguments, **named)
        log = named.get("stderr")
        if isinstance(getattr(log, "name", None), str):
            try:
                with open(log.name) as file:
                    self.text = file.read(1 << 16)
            except OSError:
                pass
        return done


def jit_function(module, entry):
    function = getattr(module, entry, None)
    if function is None:
        raise Refused("the file defines no function '%s'" % entry)
    from triton.runtime.jit import JITFunction
    # Around it may stand @triton.autotune or @triton.heuristics; here the tunables decide.
    for _ in range(8):
        if isinstance(function, JITFunction) or not hasattr(function, "fn"):
            break
        function = function.fn
    if not isinstance(function, JITFunction):
        raise Refused("'%s' is no @triton.jit function" % entry)
    return function


def described(function, request):
    """What is passed to each parameter: signature, constants, divisibility by place."""
    signature, constants, divisible = {}, {}, {}
    arguments = list(request["args"])
    tunables = dict(request["tunables"])
    defaults = {name: parameter.default
                for name, parameter in inspect.signature(function.fn).parameters.items()
                if parameter.default is not inspect.Parameter.empty}
    constexprs = {parameter.name for parameter in function.params if parameter.is_constexpr}
    for place, name in enumerate(function.arg_names):
        if name in tunables:
            signature[name] = "constexpr"
            constants[name] = tunables[name]
        elif arguments and (name not in constexprs or "value" in arguments[0]):
            argument = arguments.pop(0)
            if "value" in argument:
                signature[name] = "constexpr"
                constants[name] = argument["value"]
                continue
            signature[name] = argument["type"]
            if argument.get("divisible", 1) > 1:
                divisible[place] = argument["divisible"]
        elif name in defaults:
            signature[name] = "constexpr"
            constants[name] = defaults[name]
        elif name in constexprs:
            raise Refused("the function's parameter '%s' is a tl.constexpr that no tunable gives a "
                          "value; add it to tunables" % name)
        else:
            raise Refused("the function takes (%s), and args ends before '%s'"
                          % (", ".join(function.arg_names), name))
    for name in tunables:
        if name not in function.arg_names and name not in request["options"]:
            raise Refused("the function has no parameter '%s', which is a tunable" % name)
    if arguments:
        raise Refused("the function takes (%s), and args has no place for '%s' there"
                      % (", ".join(function.arg_names), arguments[0]["name"]))
    return signature, constants, divisible


def source_of(function, signature, constants, divisible):
    from triton.compiler import ASTSource
    if "constants" not in inspect.signature(ASTSource.__init__).parameters:
        attributes = {(place,): [["tt.divisibility", by]] for place, by in divisible.items()}
        return ASTSource(function, signature, constexprs=constants, attrs=attributes)
    # Triton 3.2 knows one divisor, and constants stand outside of the signature.
    from triton.backends.compiler import AttrsDescriptor
    hints = {place: 16 for place, by in divisible.items() if by % 16 == 0}
    kept = {name: kind for name, kind in signature.items() if name not in constants}
    if any(kind.startswith("tensordesc") for kind in kept.values()):
        raise Refused("Triton 3.2 takes no tensor descriptors as arguments; install a newer one")
    return ASTSource(function, kept, constants=constants, attrs=AttrsDescriptor.from_hints(hints))


def options_of(request):
    import dataclasses
    from triton.backends.nvidia.compiler import CUDAOptions
    known = {field.name for field in dataclasses.fields(CUDAOptions)}
    for name in request["options"]:
        if name not in known:
            raise Refused("this version of Triton knows no option '%s'" % name)
    return dict(request["options"])


def parameters_of(ptx, name):
    """How many parameters the entry takes; None where that cannot be read."""
    found = re.search(r"\.entry\s+" + re.escape(name) + r"\s*\(([^)]*)\)", ptx)
    return len(re.findall(r"\.param\b", found.group(1))) if found else None


def plain(value):
    """Of metadata what JSON can say."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)


def compile_kernel(request, log):
    import triton
    from triton.backends.compiler import GPUTarget
    finder = LocalFiles(request["files"])
    sys.meta_path.insert(0, finder)
    sys.dont_write_bytecode = True
    name = os.path.splitext(request["main"])[0]
    spec = importlib.util.spec_from_loader(name, finder, origin=request["main"])
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    finder.exec_module(module)
    function = jit_function(module, request["entry"])
    source = source_of(function, *described(function, request))
    made = triton.compile(source, target=GPUTarget("cuda", request["capability"], 32),
                          options=options_of(request))
    metadata = made.metadata
    facts = {
        "triton": triton.__version__,
        "python": "%d.%d.%d" % sys.version_info[:3],
        "symbol": metadata.name,
        "num_warps": metadata.num_warps,
        "shared_bytes": metadata.shared,
        "num_ctas": getattr(metadata, "num_ctas", 1),
        "cluster": plain(getattr(metadata, "cluster_dims", None)
                         or [getattr(metadata, "num_ctas", 1), 1, 1]),
        "global_scratch_bytes": getattr(metadata, "global_scratch_size", 0) or 0,
        "global_scratch_alignment": getattr(metadata, "global_scratch_align", 1) or 1,
        "profile_scratch_bytes": getattr(metadata, "profile_scratch_size", 0) or 0,
        "cooperative": bool(getattr(metadata, "launch_cooperative_grid", False)),
        "descriptors": plain(getattr(metadata, "tensordesc_meta", None) or []),
    }
    ptx = made.asm["ptx"]
    facts["parameters"] = parameters_of(ptx, metadata.name)
    facts["wgmma"] = ptx.count("wgmma.mma_async")
    found = re.search(r"^\.version\s+(\S+)", ptx, re.MULTILINE)
    facts["ptx_version"] = found.group(1) if found else ""
    facts["log"] = log.text
    facts["cubin"] = base64.b64encode(made.asm["cubin"]).decode()
    return facts


def visited(error):
    """The part of a function that Triton's own visitors stood at, and that function's source."""
    frames = []
    step = error.__traceback__
    while step is not None:
        frames.append(step.tb_frame.f_locals)
        step = step.tb_next
    node = None
    for known in reversed(frames):
        if node is None and hasattr(known.get("node"), "lineno"):
            node = known["node"]
        source = getattr(known.get("self"), "src", None)
        if node is not None and isinstance(source, str):
            return node, source
    return None, None


def place_of(error, files):
    """FILE:LINE of the user's that the error is about; empty where there is none."""
    seen = []
    while error is not None and error not in seen:
        seen.append(error)
        error = error.__cause__ or error.__context__
    for one in reversed(seen):
        node, source = getattr(one, "node", None), getattr(one, "src", None)
        if not isinstance(source, str):
            node, source = visited(one)
        if hasattr(node, "lineno") and isinstance(source, str):
            for name, text in files.items():
                at = text.find(source)
                if at >= 0:
                    return "%s:%d" % (name, text.count("\n", 0, at) + node.lineno)
    for one in reversed(seen):
        if isinstance(one, SyntaxError) and one.filename in files:
            return "%s:%d" % (one.filename, one.lineno or 1)
        for frame in reversed(traceback.extract_tb(one.__traceback__)):
            if frame.filename in files:
                return "%s:%d" % (frame.filename, frame.lineno)
    return ""


def last_line(error):
    # Of a chain the first cause says most: Triton wraps what went wrong inside of a function.
    while error.__cause__ is not None:
        error = error.__cause__
    text = "".join(traceback.format_exception_only(type(error), error)).strip()
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return type(error).__name__
    head = type(error).__name__
    return lines[-1] if lines[-1].startswith(head) else "%s: %s" % (head, lines[-1].strip())


def main():
    answer_to = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # What the user's file prints is no answer.
    request = json.load(sys.stdin)
    files = request.get("files", {})
    try:
        if request.get("protocol") != PROTOCOL:
            raise Refused("the helper speaks protocol %d" % PROTOCOL)
        for variable in ("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"):
            os.environ.pop(variable, None)
        own = bundled_ptxas(request["capability"])
        ptxas = choose_ptxas(own, request.get("ptxas", ""), request.get("toolkit_ptxas", ""))
        if ptxas != own:
            # The second one is read by newer versions for every GPU.
            os.environ["TRITON_PTXAS_PATH"] = os.environ["TRITON_PTXAS_BLACKWELL_PATH"] = ptxas
        kernel = compile_kernel(request, AssemblerLog())
        kernel["ptxas"] = ptxas
        release = cuda_release(ptxas)
        kernel["ptxas_release"] = "%d.%d" % release if release else ""
        answer = {"kernel": kernel}
    except Refused as refused:
        answer = {"error": {"place": "", "what": str(refused), "trace": ""}}
    except BaseException as error:  # The user's file may raise anything, SystemExit too.
        trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        answer = {"error": {"place": place_of(error, files), "what": last_line(error),
                            "trace": trace[-6000:]}}
    json.dump(answer, answer_to)
    answer_to.write("\n")
    answer_to.flush()
    os._exit(0)  # What the user's file registered for the end is not wanted.


main()
