"""A front end as it treats built C++ (docs/spec/build.md 2.5): front_end.py KERNEL.cpp INCLUDE LIBRARY.

Drops lines, renames qualifiers, finds the function by a regular expression, wraps it in a C entry, compiles and runs it.
"""

import ctypes
import re
import subprocess
import sys
from pathlib import Path

kernel, include, library = map(Path, sys.argv[1:4])
lines = kernel.read_text().splitlines()
dropped = re.compile(r'#include\s+[<"]pto/pto-inst\.hpp|using namespace pto;|set_ffts_base_addr\(')
text = "\n".join(line for line in lines if not dropped.search(line))
text = re.sub(r'(?:extern "C"\s+)?(?:__global__\s+)?AICORE void', "static __aicore__ void", text)
names = re.findall(r"__aicore__ void (\w+)\(([^)\n]*)\)", text)
assert names, "no function was found"
name, parameters = names[-1]
types = [re.sub(r"\w+$", "", p.strip()) for p in parameters.split(",")]
arguments = ", ".join(f"reinterpret_cast<{ty}>(args[{n}])" for n, ty in enumerate(types))
text = f"""#define PTO_PROFILE_A2A3
#include <pto/pto-inst.hpp>
using namespace pto;
{text}
extern "C" int kernel_entry(void **args)
{{
    {name}({arguments});
    return 0;
}}
"""
source, shared = kernel.with_name("wrapped.cpp"), kernel.with_name("wrapped.so")
source.write_text(text)
command = ["g++", "-std=c++17", "-D__CPU_SIM", "-shared", "-fPIC", "-I", include, source, library]
subprocess.run([*map(str, command), "-lpthread", "-ldl", "-lm", "-o", str(shared)], check=True)
buffers = [(ctypes.c_float * 256)(*(i * scale for i in range(256))) for scale in (1.0, 0.5, 0.0)]
pointers = (ctypes.c_void_p * 3)(*(ctypes.addressof(b) for b in buffers))
assert ctypes.CDLL(str(shared)).kernel_entry(pointers) == 0
equal = sum(buffers[2][i] == i * 1.5 for i in range(256))
print(f"{name}: {equal} of 256 equal")
sys.exit(equal != 256)
