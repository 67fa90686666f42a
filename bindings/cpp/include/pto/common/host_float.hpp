// Arithmetic on floats as programs do it, the same bits everywhere: emitted kernels call it for `arith` and `math`.

#ifndef PTO_COMMON_HOST_FLOAT_HPP
#define PTO_COMMON_HOST_FLOAT_HPP

#include <pto/common/type.hpp>

namespace pto {

// One operation on values of type T.
template <typename T, typename... Args>
inline T HostFloat(TesseraFloatOp op, Args... args)
{
    static_assert(sizeof...(Args) >= 1 && sizeof...(Args) <= 3, "an operation has one to three operands");
    double value[3] = {static_cast<double>(static_cast<float>(args))...};
    tessera_float(static_cast<uint32_t>(op), static_cast<uint32_t>(pto_model::ElemOf<T>::tag), value[0], value[1], value[2],
                  value);
    return static_cast<T>(static_cast<float>(value[0]));
}

} // namespace pto

#endif
