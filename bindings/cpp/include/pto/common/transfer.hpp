// TLOAD, TPREFETCH, TSTORE, TSTORE_FP, MGATHER and MSCATTER (isa/memory.md, cpp.md 6.4).

#ifndef PTO_COMMON_TRANSFER_HPP
#define PTO_COMMON_TRANSFER_HPP

#include <pto/common/memory.hpp>
#include <pto/common/attributes.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {
namespace pto_detail {

template <typename Global>
constexpr TileInfo ViewInfo()
{
    const bool nd = Global::Format == Layout::ND, dn = Global::Format == Layout::DN;
    return TileInfo{TileType::Vec,
                    ElemOf<typename Global::DType>::tag,
                    ElemOf<typename Global::DType>::bits,
                    1,
                    1,
                    1,
                    1,
                    nd ? BLayout::RowMajor : BLayout::ColMajor,
                    nd || dn ? SLayout::NoneBox : SLayout::RowMajor,
                    512,
                    PadValue::Null,
                    CompactMode::Null};
}

// The dimensions of an MX view by what nz has them for (tile-model.md 7, cpp.md 5): blocks of columns, of rows, and what is
// inside.
inline constexpr int kMxOrder[6][5] = {{0, 3, 2, 1, 4}, {0, 2, 1, 3, 4}, {0, 2, 1, 3, 4},
                                       {0, 1, 2, 4, 3}, {0, 1, 3, 4, 2}, {0, 1, 2, 4, 3}};

// The view as a load sees it.
template <typename Global>
inline TesseraView LoadView(const Global &global)
{
    constexpr bool isMx = Global::Format >= Layout::MX_A_ND && Global::Format <= Layout::MX_B_NN;
    const TesseraView given = global.Describe();
    TesseraView view = given;
    if (isMx && given.dims == 5) {
        const int(&order)[5] = kMxOrder[isMx ? static_cast<int>(Global::Format) - static_cast<int>(Layout::MX_A_ND) : 0];
        view.layout = static_cast<uint32_t>(Layout::NZ);
        for (int i = 0; i < 5; ++i) {
            view.shape[i] = given.shape[order[i]];
            view.stride[i] = given.stride[order[i]];
        }
    }
    return view;
}

template <typename TileT>
inline void Load(TileT &dst, const TesseraView &view)
{
    const auto &machine = CurrentMachine();
    TesseraTile tile;
    if (Access::Describe(dst, tile)) {
        machine->Done(tessera_load(machine->handle(), &tile, &view));
    }
}

// The dimensions of a conv tile have names, and the view's tag only repeats them.
template <typename Conv>
inline void LoadConv(Conv &dst, TesseraView view)
{
    view.layout = TESSERA_VIEW_LAYOUT_ND;
    const auto &machine = CurrentMachine();
    TesseraConv tile;
    if (Access::Describe(dst, tile)) {
        machine->Done(tessera_load_conv(machine->handle(), &tile, &view));
    }
}

// A dense array of as many elements as the conv tile has.
template <typename Conv>
inline TesseraView DenseOf(const Conv &dst, const typename Conv::DType *elements)
{
    TesseraView view{};
    // The library reads only.
    view.data = const_cast<typename Conv::DType *>(elements);
    view.elem = static_cast<uint32_t>(ElemOf<typename Conv::DType>::tag);
    view.extent = dst.Numel();
    return view;
}

// What a quantized store takes depends on its parameter too.
template <typename TileT, typename Global>
constexpr void CheckStore()
{
    static_assert(!Global::IsConst, "a store writes, and this is a view of const elements");
    PTO_STATIC_FLOW("tstore", kTstoreSigs, Form::Plain, TileT::Info, ViewInfo<Global>());
}
template <typename Global>
constexpr void CheckWritten()
{
    static_assert(!Global::IsConst, "the instruction writes, and this is a view of const elements");
}

// A tile for indices that lie in global memory: its valid region is what the view holds.
template <typename Dst, typename Index>
using IndexTile = Tile<TileType::Vec, std::remove_const_t<typename Index::DType>, Dst::Rows,
                       (Dst::Cols > Dst::Rows ? Dst::Cols + 7 : Dst::Rows + 7) / 8 * 8, BLayout::RowMajor, -1, -1>;

template <typename Tiles, typename Index>
inline Tiles LoadIndices(const Index &view)
{
    Tiles tile;
    const TesseraView described = view.Describe();
    int64_t rows = 1;
    for (uint32_t i = 0; i + 1 < described.dims; ++i) {
        rows *= described.shape[i];
    }
    tile.SetValidShape(rows, described.shape[described.dims - 1]);
    Load(tile, described);
    return tile;
}

} // namespace pto_detail

// The view into the tile's valid region; the padding is filled where the tile's pad is not Null.
PTO_INTRINSIC(TLOAD, (typename TileT, typename Global), (TileT, Global),
              (pto_detail::IsTileData<TileT> && pto_detail::IsView<Global>), (TileT &dst, const Global &src), (dst, src),
              PTO_STATIC_FLOW("tload", kTloadSigs, pto_detail::Form::Plain, pto_detail::ViewInfo<Global>(), TileT::Info);
              pto_detail::Call(TESSERA_OP_TLOAD, "TLOAD", where).Dst(dst).Transfer(pto_detail::LoadView(src));)
// The window of the tile's valid size that starts at element (row, col) of the view (isa/memory.md 6).
PTO_INTRINSIC(TLOAD, (typename TileT, typename Global), (TileT, Global), (pto_detail::IsTile<TileT> && pto_detail::IsView<Global>),
              (TileT &dst, const Global &src, int64_t row, int64_t col), (dst, src, row, col),
              pto_detail::Call(TESSERA_OP_TLOAD, "TLOAD", where, TESSERA_FORM_WINDOW)
                  .Dst(dst)
                  .At(row, col)
                  .Transfer(pto_detail::LoadView(src));)
// The padding becomes the value.
PTO_INTRINSIC(TLOAD, (typename TileT, typename Global, typename Fill), (TileT, Global, Fill),
              (pto_detail::IsScalar<Fill> && pto_detail::IsView<Global>), (TileT &dst, const Global &src, Fill pad), (dst, src, pad),
              pto_detail::Call(TESSERA_OP_TLOAD, "TLOAD", where)
                  .Dst(dst)
                  .Scalar(TESSERA_ROLE_FILL, pad)
                  .Attr(TESSERA_ATTR_NAME_PAD_MODE, 1)
                  .Transfer(pto_detail::LoadView(src));)
// The dense array behind a pointer.
PTO_INTRINSIC(TLOAD, (typename Conv), (Conv), (pto_detail::IsConvTile<Conv>), (Conv &dst, const typename Conv::DType *src), (dst, src),
              const pto_detail::Run run("TLOAD", where);
              pto_detail::LoadConv(dst, pto_detail::DenseOf(dst, src));)

// Reads a view ahead of its use, through a tile.
PTO_INTRINSIC(TPREFETCH, (typename TileT, typename Global), (TileT, Global),
              (pto_detail::IsTile<TileT> && pto_detail::IsView<Global>), (TileT &dst, const Global &src), (dst, src),
              pto_detail::Call(TESSERA_OP_TPREFETCH, "TPREFETCH", where).Dst(dst).Transfer(pto_detail::LoadView(src));)

// The tile's valid region into the view, by itself, with a quantization parameter, as
// a window, and with a parameter for each column. AtomicAdd
// adds to what is there. What has no defined value is written as 0, with a warning. A phase, if there is one, comes first.
#define PTO_STORES(types, given)                                                                                         \
    PTO_INTRINSIC(TSTORE, (PTO_LIST types, AtomicType atomic = AtomicType::AtomicNone, ReluPreMode relu = ReluPreMode::NoRelu),  \
                  (PTO_LIST given, atomic, relu), (pto_detail::IsTileData<TileT> && pto_detail::IsView<Global>),                 \
                  (const Global &dst, TileT &src), (dst, src), pto_detail::CheckStore<TileT, Global>();                      \
                  pto_detail::Call(TESSERA_OP_TSTORE, "TSTORE", where)                                                       \
                      .Src(src)                                                                                          \
                      .AttrUnless(TESSERA_ATTR_NAME_ATOMIC_TYPE, atomic, AtomicType::AtomicNone)                         \
                      .Relu(relu)                                                                                        \
                      .Transfer(dst.Describe());)                                                                        \
    PTO_INTRINSIC(TSTORE, (PTO_LIST types, AtomicType atomic = AtomicType::AtomicNone, ReluPreMode relu = ReluPreMode::NoRelu),  \
                  (PTO_LIST given, atomic, relu), (pto_detail::IsTile<TileT> && pto_detail::IsView<Global>),                     \
                  (const Global &dst, TileT &src, uint64_t preQuantScalar), (dst, src, preQuantScalar),                  \
                  pto_detail::CheckWritten<Global>();                                                                        \
                  pto_detail::Call(TESSERA_OP_TSTORE, "TSTORE", where, TESSERA_FORM_SCALAR_QUANT)                            \
                      .Src(src)                                                                                          \
                      .Quant(preQuantScalar)                                                                             \
                      .AttrUnless(TESSERA_ATTR_NAME_ATOMIC_TYPE, atomic, AtomicType::AtomicNone)                         \
                      .Relu(relu)                                                                                        \
                      .Transfer(dst.Describe());)                                                                        \
    PTO_INTRINSIC(TSTORE, (PTO_LIST types, AtomicType atomic = AtomicType::AtomicNone, ReluPreMode relu = ReluPreMode::NoRelu),  \
                  (PTO_LIST given, atomic, relu), (pto_detail::IsTile<TileT> && pto_detail::IsView<Global>),                     \
                  (const Global &dst, TileT &src, int64_t row, int64_t col), (dst, src, row, col),                       \
                  pto_detail::CheckWritten<Global>();                                                                        \
                  pto_detail::Call(TESSERA_OP_TSTORE, "TSTORE", where, TESSERA_FORM_WINDOW)                                  \
                      .Src(src)                                                                                          \
                      .At(row, col)                                                                                      \
                      .AttrUnless(TESSERA_ATTR_NAME_ATOMIC_TYPE, atomic, AtomicType::AtomicNone)                         \
                      .Relu(relu)                                                                                        \
                      .Transfer(dst.Describe());)                                                                        \
    PTO_INTRINSIC(TSTORE_FP, (PTO_LIST types, typename Fp, AtomicType atomic = AtomicType::AtomicNone,                   \
                              ReluPreMode relu = ReluPreMode::NoRelu),                                                   \
                  (PTO_LIST given, Fp, atomic, relu), (pto_detail::IsTile<Fp> && pto_detail::IsView<Global>),                    \
                  (const Global &dst, TileT &src, Fp &fp), (dst, src, fp), pto_detail::CheckWritten<Global>();               \
                  pto_detail::Call(TESSERA_OP_TSTORE_FP, "TSTORE_FP", where, TESSERA_FORM_VECTOR_QUANT)                      \
                      .Src(src)                                                                                          \
                      .Fp(fp)                                                                                            \
                      .AttrUnless(TESSERA_ATTR_NAME_ATOMIC_TYPE, atomic, AtomicType::AtomicNone)                         \
                      .Relu(relu)                                                                                        \
                      .Transfer(dst.Describe());)
PTO_STORES((typename TileT, typename Global), (TileT, Global))
PTO_STORES((STPhase phase, typename TileT, typename Global), (phase, TileT, Global))
#undef PTO_STORES

// Rows or elements of a view by index; without a word the shape of the indices tells which.
PTO_INTRINSIC(MGATHER, (typename TileT, typename Global, typename Index), (TileT, Global, Index),
              (pto_detail::IsTile<Index> && pto_detail::IsView<Global>), (TileT &dst, const Global &src, Index &idx), (dst, src, idx),
              pto_detail::Call(TESSERA_OP_MGATHER, "MGATHER", where)
                  .Tile(TESSERA_ROLE_IDX, idx)
                  .Dst(dst)
                  .Transfer(src.Describe());)
PTO_INTRINSIC(MGATHER, (Coalesce coalesce, GatherOOB oob = GatherOOB::Undefined, typename TileT, typename Global, typename Index),
              (coalesce, oob, TileT, Global, Index), (pto_detail::IsTile<Index> && pto_detail::IsView<Global>),
              (TileT &dst, const Global &src, Index &idx), (dst, src, idx),
              pto_detail::Call(TESSERA_OP_MGATHER, "MGATHER", where)
                  .Tile(TESSERA_ROLE_IDX, idx)
                  .Dst(dst)
                  .Attr(TESSERA_ATTR_NAME_COALESCE, static_cast<int64_t>(coalesce))
                  .AttrUnless(TESSERA_ATTR_NAME_GATHER_OOB, oob, GatherOOB::Undefined)
                  .Transfer(src.Describe());)

// With indices in global memory; nothing needs the scratch.
template <Coalesce coalesce = Coalesce::Elem, GatherOOB oob = GatherOOB::Undefined, GatherExec exec = GatherExec::Scalar,
          typename TileT, typename Global, typename Index, typename Scratch>
PTO_INST std::enable_if_t<pto_detail::IsView<Index> && pto_detail::IsView<Scratch>> MGATHER_IMPL(
    TileT &dst, const Global &src, const Index &idx, const Scratch &, const pto_detail::SourceLocation &where = pto_detail::SourceLocation::Here())
{
    const pto_detail::Run run("MGATHER", where);
    auto indices = pto_detail::LoadIndices<pto_detail::IndexTile<TileT, Index>>(idx);
    MGATHER_IMPL<coalesce, oob>(dst, src, indices, where);
}
template <Coalesce coalesce = Coalesce::Elem, GatherOOB oob = GatherOOB::Undefined, GatherExec exec = GatherExec::Scalar,
          typename TileT, typename Global, typename Index, typename Scratch>
PTO_INST pto_detail::Returns<pto_detail::IsView<Index> && pto_detail::IsView<Scratch>> MGATHER(
    TileT &dst, const Global &src, const Index &idx, const Scratch &scratch,
    const pto_detail::SourceLocation &where = pto_detail::SourceLocation::Here())
{
    return MGATHER_IMPL<coalesce, oob, exec>(dst, src, idx, scratch, where), RecordEvent{};
}

// Rows or elements of a tile into a view by index.
PTO_INTRINSIC(MSCATTER, (typename Global, typename TileT, typename Index), (Global, TileT, Index),
              (pto_detail::IsTile<Index> && pto_detail::IsView<Global>), (const Global &dst, TileT &src, Index &idx), (dst, src, idx),
              pto_detail::CheckWritten<Global>();
              pto_detail::Call(TESSERA_OP_MSCATTER, "MSCATTER", where)
                  .Src(src)
                  .Tile(TESSERA_ROLE_IDX, idx)
                  .Transfer(dst.Describe());)
PTO_INTRINSIC(MSCATTER,
              (Coalesce coalesce, ScatterAtomicOp atomic = ScatterAtomicOp::None, ScatterOOB oob = ScatterOOB::Undefined,
               ScatterConflict conflict = ScatterConflict::Default, typename Global, typename TileT, typename Index),
              (coalesce, atomic, oob, conflict, Global, TileT, Index), (pto_detail::IsTile<Index> && pto_detail::IsView<Global>),
              (const Global &dst, TileT &src, Index &idx), (dst, src, idx),
              static_assert(conflict != ScatterConflict::Last || atomic == ScatterAtomicOp::None,
                            "mscatter-attr: the last element wins only where nothing is combined");
              pto_detail::CheckWritten<Global>();
              pto_detail::Call(TESSERA_OP_MSCATTER, "MSCATTER", where)
                  .Src(src)
                  .Tile(TESSERA_ROLE_IDX, idx)
                  .Attr(TESSERA_ATTR_NAME_COALESCE, static_cast<int64_t>(coalesce))
                  .AttrUnless(TESSERA_ATTR_NAME_SCATTER_ATOMIC_OP, atomic, ScatterAtomicOp::None)
                  .AttrUnless(TESSERA_ATTR_NAME_SCATTER_OOB, oob, ScatterOOB::Undefined)
                  .Transfer(dst.Describe());)

} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
