"""The reason why a test of the suite doesn't pass: the first rule that its outcome matches.

A rule is a reason, a pattern of the test's name, one of what the test said, and, where the reason
is a part of the language, the part. `why` returns None where no rule matches: then one is missing.
"""

import re
from typing import NamedTuple

REASONS = {
    "language": "Not in the language of kernels",
    "half": "Half precision and 8-bit floats",
    "text": "Text",
    "dates": "Dates",
    "machine code": "Machine code: PTX (Parallel Thread Execution), LLVM, SASS, libdevice, debug "
    "and line information",
    "foreign": "Foreign code: linking, CUDA C, pointers",
    "compiler": "Numba's compiler: its intermediate representation, dumps, internal objects",
    "typing": "Errors and warnings of Numba's own",
    "extensions": "Numba's interface for extensions: overload, types, models",
    "cache": "The compiler's cache of files",
    "driver": "The driver, other processes, several GPUs",
    "simulator": "What only numba-cuda's simulator does, or does itself in another process",
    "otherwise": "mmsim does otherwise",
    "long": "Takes too long",
    "environment": "Skipped: it needs a GPU, a tool or a package that wasn't there",
    "suite": "The suite itself expects it to fail, or skips it always",
}
"""The headings, in their order on the page."""


class Rule(NamedTuple):
    """A reason, for tests whose name and message match: what is missing, or what is otherwise."""

    reason: str
    name: str
    said: str
    part: str = ""


PTX = r"makes no machine code|'NoneType' object is not callable|inspect_|get_cudalib|link_llvm"
FILES_OF_MACHINE_CODE = (
    r"test_(compiler|debuginfo|debuginfo_types|fastmath|inline|inspect|libdevice|lineinfo|minmax"
    r"|optimization|cache_hints)\.py"
)
SIGNATURES = "arguments that a signature narrows, of kernels and device functions"
BARRIER = "a barrier that some threads of a warp don't reach is an error"
CODE = r"LanguageError|isn't in the language"

RULES = [
    Rule("suite", "", r"^xfailed|^xpassed"),
    Rule("half", "", r"float16|fp16|bfloat16|FP8|fp8|f16"),
    Rule("half", r"fp16|float16|bfloat16|_bf16_", ""),
    Rule("half", r"test_(habs|hadd|hfma|hmul|hsub|hneg)_", r"^Skipped"),
    Rule("suite", "", r"not yet implemented|insert_unresolved_ref|no longer exist|not enable in"),
    Rule("environment", "", r"^Skipped"),
    Rule("simulator", r"TestCudasimUnsupportedAlignment|_simulator", ""),
    Rule("dates", r"datetime", ""),
    Rule("text", r"test_const_string\.py", ""),
    Rule("simulator", r"test_print\.py", ""),
    Rule("driver", r"test_(ipc|multigpu|multiprocessing|multithreads)\.py", ""),
    Rule("long", "", r"took more than \d+ seconds", "more than a minute"),
    Rule("cache", r"test_caching\.py", ""),
    Rule("foreign", "", r"CUDA C or PTX|names code|NVRTC|\*, (u?int|float)\d+|CPointer"),
    Rule("machine code", "test_string_device_function_arg", ""),
    Rule("machine code", "launch_bounds", ""),
    Rule("machine code", r"test_const_mem|get_const_mem|get_local_mem|get_shared_mem", ""),
    Rule("language", "alignment", r"ctypes|not raised", "the alignment of arrays and records"),
    Rule("typing", "", r"(TypingError|RuntimeError|NumbaWarning) not raised|NumbaWarning not"),
    Rule("typing", "", r"DID NOT WARN|Ambiguous overloading"),
    Rule("typing", "", r"test_typing_error|'floor' is (no|not a) function"),
    Rule("extensions", r"test_(overload|numba_interop|extending_types)\.py|with_overload", ""),
    Rule("extensions", r"struct_?model|struct_data_model|_model_type", ""),
    Rule("language", "", r"'[\w.]+\.copy'|\.view'|\.view\(", "`copy` and `view` of arrays"),
    Rule("language", r"test_array_reductions\.py", "", "`np.sum` and its siblings, of arrays"),
    Rule("language", r"test_cache_hints\.py", "", "loads and stores with cache hints"),
    Rule("language", r"array_capture|captured?_|global_device", "", "captured device arrays"),
    Rule("language", r"test_recursion\.py", "calls itself", "recursion"),
    Rule("language", r"getitem_idx", "", "records that a function returns from an array"),
    Rule("machine code", FILES_OF_MACHINE_CODE, ""),
    Rule("machine code", "", PTX),
    Rule("compiler", r"test_(ir|ir_utils|copy_propagate|debug|byteflow)\.py", ""),
    Rule("compiler", r"launch_config|compile_config|undefined_var", ""),
    Rule("compiler", "", r"'(Dispatcher|Kernel)' object has no|descriptor|_type_annotation"),
    Rule("driver", "", r"device_pointer|FakeDriver|from_array_like|'Device' object|CudaAPIError"),
    Rule("driver", r"test_(cuda_array_interface|transpose|serialize)\.py", ""),
    Rule("otherwise", r"explicit_signatures|coerce_input|device_casting", "", SIGNATURES),
    Rule(
        "otherwise", r"test_exception\.py", "not raised", "a kernel that is debugged divides by 0"
    ),
    Rule("otherwise", r"test_exception\.py", "", "an error of a device function doesn't name it"),
    Rule("otherwise", r"test_sessionize\.py", "BarrierError", BARRIER),
    Rule(
        "otherwise",
        r"as_kernel_disallowed",
        "",
        "another error, when a device function is launched",
    ),
    Rule("language", "", CODE, "other"),
]


def why(name, outcome):
    """The reason why a test doesn't pass, and the part of the language; None if no rule matches."""
    kind = outcome["outcome"]
    said = outcome["said"] if kind in ("failed", "skipped") else f"{kind} {outcome['said']}"
    for rule in RULES:
        if re.search(rule.name, name) and re.search(rule.said, said):
            return rule.reason, rule.part
    return None
