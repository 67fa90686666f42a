// The instructions of the PTO tile ISA as C++ intrinsics: this one header is enough.
//
// A kernel is ordinary C++17. Tiles live in the memories of a simulated core; TLOAD and TSTORE move data between them
// and the program's own memory. Instructions run when they are called, one after the other.

#ifndef PTO_INST_HPP
#define PTO_INST_HPP

#ifdef __CPU_SIM
#include <pto/common/standard.hpp>
#endif

#include <pto/common/pto_instr.hpp>

#ifdef __CPU_SIM
#include <pto/common/debug.h>
#include <pto/common/fifo.hpp>
#include <pto/common/cross_core.hpp>
#include <pto/common/launch.hpp>
#endif

#endif
