// All intrinsics. Destinations come first; trailing events are waited for; every intrinsic returns an event.

#ifndef PTO_COMMON_PTO_INSTR_HPP
#define PTO_COMMON_PTO_INSTR_HPP

#include <pto/common/fill.hpp>
#include <pto/common/img2col.hpp>
#include <pto/common/instructions.hpp>
#include <pto/common/memory.hpp>
#include <pto/common/move.hpp>
#include <pto/common/rearrange.hpp>

#endif
