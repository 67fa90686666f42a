// TGATHER by comparison and by pattern, TSCATTER by pattern, TQUANT with scratch: what C++ says with more words than
// the rows (cpp.md 6.2 and 6.6).

#ifndef PTO_COMMON_GATHER_HPP
#define PTO_COMMON_GATHER_HPP

#include <pto/common/compare.hpp>
#include <pto/common/irregular.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {
namespace pto_detail {

// Is it a tile, a number, or a number in a type of its own?
template <typename T>
inline constexpr bool IsKey = IsTile<T> || IsScalar<T>;
template <typename ValueT>
inline constexpr bool IsKey<Exact<ValueT>> = true;

// What a comparison is with: a number becomes an element of src.
template <typename Src, typename Key>
inline ScalarOf<typename Src::DType> KeyOf(const Key &key)
{
    if constexpr (IsTile<Key>) {
        typename Key::DType value{};
        ReadScalar(key, value);
        return Exactly(value);
    } else {
        return key;
    }
}

} // namespace pto_detail

// The indices of the elements of src that compare so with the key, plus the offset, and how many there are in each row.
PTO_INTRINSIC(TGATHER,
              (typename Dst, typename Src, typename Key, typename Cdst, typename Tmp, CmpMode cmpMode = CmpMode::EQ),
              (Dst, Src, Key, Cdst, Tmp, cmpMode), (pto_detail::IsTile<Tmp> && pto_detail::IsKey<Key>),
              (Dst &dst, Src &src, const Key &key, Cdst &cdst, Tmp &tmp, int offset), (dst, src, key, cdst, tmp, offset),
              const pto_detail::Run run("TGATHER", where);
              pto_detail::Call(TESSERA_OP_TGATHER, "TGATHER", where, TESSERA_FORM_COMPARE)
                  .Dst(dst)
                  .Src(src)
                  .Value(TESSERA_ROLE_SCALAR, pto_detail::KeyOf<Src>(key))
                  .Tile(TESSERA_ROLE_CDST, cdst)
                  .Tile(TESSERA_ROLE_TMP, tmp, pto_detail::RunsOn(0x3))
                  .AttrUnless(TESSERA_ATTR_NAME_CMP_MODE, cmpMode, CmpMode::EQ)
                  .Attr(TESSERA_ATTR_NAME_OFFSET, offset)
                  .Issue();)

PTO_INTRINSIC(TGATHER, (typename Dst, typename Src, typename Key, typename Cdst, CmpMode cmpMode = CmpMode::EQ),
              (Dst, Src, Key, Cdst, cmpMode), (pto_detail::IsTile<Cdst> && pto_detail::IsKey<Key>),
              (Dst &dst, Src &src, const Key &key, Cdst &cdst, int offset), (dst, src, key, cdst, offset),
              pto_detail::Call(TESSERA_OP_TGATHER, "TGATHER", where, TESSERA_FORM_COMPARE)
                  .Dst(dst)
                  .Src(src)
                  .Value(TESSERA_ROLE_SCALAR, pto_detail::KeyOf<Src>(key))
                  .Tile(TESSERA_ROLE_CDST, cdst)
                  .AttrUnless(TESSERA_ATTR_NAME_CMP_MODE, cmpMode, CmpMode::EQ)
                  .Attr(TESSERA_ATTR_NAME_OFFSET, offset)
                  .Issue();)

// The columns of src that a pattern names, in order; GATHER_COL: the rows.
PTO_INTRINSIC(TGATHER,
              (typename Dst, typename Src, MaskPattern pattern = MaskPattern::P1111, auto axis = GatherAxis::GATHER_ROW),
              (Dst, Src, pattern, axis), (pto_detail::IsTile<Src>), (Dst &dst, Src &src), (dst, src),
              pto_detail::Call(axis == GatherAxis::GATHER_COL ? TESSERA_OP_TGATHER_ROWS : TESSERA_OP_TGATHER, "TGATHER", where,
                           TESSERA_FORM_MASK)
                  .Dst(dst)
                  .Src(src)
                  .Attr(TESSERA_ATTR_NAME_MASK_PATTERN, static_cast<int64_t>(pattern) - 1)
                  .Issue();)

// The columns of dst that a pattern names take src's elements in order, SCATTER_COL: the rows; all others become 0.
PTO_INTRINSIC(TSCATTER,
              (MaskPattern pattern = MaskPattern::P1111, auto axis = ScatterAxis::SCATTER_ROW, typename Dst, typename Src),
              (pattern, axis, Dst, Src), (pto_detail::IsTile<Src>), (Dst &dst, Src &src), (dst, src),
              pto_detail::Call(axis == ScatterAxis::SCATTER_COL ? TESSERA_OP_TSCATTER_ROWS : TESSERA_OP_TSCATTER_COLS,
                           "TSCATTER", where, TESSERA_FORM_MASK)
                  .Dst(dst)
                  .Src(src)
                  .Attr(TESSERA_ATTR_NAME_MASK_PATTERN, static_cast<int64_t>(pattern) - 1)
                  .Issue();)

// An element in storage order, as a scalar.
template <typename Src>
PTO_INST std::enable_if_t<pto_detail::IsTile<Src>, typename Src::DType> GETVAL(
    Src &src, int64_t index, const pto_detail::SourceLocation &where = pto_detail::SourceLocation::Here())
{
    typename Src::DType value{};
    pto_detail::Call(TESSERA_OP_TGETVAL, "GETVAL", where).Src(src).Scalar(TESSERA_ROLE_INDEX, index).Get(&value, sizeof value);
    return value;
}

namespace pto_detail {

template <QuantType type, typename Dst, typename Src, typename Param>
inline void Quantize(Dst &dst, Src &src, Param &scale, Param *offset, const SourceLocation &where)
{
    static_assert(type == QuantType::INT8_SYM || type == QuantType::INT8_ASYM,
                  "tquant-attr: an MX format has tiles of exponents, maxima and scales as further operands");
    PTO_STATIC_SIG(kTquantSigs, Plain, "tquant-loc", "tquant-loc", "tquant-layout", "tquant-dtype",
                   {TESSERA_ROLE_SRC, Src::Info}, {TESSERA_ROLE_FP, Param::Info}, {TESSERA_ROLE_DST, Dst::Info});
    Call call(TESSERA_OP_TQUANT, "TQUANT", where);
    call.Dst(dst).Src(src).Fp(scale).Attr(TESSERA_ATTR_NAME_QUANT_TYPE, type == QuantType::INT8_ASYM ? 1 : 0);
    if (offset != nullptr) {
        call.Tile(TESSERA_ROLE_OFFSET, *offset);
    }
    call.Issue();
}

} // namespace pto_detail

// Affine quantization to 8 bits, one factor for each row; INT8_ASYM has an offset too. Nothing needs the scratch.
PTO_INTRINSIC_OR(TQUANT, (QuantType type, typename Dst, typename Src, typename Param), (type, Dst, Src, Param),
                 (pto_detail::IsTile<Param>), (Dst &dst, Src &src, Param &scale, Param *offset = nullptr),
                 (Dst &dst, Src &src, Param &scale, Param *offset), (dst, src, scale, offset),
                 pto_detail::Quantize<type>(dst, src, scale, offset, where);)
PTO_INTRINSIC_OR(TQUANT, (QuantType type, typename Dst, typename Src, typename Param, typename Tmp),
                 (type, Dst, Src, Param, Tmp), (pto_detail::IsTile<Tmp>),
                 (Dst &dst, Src &src, Param &scale, [[maybe_unused]] Tmp &tmp, Param *offset = nullptr),
                 (Dst &dst, Src &src, Param &scale, [[maybe_unused]] Tmp &tmp, Param *offset),
                 (dst, src, scale, tmp, offset), pto_detail::Quantize<type>(dst, src, scale, offset, where);)

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
