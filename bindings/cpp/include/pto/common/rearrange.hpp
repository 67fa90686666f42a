// TRESHAPE, TTRANS, TCONCAT, TPACK, TINTERLEAVE and TDEINTERLEAVE (ops.md 4, 5, 6 and 8).

#ifndef PTO_COMMON_REARRANGE_HPP
#define PTO_COMMON_REARRANGE_HPP

#include <pto/common/global_tensor.hpp>
#include <pto/common/issue.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {

// The rows and columns that TRESHAPE's destination must have.
struct ShapeRef {
    int64_t rows;
    int64_t cols;

    ShapeRef(int64_t newRows, int64_t newCols) : rows(newRows), cols(newCols) {}
    // The last dimension is the columns, all others together are the rows.
    template <int64_t... Ds>
    ShapeRef(const Shape<Ds...> &shape) : rows(1), cols(shape[shape.rank - 1])
    {
        for (int i = 0; i + 1 < shape.rank; ++i) {
            rows *= shape[i];
        }
    }
};

namespace pto_detail {

// dst lies where src does. A window of a wider tile keeps its pitch, so both need the same lines.
template <typename TileDataOut, typename TileDataIn>
inline void BindReshaped(TileDataOut &dst, TileDataIn &src)
{
    const uint64_t pitch = Access::Pitch(src);
    if (pitch == 0) {
        Access::Rebind(dst, src, 0, 0);
        return;
    }
    const auto lines = [](const TileInfo &t) { return t.blayout == BLayout::RowMajor ? t.rows : t.cols; };
    if (TileDataOut::isBoxedLayout || lines(TileDataOut::Info) != lines(TileDataIn::Info)) {
        Fail("treshape-bytes", "the source is a window of a wider tile, and the destination has other lines: move the "
                               "window to a tile of its own first");
        return;
    }
    const uint64_t bits = pitch * static_cast<uint64_t>(TileDataIn::Info.bits);
    Access::Rebind(dst, src, 0, bits / static_cast<uint64_t>(TileDataOut::Info.bits));
}

template <typename TileDataOut, typename TileDataIn>
inline void Reshape(TileDataOut &dst, TileDataIn &src, const ShapeRef *shape, const SourceLocation &where)
{
    PTO_STATIC_RULE(TileDataIn::Loc == TileDataOut::Loc, "treshape-loc: both tiles have one location");
    PTO_STATIC_RULE(TileDataIn::isBoxedLayout == TileDataOut::isBoxedLayout,
                    "treshape-box: both tiles are boxed or both are not");
    PTO_STATIC_RULE(TileDataIn::Info.Bytes() == TileDataOut::Info.Bytes(),
                    "treshape-bytes: both tiles have the same declared bytes");
    // cpu copies; a2a3 and a5 bind dst to the storage of src, so dst needs none of its own.
    const bool copies = GetProfile() == Profile::Cpu;
    Call call(TESSERA_OP_TRESHAPE, "TRESHAPE", where);
    call.Tile(TESSERA_ROLE_DST, dst, copies).Src(src);
    if (shape != nullptr) {
        call.Attr(TESSERA_ATTR_NAME_SHAPE, shape->rows, shape->cols);
    }
    if (call.Done() && !copies) {
        BindReshaped(dst, src);
    }
}

template <typename Dst, typename Src>
constexpr void CheckInterleave()
{
    PTO_STATIC_FLOW_IDS(kTinterleaveSigs, Form::Plain, Src::Info, Dst::Info, "tinterleave-profile", "tinterleave-loc",
                        "tinterleave-layout", "tinterleave-dtype");
    PTO_STATIC_RULE(Dst::ValidCol < 0 || Dst::ValidCol % 2 == 0,
                    "tinterleave-even: the number of valid columns is even");
}

} // namespace pto_detail

PTO_INTRINSIC(TRESHAPE, (typename Dst, typename Src), (Dst, Src), (pto_detail::IsTile<Src>), (Dst &dst, Src &src), (dst, src),
              pto_detail::Reshape(dst, src, nullptr, where);)
PTO_INTRINSIC(TRESHAPE, (typename Dst, typename Src), (Dst, Src), (pto_detail::IsTile<Src>),
              (Dst &dst, Src &src, ShapeRef newShape), (dst, src, newShape), pto_detail::Reshape(dst, src, &newShape, where);)

namespace pto_detail {

template <typename Dst, typename Src>
constexpr void CheckTranspose()
{
    PTO_STATIC_FLOW("ttrans", kTtransSigs, Form::Plain, Src::Info, Dst::Info);
    PTO_STATIC_RULE(Src::Info.bits == Dst::Info.bits, "ttrans-size: both element types have the same size");
}

} // namespace pto_detail

PTO_INTRINSIC(TTRANS, (typename Dst, typename Src), (Dst, Src), (pto_detail::IsTileData<Src>), (Dst &dst, Src &src), (dst, src),
              pto_detail::CheckTranspose<Dst, Src>();
              pto_detail::Call(TESSERA_OP_TTRANS, "TTRANS", where).Dst(dst).Src(src).Issue();)
PTO_INTRINSIC(TTRANS, (typename Dst, typename Src, typename Tmp), (Dst, Src, Tmp),
              (pto_detail::IsTileData<Src> && pto_detail::IsTile<Tmp>),
              (Dst &dst, Src &src, Tmp &tmp), (dst, src, tmp),
              pto_detail::CheckTranspose<Dst, Src>();
              PTO_STATIC_RULE(Tmp::Loc == Src::Loc && Tmp::Info.bits == Src::Info.bits,
                              "ttrans-tmp: tmp has the source's location and element size");
              pto_detail::Call(TESSERA_OP_TTRANS, "TTRANS", where).Dst(dst).Src(src).Tile(TESSERA_ROLE_TMP, tmp).Issue();)

namespace pto_detail {

template <typename Dst, typename Src0, typename Src1>
constexpr void CheckConcat()
{
    PTO_STATIC_FLOW("tconcat", kTconcatSigs, Form::Plain, Src0::Info, Dst::Info);
    PTO_STATIC_FLOW("tconcat", kTconcatSigs, Form::Plain, Src1::Info, Dst::Info);
}

} // namespace pto_detail

PTO_INTRINSIC(TCONCAT, (typename Dst, typename Src0, typename Src1), (Dst, Src0, Src1), (pto_detail::IsTile<Src1>),
              (Dst &dst, Src0 &src0, Src1 &src1), (dst, src0, src1),
              pto_detail::CheckConcat<Dst, Src0, Src1>();
              pto_detail::Call(TESSERA_OP_TCONCAT, "TCONCAT", where)
                  .Dst(dst)
                  .Tile(TESSERA_ROLE_SRC0, src0)
                  .Tile(TESSERA_ROLE_SRC1, src1)
                  .Issue();)
// dim 1 joins columns, dim 0 rows (cpu only).
PTO_INTRINSIC(TCONCAT, (int dim, typename Dst, typename Src0, typename Src1), (dim, Dst, Src0, Src1), (pto_detail::IsTile<Src1>),
              (Dst &dst, Src0 &src0, Src1 &src1), (dst, src0, src1),
              PTO_STATIC_RULE(dim == 1 || (dim == 0 && kProfile == Profile::Cpu), "tconcat-dim: dim is 1 (cpu: or 0)");
              pto_detail::CheckConcat<Dst, Src0, Src1>();
              pto_detail::Call(TESSERA_OP_TCONCAT, "TCONCAT", where)
                  .Dst(dst)
                  .Tile(TESSERA_ROLE_SRC0, src0)
                  .Tile(TESSERA_ROLE_SRC1, src1)
                  .Attr(TESSERA_ATTR_NAME_DIM, dim)
                  .Issue();)
// As many columns of each source as the index tiles say, in bytes of the index type per row.
PTO_INTRINSIC(TCONCAT, (typename Dst, typename Src0, typename Src1, typename Idx0, typename Idx1),
              (Dst, Src0, Src1, Idx0, Idx1), (pto_detail::IsTile<Idx1>),
              (Dst &dst, Src0 &src0, Src1 &src1, Idx0 &idx0, Idx1 &idx1), (dst, src0, src1, idx0, idx1),
              pto_detail::CheckConcat<Dst, Src0, Src1>();
              pto_detail::Call(TESSERA_OP_TCONCAT, "TCONCAT", where)
                  .Dst(dst)
                  .Tile(TESSERA_ROLE_SRC0, src0)
                  .Tile(TESSERA_ROLE_SRC1, src1)
                  .Tile(TESSERA_ROLE_IDX0, idx0)
                  .Tile(TESSERA_ROLE_IDX1, idx1)
                  .Issue();)
// The same, with the joined counts as a second destination.
PTO_INTRINSIC(TCONCAT, (typename Dst, typename Src0, typename Src1, typename DstIdx, typename Idx0, typename Idx1),
              (Dst, Src0, Src1, DstIdx, Idx0, Idx1), (pto_detail::IsTile<Idx1>),
              (Dst &dst, Src0 &src0, Src1 &src1, DstIdx &dstIdx, Idx0 &idx0, Idx1 &idx1),
              (dst, src0, src1, dstIdx, idx0, idx1),
              pto_detail::CheckConcat<Dst, Src0, Src1>();
              pto_detail::Call(TESSERA_OP_TCONCAT, "TCONCAT", where)
                  .Dst(dst)
                  .Tile(TESSERA_ROLE_SRC0, src0)
                  .Tile(TESSERA_ROLE_SRC1, src1)
                  .Tile(TESSERA_ROLE_DST_IDX, dstIdx)
                  .Tile(TESSERA_ROLE_IDX0, idx0)
                  .Tile(TESSERA_ROLE_IDX1, idx1)
                  .Issue();)

PTO_INTRINSIC(TPACK, (typename Dst, typename Src), (Dst, Src), (pto_detail::IsTile<Src>), (Dst &dst, Src &src), (dst, src),
              PTO_STATIC_FLOW_IDS(kTpackSigs, pto_detail::Form::Plain, Src::Info, Dst::Info, "tpack-profile", "tpack-layout",
                                  "tpack-layout", "tpack-size");
              PTO_STATIC_RULE(Src::Info.bits <= 32 && Src::Info.bits > Dst::Info.bits && Dst::Info.bits >= 8,
                              "tpack-size: elements narrow from 4 bytes to 2 or 1, or from 2 to 1");
              pto_detail::Call(TESSERA_OP_TPACK, "TPACK", where).Dst(dst).Src(src).Issue();)

// The operand order is (dst1, dst0, src1, src0): dst0 receives the first half of the interleaved stream. Destinations of one
// type and sources of one type are named by two types, others by four.
#define PTO_INTERLEAVE(name, op)                                                                                         \
    PTO_INTRINSIC(name, (typename Dst, typename Src), (Dst, Src), (pto_detail::IsTile<Src>),                                 \
                  (Dst &dst1, Dst &dst0, Src &src1, Src &src0), (dst1, dst0, src1, src0),                                \
                  pto_detail::CheckInterleave<Dst, Src>();                                                                   \
                  pto_detail::Call(op, #name, where)                                                                         \
                      .Tile(TESSERA_ROLE_DST0, dst0)                                                                     \
                      .Tile(TESSERA_ROLE_DST1, dst1)                                                                     \
                      .Tile(TESSERA_ROLE_SRC0, src0)                                                                     \
                      .Tile(TESSERA_ROLE_SRC1, src1)                                                                     \
                      .Issue();)                                                                                         \
    PTO_INTRINSIC(name, (typename Dst1, typename Dst0, typename Src1, typename Src0), (Dst1, Dst0, Src1, Src0),          \
                  (!(std::is_same_v<Dst1, Dst0> && std::is_same_v<Src1, Src0>) && pto_detail::IsTile<Src0>),                 \
                  (Dst1 &dst1, Dst0 &dst0, Src1 &src1, Src0 &src0), (dst1, dst0, src1, src0),                            \
                  pto_detail::CheckInterleave<Dst0, Src0>();                                                                 \
                  pto_detail::CheckInterleave<Dst1, Src1>();                                                                 \
                  pto_detail::Call(op, #name, where)                                                                         \
                      .Tile(TESSERA_ROLE_DST0, dst0)                                                                     \
                      .Tile(TESSERA_ROLE_DST1, dst1)                                                                     \
                      .Tile(TESSERA_ROLE_SRC0, src0)                                                                     \
                      .Tile(TESSERA_ROLE_SRC1, src1)                                                                     \
                      .Issue();)
PTO_INTERLEAVE(TInterleave, TESSERA_OP_TINTERLEAVE)
PTO_INTERLEAVE(TINTERLEAVE, TESSERA_OP_TINTERLEAVE)
PTO_INTERLEAVE(TDeInterleave, TESSERA_OP_TDEINTERLEAVE)
PTO_INTERLEAVE(TDEINTERLEAVE, TESSERA_OP_TDEINTERLEAVE)
#undef PTO_INTERLEAVE

// One source, which holds the whole stream.
#define PTO_DEINTERLEAVE(name)                                                                                           \
    PTO_INTRINSIC(name, (typename Dst1, typename Dst0, typename Src), (Dst1, Dst0, Src), (pto_detail::IsTile<Src>),          \
                  (Dst1 &dst1, Dst0 &dst0, Src &src), (dst1, dst0, src),                                                 \
                  PTO_STATIC_FLOW_IDS(kTdeinterleaveSigs, pto_detail::Form::OneSource, Src::Info, Dst0::Info,                \
                                      "tinterleave-profile", "tinterleave-loc", "tinterleave-layout",                    \
                                      "tinterleave-dtype");                                                              \
                  PTO_STATIC_FLOW_IDS(kTdeinterleaveSigs, pto_detail::Form::OneSource, Src::Info, Dst1::Info,                \
                                      "tinterleave-profile", "tinterleave-loc", "tinterleave-layout",                    \
                                      "tinterleave-dtype");                                                              \
                  pto_detail::Call(TESSERA_OP_TDEINTERLEAVE, #name, where)                                                   \
                      .Tile(TESSERA_ROLE_DST0, dst0)                                                                     \
                      .Tile(TESSERA_ROLE_DST1, dst1)                                                                     \
                      .Tile(TESSERA_ROLE_SRC0, src)                                                                      \
                      .Issue();)
PTO_DEINTERLEAVE(TDeInterleave)
PTO_DEINTERLEAVE(TDEINTERLEAVE)
#undef PTO_DEINTERLEAVE

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
