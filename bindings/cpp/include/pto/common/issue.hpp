// Puts an instruction together and hands it to the core.

#ifndef PTO_COMMON_ISSUE_HPP
#define PTO_COMMON_ISSUE_HPP

#include <utility>

#include <pto/common/conv_tile.hpp>
#include <pto/common/event.hpp>

namespace pto {
inline namespace PTO_PROFILE_NAMESPACE {
namespace pto_detail {

template <typename T>
inline constexpr bool IsTile = std::is_base_of_v<TileBase, std::remove_cv_t<T>>;

template <typename T, typename = void>
inline constexpr bool IsConvTile = false;
template <typename T>
inline constexpr bool IsConvTile<T, std::enable_if_t<std::is_same_v<typename T::Described, TesseraConv>>> = true;

// Is it a tile with rows and columns?
template <typename T>
inline constexpr bool IsTileData = IsTile<T> && !IsConvTile<T>;

template <typename T, typename = void>
inline constexpr bool IsBoxedTile = false;
template <typename T>
inline constexpr bool IsBoxedTile<T, std::enable_if_t<T::isBoxedLayout>> = true;

// Is it a tile in one of these locations?
template <typename T>
constexpr bool LiesIn(uint32_t locations)
{
    if constexpr (IsTile<T>) {
        return (locations >> static_cast<uint32_t>(T::Loc) & 1) != 0;
    } else {
        return false;
    }
}

// Is it a view of global memory?
template <typename T, typename Enable = void>
inline constexpr bool IsView = false;
template <typename T>
inline constexpr bool IsView<T, std::void_t<decltype(std::declval<const T &>().Describe())>> = true;

// RecordEvent where the operand is a scalar.
template <typename Operand>
using ScalarEventIf = std::enable_if_t<IsScalar<Operand>, RecordEvent>;
// What a call returns where the condition holds and all trailing operands are events; else the overload does not exist.
template <bool Condition, typename... WaitEvents>
using Returns = std::enable_if_t<Condition && (IsEvent<WaitEvents> && ...), RecordEvent>;

// Is the profile one of these?
inline bool RunsOn(uint32_t profiles) { return (profiles >> static_cast<uint32_t>(GetProfile()) & 1) != 0; }

// The run of an intrinsic, by its name and the place of the call: errors while it lives are its errors.
class Run {
public:
    Run(const char *name, const Where &where) : running_{name, where, CurrentRunning()} { CurrentRunning() = &running_; }
    ~Run() { CurrentRunning() = running_.outer; }
    Run(const Run &) = delete;
    Run &operator=(const Run &) = delete;

private:
    Running running_;
};

class Call {
public:
    // The form is said where operands alone do not tell it.
    Call(TesseraOp op, const char *name, const Where &where, TesseraForm form = TESSERA_FORM_PLAIN)
        : run_(name, where), op_(op), form_(form), machine_(*CurrentMachine()), expected_(machine_.Expected()),
          changes_(machine_.changes())
    {}
    explicit Call(TesseraOp op) : Call(op, nullptr, Where{}) {}

    template <typename TileT>
    Call &Tile(TesseraRole role, const TileT &tile, bool needsStorage = true)
    {
        operands_[tileCount_++] = {&tile, DescribeAs<TileT>, static_cast<uint8_t>(role), needsStorage, false, 0};
        const bool isBound = Access::Words(tile, role, [this](auto... words) { this->Say(words...); });
        isSaid_ = isSaid_ && isBound;
        return *this;
    }
    // The last tile that was given has this pad value instead of its own.
    Call &Padded(PadValue pad)
    {
        Operand &last = operands_[tileCount_ - 1];
        last.isPadded = true;
        last.pad = static_cast<uint32_t>(pad);
        return Say(last.pad);
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
        return Saturating().Tile(TESSERA_ROLE_FP, tile);
    }
    template <typename ConvT>
    Call &Conv(const ConvT &tile)
    {
        ok_ = ok_ && Access::DescribeConv(tile, conv_);
        hasConv_ = true;
        return *this;
    }

    template <typename ValueT>
    Call &Scalar(TesseraRole role, ValueT value)
    {
        return Add(MakeScalar(role, value));
    }
    template <typename T>
    Call &Value(TesseraRole role, const ScalarOf<T> &value)
    {
        TesseraScalar scalar = value.scalar;
        scalar.role = static_cast<uint32_t>(role);
        return Add(scalar);
    }
    Call &At(int64_t row, int64_t col)
    {
        return Scalar(TESSERA_ROLE_ROW, row).Scalar(TESSERA_ROLE_COL, col);
    }
    Call &Quant(uint64_t parameter) { return Saturating().Scalar(TESSERA_ROLE_QUANT, parameter); }

    Call &Relu(ReluPreMode relu) { return AttrUnless(TESSERA_ATTR_NAME_RELU_PRE_MODE, relu, ReluPreMode::NoRelu); }
    Call &Mode(AccToVecMode mode)
    {
        return Attr(TESSERA_ATTR_NAME_ACC_TO_VEC_MODE, static_cast<int64_t>(mode));
    }
    Call &Split(TInsertMode mode)
    {
        return Attr(TESSERA_ATTR_NAME_MODE, static_cast<int64_t>(mode));
    }
    // As many integers as the attribute has.
    Call &Attr(TesseraAttrName name, int64_t a, int64_t b = 0, int64_t c = 0, int64_t d = 0)
    {
        return Add(TesseraAttr{static_cast<uint32_t>(name), 0, {a, b, c, d}});
    }
    // What is usual need not be said.
    template <typename Word>
    Call &AttrUnless(TesseraAttrName name, Word word, Word usual)
    {
        return word == usual ? *this : Attr(name, static_cast<int64_t>(word));
    }
    Call &Attr(TesseraAttrName name, const TesseraScalar &number)
    {
        return Add(TesseraAttr{static_cast<uint32_t>(name), number.kind, {static_cast<int64_t>(number.bits), 0, 0, 0}});
    }

    // Says whether the instruction was executed; if not, the error was handed to a handler.
    bool Done() { return Done(nullptr); }
    // The same, with a view of global memory.
    bool Transfer(const TesseraView &view)
    {
        Say(static_cast<uint64_t>(view.elem) << 32 | view.layout << 16 | view.dims, static_cast<uint64_t>(view.extent));
        for (uint32_t i = 0; i < view.dims; ++i) {
            Say(static_cast<uint64_t>(view.shape[i]), static_cast<uint64_t>(view.stride[i]));
        }
        return Done(&view);
    }
    // For an instruction that gives a scalar.
    bool Get(void *value, std::size_t size)
    {
        if (!Describe()) {
            return false;
        }
        const TesseraInst inst = Inst();
        return machine_.Done(tessera_get(machine_.handle(), &inst, value, size));
    }
    RecordEvent Issue()
    {
        Done();
        return {};
    }

private:
    bool Done(const TesseraView *view)
    {
        const bool isSaid = isSaid_ && !hasConv_;
        const uint64_t hasView = view != nullptr;
        SayAt(0, static_cast<uint64_t>(op_) << 32 | static_cast<uint32_t>(form_));
        SayAt(1, hasView << 24 | static_cast<uint64_t>(tileCount_) << 16 | scalarCount_ << 8 | attrCount_);
        // Somebody else may have issued instructions while this one was put together.
        const bool isExpected = differs_ == 0 && expected_.count == wordCount_ && changes_ == machine_.changes() &&
                                &expected_ == &machine_.Expected();
        if (isSaid && (isExpected ? machine_.AgainAsExpected(view) : machine_.Again(words_, wordCount_, view))) {
            return true;
        }
        if (!Describe()) {
            return false;
        }
        const TesseraInst inst = Inst();
        const bool isDone = machine_.Done(view == nullptr ? tessera_issue(machine_.handle(), &inst)
                                                          : tessera_transfer(machine_.handle(), &inst, view));
        if (isDone && isSaid) {
            machine_.Remember(words_, wordCount_);
        }
        return isDone;
    }
    // Bit 48 of the thread's task word: quantization on cpu saturates infinities, too (cpp.md 8).
    Call &Saturating()
    {
        const bool saturates = (get_task_cookie() >> 48 & 1) != 0 && RunsOn(1u << TESSERA_PROFILE_CPU);
        return saturates ? Attr(TESSERA_ATTR_NAME_SATURATE_INF, 1) : *this;
    }
    // What a tile operand is, and how it is described where that is needed.
    struct Operand {
        const void *tile;
        bool (*describe)(const void *tile, TesseraTile &out, bool needsStorage);
        uint8_t role;
        bool needsStorage;
        bool isPadded;
        uint32_t pad;
    };
    template <typename TileT>
    static bool DescribeAs(const void *tile, TesseraTile &out, bool needsStorage)
    {
        return Access::Describe(*static_cast<const TileT *>(tile), out, needsStorage);
    }
    bool Describe()
    {
        for (uint32_t i = 0; ok_ && i < tileCount_; ++i) {
            const Operand &operand = operands_[i];
            tiles_[i].role = operand.role;
            tiles_[i].reserved = 0;
            ok_ = operand.describe(operand.tile, tiles_[i].tile, operand.needsStorage);
            tiles_[i].tile.pad = operand.isPadded ? operand.pad : tiles_[i].tile.pad;
        }
        return ok_;
    }
    Call &Add(const TesseraScalar &scalar)
    {
        scalars_[scalarCount_++] = scalar;
        return Say(static_cast<uint64_t>(scalar.role) << 32 | scalar.kind << 16 | scalar.elem, scalar.bits);
    }
    Call &Add(const TesseraAttr &attr)
    {
        attrs_[attrCount_++] = attr;
        const auto value = [&](int i) { return static_cast<uint64_t>(attr.values[i]); };
        return Say(static_cast<uint64_t>(attr.name) << 32 | attr.kind, value(0), value(1), value(2), value(3));
    }
    // More of what tells the instruction from others; while it is put together it is compared with the expected one.
    template <typename... Words>
    Call &Say(Words... words)
    {
        isSaid_ = isSaid_ && wordCount_ + sizeof...(Words) <= Machine::kWords;
        if (isSaid_) {
            (SayAt(wordCount_++, words), ...);
        }
        return *this;
    }
    void SayAt(std::size_t place, uint64_t word)
    {
        words_[place] = word;
        differs_ |= word ^ expected_.words[place];
    }
    TesseraInst Inst() const
    {
        return {static_cast<uint32_t>(op_), tileCount_, scalarCount_, attrCount_, static_cast<uint32_t>(form_), 0,
                tiles_, scalars_, attrs_,
                hasConv_ ? &conv_ : nullptr};
    }

    Run run_;
    TesseraOp op_;
    TesseraForm form_;
    uint32_t tileCount_ = 0;
    uint32_t scalarCount_ = 0;
    uint32_t attrCount_ = 0;
    bool ok_ = true;
    bool hasConv_ = false;
    Machine &machine_;
    const Machine::Issued &expected_;
    uint64_t changes_;
    // Do the words, behind two for the instruction itself, say all of it?
    bool isSaid_ = true;
    std::size_t wordCount_ = 2;
    // Which bits are others than those of the expected instruction.
    uint64_t differs_ = 0;
    uint64_t words_[Machine::kWords];
    Operand operands_[7];
    TesseraTileArg tiles_[7];
    TesseraScalar scalars_[6];
    TesseraAttr attrs_[8];
    TesseraConv conv_;
};

} // namespace pto_detail
} // namespace PTO_PROFILE_NAMESPACE
} // namespace pto

// An intrinsic, beside `name_IMPL` and the overload with events: template parameters and their names, the condition under
// which it exists, parameters with their defaults and without, their names, and what it does.
#define PTO_LIST(...) __VA_ARGS__
#define PTO_INTRINSIC_OR(name, types, given, exists, defaulted, parameters, arguments, ...)                              \
    template <PTO_LIST types>                                                                                            \
    PTO_INST std::enable_if_t<exists> name##_IMPL(PTO_LIST defaulted,                                                    \
                                                  const pto_detail::Where &where = pto_detail::Where::Here())                    \
    {                                                                                                                    \
        __VA_ARGS__                                                                                                      \
    }                                                                                                                    \
    template <PTO_LIST types>                                                                                            \
    PTO_INST pto_detail::Returns<exists> name(PTO_LIST defaulted, const pto_detail::Where &where = pto_detail::Where::Here())        \
    {                                                                                                                    \
        return name##_IMPL<PTO_LIST given>(PTO_LIST arguments, where), RecordEvent{};                                    \
    }                                                                                                                    \
    template <PTO_LIST types, typename WaitEvent, typename... WaitEvents>                                                \
    PTO_INST pto_detail::Returns<exists, WaitEvent, WaitEvents...> name(PTO_LIST parameters, WaitEvent &, WaitEvents &...)   \
    {                                                                                                                    \
        return name##_IMPL<PTO_LIST given>(PTO_LIST arguments, pto_detail::Where{}), RecordEvent{};                          \
    }
#define PTO_INTRINSIC(name, types, given, exists, parameters, arguments, ...)                                            \
    PTO_INTRINSIC_OR(name, types, given, exists, parameters, parameters, arguments, __VA_ARGS__)

#endif
