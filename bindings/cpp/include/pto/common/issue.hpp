// Puts an instruction together and hands it to the core.

#ifndef PTO_COMMON_ISSUE_HPP
#define PTO_COMMON_ISSUE_HPP

#include <pto/common/event.hpp>
#include <pto/common/tile.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {
namespace detail {

template <typename T>
inline constexpr bool IsTile = std::is_base_of_v<TileBase, std::remove_cv_t<T>>;

// RecordEvent where the operand is a tile, or a scalar, and all trailing operands are events.
template <typename Operand, typename... WaitEvents>
using TileEventIf = std::enable_if_t<IsTile<Operand> && (IsEvent<WaitEvents> && ...), RecordEvent>;
template <typename Operand, typename... WaitEvents>
using ScalarEventIf = std::enable_if_t<IsScalar<Operand> && (IsEvent<WaitEvents> && ...), RecordEvent>;

class Call {
public:
    explicit Call(TesseraOp op) : op_(op) { attrs_.set = 0; }

    template <typename TileT>
    Call &Tile(TesseraRole role, const TileT &tile, bool needsStorage = true)
    {
        TesseraTileArg &arg = tiles_[tileCount_++];
        arg.role = static_cast<uint32_t>(role);
        arg.reserved = 0;
        ok_ = ok_ && Access::Describe(tile, arg.tile, needsStorage);
        return *this;
    }
    template <typename TileT>
    Call &Dst(const TileT &tile)
    {
        return Tile(TESSERA_ROLE_DST, tile);
    }
    template <typename TileT>
    Call &Src(const TileT &tile)
    {
        return Tile(TESSERA_ROLE_SRC, tile);
    }
    template <typename TileT>
    Call &Fp(const TileT &tile)
    {
        return Tile(TESSERA_ROLE_FP, tile);
    }
    template <typename ConvT>
    Call &Conv(const ConvT &tile)
    {
        ok_ = ok_ && Access::DescribeConv(tile, conv_);
        hasConv_ = true;
        return *this;
    }

    template <typename V>
    Call &Scalar(TesseraRole role, V value)
    {
        scalars_[scalarCount_++] = MakeScalar(role, value);
        return *this;
    }
    Call &At(int64_t row, int64_t col)
    {
        return Scalar(TESSERA_ROLE_ROW, row).Scalar(TESSERA_ROLE_COL, col);
    }
    Call &Quant(uint64_t parameter) { return Scalar(TESSERA_ROLE_QUANT, parameter); }

    Call &Relu(ReluPreMode relu)
    {
        attrs_.relu = static_cast<uint32_t>(relu);
        return Has(TESSERA_HAS_RELU);
    }
    Call &Mode(AccToVecMode mode)
    {
        attrs_.acc_to_vec = static_cast<uint32_t>(mode);
        return Has(TESSERA_HAS_ACC_TO_VEC);
    }
    Call &Split(TInsertMode mode)
    {
        attrs_.split = static_cast<uint32_t>(mode);
        return Has(TESSERA_HAS_SPLIT);
    }
    // Attributes that only few instructions have are filled in by the caller.
    template <typename Fill>
    Call &Attrs(uint32_t bits, Fill fill)
    {
        fill(attrs_);
        return Has(bits);
    }

    // Says whether the instruction was executed; if not, the error was handed to a handler.
    bool Done()
    {
        if (!ok_) {
            return false;
        }
        const std::shared_ptr<Machine> &machine = CurrentMachine();
        const TesseraInst inst{static_cast<uint32_t>(op_), tileCount_, scalarCount_, 0, tiles_, scalars_,
                               attrs_.set != 0 ? &attrs_ : nullptr, hasConv_ ? &conv_ : nullptr};
        return machine->Done(tessera_issue(machine->handle(), &inst));
    }
    RecordEvent Issue()
    {
        Done();
        return {};
    }

private:
    Call &Has(uint32_t bits)
    {
        attrs_.set |= bits;
        return *this;
    }

    TesseraOp op_;
    uint32_t tileCount_ = 0;
    uint32_t scalarCount_ = 0;
    bool ok_ = true;
    bool hasConv_ = false;
    TesseraTileArg tiles_[6];
    TesseraScalar scalars_[5];
    TesseraAttrs attrs_;
    TesseraConv conv_;
};

} // namespace detail
} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

#endif
