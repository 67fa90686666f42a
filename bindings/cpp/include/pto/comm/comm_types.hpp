// Types of communication (cpp.md 6.8, 7).

#ifndef PTO_COMM_COMM_TYPES_HPP
#define PTO_COMM_COMM_TYPES_HPP

#include <pto/pto-inst.hpp>

namespace pto {
namespace comm {

enum class NotifyOp : uint32_t { AtomicAdd, Set };
enum class WaitCmp : uint32_t { EQ, NE, GT, GE, LT, LE };
enum class ReduceOp : uint32_t { Sum, Max, Min };
enum class DmaEngine : uint32_t { SDMA, URMA, RDMA };
enum class CollEngine : uint32_t { AIV, CCU };

// A number that cores wait for: one, a matrix of them, or any view of them.
struct Signal : GlobalTensor<int32_t, Shape<1, 1, 1, 1, 1>, Stride<1, 1, 1, 1, 1>> {
    using GlobalTensor::GlobalTensor;
};
template <int Rows, int Cols>
struct Signal2D : GlobalTensor<int32_t, Shape<1, 1, 1, Rows, Cols>, Stride<-1, -1, -1, -1, 1>> {
    using Base = GlobalTensor<int32_t, Shape<1, 1, 1, Rows, Cols>, Stride<-1, -1, -1, -1, 1>>;
    explicit Signal2D(int32_t *data, int64_t stride = Cols)
        : Base(data, typename Base::Shape(), typename Base::Stride(Rows * stride, Rows * stride, Rows * stride, stride))
    {}
};
template <typename ShapeT = Shape<1, 1, 1, 1, 1>, typename StrideT = Stride<1, 1, 1, 1, 1>, Layout Tag = Layout::ND>
using GlobalSignal = GlobalTensor<int32_t, ShapeT, StrideT, Tag>;

// The ranks of a collective operation: a view for each, and which one is the root.
template <typename GlobalT>
class ParallelGroup {
public:
    using value_type = GlobalT;
    using GlobalData = GlobalT;

    ParallelGroup(GlobalT *views, int count, int root) : views_(views), count_(count), root_(root) {}
    static ParallelGroup Create(GlobalT *views, int count, int root) { return ParallelGroup(views, count, root); }

    GlobalT &operator[](int i) const { return views_[i]; }
    int GetSize() const { return count_; }
    int GetRootIdx() const { return root_; }

private:
    GlobalT *views_;
    int count_;
    int root_;
};

// A transfer runs when it is called: its session has nothing to keep, and its event is done.
struct AsyncSession {};

struct AsyncEvent {
    bool isValid = false;

    bool valid() const { return isValid; }
    bool Wait(const AsyncSession &) const { return isValid; }
    bool Test(const AsyncSession &) const { return isValid; }
};

} // namespace comm
} // namespace pto

#endif
