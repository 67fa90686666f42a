// TSTORE out of an accumulator and with atomic addition, TSTORE_FP, TPREFETCH, MGATHER and MSCATTER (isa/memory.md).

#ifndef PTO_COMMON_TRANSFER_HPP
#define PTO_COMMON_TRANSFER_HPP

#include <pto/common/memory.hpp>
#include <pto/common/words.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {

enum class AtomicType : uint32_t { AtomicNone, AtomicAdd };
// Kept, and without effect on results.
enum class STPhase : uint32_t { Unspecified = 0, Partial = 2, Final = 3 };

namespace detail {

// A type that is given and not deduced.
template <typename T>
struct Given {
    using type = T;
};

inline Call &Stored(Call &call, AtomicType atomic, ReluPreMode relu, STPhase phase)
{
    const auto place = static_cast<int64_t>(phase);
    if (phase != STPhase::Unspecified) {
        call.Attr(TESSERA_ATTR_NAME_ST_PHASE, place - 1);
    }
    return call.AttrUnless(TESSERA_ATTR_NAME_ATOMIC_TYPE, atomic, AtomicType::AtomicNone)
        .AttrUnless(TESSERA_ATTR_NAME_RELU_PRE_MODE, relu, ReluPreMode::NoRelu);
}

template <typename GlobalT, typename TileT>
inline RecordEvent Store(const GlobalT &dst, TileT &src, AtomicType atomic, ReluPreMode relu, STPhase phase)
{
    static_assert(!GlobalT::IsConst, "TSTORE writes, and this is a view of const elements");
    Call call(TESSERA_OP_TSTORE);
    Stored(call.Src(src), atomic, relu, phase).Transfer(dst.Describe());
    return {};
}

template <typename GlobalT, typename TileT>
inline RecordEvent StoreQuantized(const GlobalT &dst, TileT &src, uint64_t parameter, AtomicType atomic, ReluPreMode relu,
                                  STPhase phase)
{
    static_assert(!GlobalT::IsConst, "TSTORE writes, and this is a view of const elements");
    Call call(TESSERA_OP_TSTORE, TESSERA_FORM_SCALAR_QUANT);
    Stored(call.Src(src).Quant(parameter), atomic, relu, phase).Transfer(dst.Describe());
    return {};
}

template <typename GlobalT, typename TileT, typename FpT>
inline RecordEvent StoreByColumn(const GlobalT &dst, TileT &src, FpT &fp, AtomicType atomic, ReluPreMode relu, STPhase phase)
{
    static_assert(!GlobalT::IsConst, "TSTORE_FP writes, and this is a view of const elements");
    Call call(TESSERA_OP_TSTORE_FP, TESSERA_FORM_VECTOR_QUANT);
    Stored(call.Src(src).Fp(fp), atomic, relu, phase).Transfer(dst.Describe());
    return {};
}

} // namespace detail

// The tile's valid region into the view, the types being named.
template <typename TileT, typename GlobalT, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TSTORE(const typename detail::Given<GlobalT>::type &dst, TileT &src, WaitEvents &...)
{
    return detail::Store<GlobalT>(dst, src, AtomicType::AtomicNone, ReluPreMode::NoRelu, STPhase::Unspecified);
}

// AtomicAdd adds to what is there.
template <typename TileT, typename GlobalT, AtomicType atomic, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TSTORE(const typename detail::Given<GlobalT>::type &dst, TileT &src, WaitEvents &...)
{
    return detail::Store<GlobalT>(dst, src, atomic, ReluPreMode::NoRelu, STPhase::Unspecified);
}

// Out of an accumulator, with ReLU.
template <typename TileT, typename GlobalT, AtomicType atomic, ReluPreMode relu, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TSTORE(const typename detail::Given<GlobalT>::type &dst, TileT &src, WaitEvents &...)
{
    return detail::Store<GlobalT>(dst, src, atomic, relu, STPhase::Unspecified);
}

// Out of an accumulator, quantized by one parameter.
template <typename TileT, typename GlobalT, AtomicType atomic = AtomicType::AtomicNone,
          ReluPreMode relu = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TSTORE(const GlobalT &dst, TileT &src, uint64_t preQuantScalar, WaitEvents &...)
{
    return detail::StoreQuantized(dst, src, preQuantScalar, atomic, relu, STPhase::Unspecified);
}

// The same with a phase.
template <STPhase phase, typename TileT, typename GlobalT, AtomicType atomic = AtomicType::AtomicNone,
          ReluPreMode relu = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TSTORE(const GlobalT &dst, TileT &src, WaitEvents &...)
{
    return detail::Store(dst, src, atomic, relu, phase);
}

template <STPhase phase, typename TileT, typename GlobalT, AtomicType atomic = AtomicType::AtomicNone,
          ReluPreMode relu = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TSTORE(const GlobalT &dst, TileT &src, uint64_t preQuantScalar, WaitEvents &...)
{
    return detail::StoreQuantized(dst, src, preQuantScalar, atomic, relu, phase);
}

// Out of an accumulator, quantized by one parameter for each column.
template <typename TileT, typename GlobalT, typename FpT, AtomicType atomic = AtomicType::AtomicNone,
          ReluPreMode relu = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TSTORE_FP(const GlobalT &dst, TileT &src, FpT &fp, WaitEvents &...)
{
    return detail::StoreByColumn(dst, src, fp, atomic, relu, STPhase::Unspecified);
}

template <STPhase phase, typename TileT, typename GlobalT, typename FpT, AtomicType atomic = AtomicType::AtomicNone,
          ReluPreMode relu = ReluPreMode::NoRelu, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> TSTORE_FP(const GlobalT &dst, TileT &src, FpT &fp, WaitEvents &...)
{
    return detail::StoreByColumn(dst, src, fp, atomic, relu, phase);
}

// Reads a view ahead of its use, through a tile.
template <typename TileT, typename GlobalT>
PTO_INST RecordEvent TPREFETCH(TileT &dst, const GlobalT &src)
{
    detail::Call(TESSERA_OP_TPREFETCH).Dst(dst).Transfer(src.Describe());
    return {};
}

// Rows or elements of a view by index; without a word the shape of the indices tells which.
template <typename TileT, typename GlobalT, typename IdxT, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> MGATHER(TileT &dst, const GlobalT &src, IdxT &idx, WaitEvents &...)
{
    detail::Call(TESSERA_OP_MGATHER).Tile(TESSERA_ROLE_IDX, idx).Dst(dst).Transfer(src.Describe());
    return {};
}

template <Coalesce coalesce, GatherOOB oob = GatherOOB::Undefined, typename TileT, typename GlobalT, typename IdxT,
          typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> MGATHER(TileT &dst, const GlobalT &src, IdxT &idx, WaitEvents &...)
{
    detail::Call call(TESSERA_OP_MGATHER);
    call.Tile(TESSERA_ROLE_IDX, idx).Dst(dst).Attr(TESSERA_ATTR_NAME_COALESCE, static_cast<int64_t>(coalesce));
    call.AttrUnless(TESSERA_ATTR_NAME_GATHER_OOB, oob, GatherOOB::Undefined).Transfer(src.Describe());
    return {};
}

// Rows or elements of a tile into a view by index.
template <typename GlobalT, typename TileT, typename IdxT, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> MSCATTER(const GlobalT &dst, TileT &src, IdxT &idx, WaitEvents &...)
{
    detail::Call(TESSERA_OP_MSCATTER).Src(src).Tile(TESSERA_ROLE_IDX, idx).Transfer(dst.Describe());
    return {};
}

template <Coalesce coalesce, ScatterAtomicOp atomic = ScatterAtomicOp::None, ScatterOOB oob = ScatterOOB::Undefined,
          typename GlobalT, typename TileT, typename IdxT, typename... WaitEvents>
PTO_INST detail::EventIf<WaitEvents...> MSCATTER(const GlobalT &dst, TileT &src, IdxT &idx, WaitEvents &...)
{
    detail::Call call(TESSERA_OP_MSCATTER);
    call.Src(src).Tile(TESSERA_ROLE_IDX, idx).Attr(TESSERA_ATTR_NAME_COALESCE, static_cast<int64_t>(coalesce));
    call.AttrUnless(TESSERA_ATTR_NAME_SCATTER_ATOMIC_OP, atomic, ScatterAtomicOp::None)
        .AttrUnless(TESSERA_ATTR_NAME_SCATTER_OOB, oob, ScatterOOB::Undefined)
        .Transfer(dst.Describe());
    return {};
}

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
