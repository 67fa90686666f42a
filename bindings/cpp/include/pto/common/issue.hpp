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
    Run(const char *name, const SourceLocation &where) : running_{name, where, CurrentRunning()} { CurrentRunning() = &running_; }
    ~Run() { CurrentRunning() = running_.outer; }
    Run(const Run &) = delete;
    Run &operator=(const Run &) = delete;

private:
    Running running_;
};

class Call {
    static constexpr std::size_t kTiles = 7, kScalars = 6, kAttrs = 8;

public:
    // The form is said where operands alone do not tell it.
    Call(TesseraOp op, const char *name, const SourceLocation &where, TesseraForm form = TESSERA_FORM_PLAIN)
        : run_(name, where), op_(op), form_(form), machine_(*CurrentMachine())
    {}
    explicit Call(TesseraOp op) : Call(op, nullptr, SourceLocation{}) {}

    template <typename TileT>
    Call &Tile(TesseraRole role, const TileT &tile, bool needsStorage = true)
    {
        ok_ = ok_ && Access::Ready(tile, needsStorage);
        Access::Words(tile, role, key_ + keyCount_);
        tileKeys_[tileCount_++] = keyCount_;
        keyCount_ += 4;
        return *this;
    }
    // The last tile that was given has this pad value instead of its own.
    Call &Padded(PadValue pad)
    {
        key_[tileKeys_[tileCount_ - 1] + 3] |= (static_cast<uint64_t>(pad) + 1) << 8;
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
        return Saturating().Tile(TESSERA_ROLE_FP, tile);
    }
    template <typename ConvT>
    Call &Conv(const ConvT &tile)
    {
        ok_ = ok_ && Access::Describe(tile, conv_);
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
        AppendKey(static_cast<uint64_t>(view.elem) << 32 | view.layout << 16 | view.dims, static_cast<uint64_t>(view.extent));
        for (uint32_t i = 0; i < view.dims; ++i) {
            AppendKey(static_cast<uint64_t>(view.shape[i]), static_cast<uint64_t>(view.stride[i]));
        }
        return Done(&view);
    }
    // For an instruction that gives a scalar.
    bool Get(void *value, std::size_t size)
    {
        const Described described(*this);
        Judge();
        return ok_ && machine_.Done(tessera_get(machine_.handle(), &described.inst, value, size));
    }
    RecordEvent Issue()
    {
        Done();
        return {};
    }

private:
    bool Done(const TesseraView *view)
    {
        key_[0] = static_cast<uint64_t>(op_) << 32 | static_cast<uint32_t>(form_);
        key_[1] = static_cast<uint64_t>(view != nullptr) << 24 | tileCount_ << 16 | scalarCount_ << 8 | attrCount_;
        void *data = view == nullptr ? nullptr : view->data;
        Judge();
        if (ok_ && !hasConv_ && tessera_reissue(machine_.handle(), key_, keyCount_, data) == TESSERA_STATUS_OK) {
            return true;
        }
        return ok_ && Anew(view);
    }
    // Where order is judged the library knows the place of the call.
    static void Judge()
    {
        if (IsJudged()) {
            JudgedAt(nullptr, SourceLocation{});
        }
    }
    bool Anew(const TesseraView *view) const
    {
        const Described described(*this);
        return machine_.Done(view == nullptr ? tessera_issue(machine_.handle(), &described.inst)
                                             : tessera_transfer(machine_.handle(), &described.inst, view));
    }
    // Bit 48 of the thread's task word: quantization on cpu saturates infinities, too (cpp.md 8).
    Call &Saturating()
    {
        const bool saturates = (get_task_cookie() >> 48 & 1) != 0 && RunsOn(1u << TESSERA_PROFILE_CPU);
        return saturates ? Attr(TESSERA_ATTR_NAME_SATURATE_INF, 1) : *this;
    }
    Call &Add(const TesseraScalar &scalar)
    {
        scalarKeys_[scalarCount_++] = keyCount_;
        return AppendKey(static_cast<uint64_t>(scalar.role) << 32 | scalar.kind << 16 | scalar.elem, scalar.bits);
    }
    Call &Add(const TesseraAttr &attr)
    {
        attrKeys_[attrCount_++] = keyCount_;
        const auto value = [&](int i) { return static_cast<uint64_t>(attr.values[i]); };
        return AppendKey(static_cast<uint64_t>(attr.name) << 32 | attr.kind, value(0), value(1), value(2), value(3));
    }
    // More of what tells the instruction from others.
    template <typename... Words>
    Call &AppendKey(Words... words)
    {
        ((key_[keyCount_++] = words), ...);
        return *this;
    }
    // The instruction as the library takes it: what its key says.
    struct Described {
        explicit Described(const Call &call)
        {
            for (uint32_t i = 0; i < call.tileCount_; ++i) {
                const uint64_t *key = call.key_ + call.tileKeys_[i];
                tiles[i] = {static_cast<uint32_t>(key[3] & 0xFF), 0, Access::Described(key)};
            }
            for (uint32_t i = 0; i < call.scalarCount_; ++i) {
                const uint64_t *key = call.key_ + call.scalarKeys_[i];
                scalars[i] = {static_cast<uint32_t>(key[0] >> 32), static_cast<uint32_t>(key[0] >> 16 & 0xFFFF), key[1],
                              static_cast<uint32_t>(key[0] & 0xFFFF), 0};
            }
            for (uint32_t i = 0; i < call.attrCount_; ++i) {
                const uint64_t *key = call.key_ + call.attrKeys_[i];
                const auto value = [&](int n) { return static_cast<int64_t>(key[n]); };
                attrs[i] = {static_cast<uint32_t>(key[0] >> 32), static_cast<uint32_t>(key[0]),
                            {value(1), value(2), value(3), value(4)}};
            }
            // The key says nothing of a conv tile.
            const uint32_t words = call.hasConv_ ? 0 : call.keyCount_;
            inst = {static_cast<uint32_t>(call.op_), call.tileCount_, call.scalarCount_, call.attrCount_,
                    static_cast<uint32_t>(call.form_), words, tiles, scalars, attrs, call.hasConv_ ? &call.conv_ : nullptr,
                    call.key_};
        }
        Described(const Described &) = delete;
        Described &operator=(const Described &) = delete;

        TesseraTileArg tiles[kTiles];
        TesseraScalar scalars[kScalars];
        TesseraAttr attrs[kAttrs];
        TesseraInst inst;
    };

    // The instruction itself, 4 words a tile, 2 a scalar, 5 an attribute, 12 a view.
    static constexpr std::size_t kKey = 2 + 4 * kTiles + 2 * kScalars + 5 * kAttrs + 12;

    Run run_;
    TesseraOp op_;
    TesseraForm form_;
    uint32_t tileCount_ = 0;
    uint32_t scalarCount_ = 0;
    uint32_t attrCount_ = 0;
    bool ok_ = true;
    bool hasConv_ = false;
    Machine &machine_;
    // All that the instruction is but where its view lies, which is what the library knows it by when it is issued again.
    uint32_t keyCount_ = 2;
    uint64_t key_[kKey];
    // Where operands stand in the key.
    uint32_t tileKeys_[kTiles];
    uint32_t scalarKeys_[kScalars];
    uint32_t attrKeys_[kAttrs];
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
                                                  const pto_detail::SourceLocation &where = pto_detail::SourceLocation::Here()) \
    {                                                                                                                    \
        __VA_ARGS__                                                                                                      \
    }                                                                                                                    \
    template <PTO_LIST types>                                                                                            \
    PTO_INST pto_detail::Returns<exists> name(PTO_LIST defaulted, const pto_detail::SourceLocation &where = pto_detail::SourceLocation::Here()) \
    {                                                                                                                    \
        return name##_IMPL<PTO_LIST given>(PTO_LIST arguments, where), RecordEvent{};                                    \
    }                                                                                                                    \
    template <PTO_LIST types, typename WaitEvent>                                                                        \
    PTO_INST pto_detail::Returns<exists, WaitEvent> name(PTO_LIST parameters, WaitEvent &event,                          \
                                                         const pto_detail::SourceLocation &where = pto_detail::SourceLocation::Here()) \
    {                                                                                                                    \
        return event.Await(), name##_IMPL<PTO_LIST given>(PTO_LIST arguments, where), RecordEvent{};                     \
    }                                                                                                                    \
    template <PTO_LIST types, typename WaitEvent, typename Second, typename... WaitEvents>                               \
    PTO_INST pto_detail::Returns<exists, WaitEvent, Second, WaitEvents...> name(PTO_LIST parameters, WaitEvent &event,   \
                                                                                Second &second, WaitEvents &...events)   \
    {                                                                                                                    \
        event.Await(), second.Await(), (events.Await(), ...);                                                            \
        return name##_IMPL<PTO_LIST given>(PTO_LIST arguments, pto_detail::SourceLocation{}), RecordEvent{};             \
    }
#define PTO_INTRINSIC(name, types, given, exists, parameters, arguments, ...)                                            \
    PTO_INTRINSIC_OR(name, types, given, exists, parameters, parameters, arguments, __VA_ARGS__)

#endif
