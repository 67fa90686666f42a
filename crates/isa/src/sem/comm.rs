//! Communication between ranks (isa/comm.md): what an operation does with the memories of all ranks.

/// An operation between ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comm {
    /// A view is copied, or added, into a view.
    Put,
    /// A view is copied into a view.
    Get,
    /// The words of a signal are set or added to.
    Notify,
    /// The process waits until all words of a signal compare true.
    Wait,
    /// Whether all words of a signal compare true now.
    Test,
    /// A view is copied into the view of every member.
    Broadcast,
    /// The members' views are joined by rows.
    Gather,
    /// The rows of a view are dealt out to the members.
    Scatter,
    /// The members' views are combined element by element.
    Reduce,
    /// A session of asynchronous transfers begins.
    Session,
    /// A copy begins.
    PutAsync,
    /// A copy begins.
    GetAsync,
    /// The process waits until a copy is done.
    AwaitEvent,
    /// Whether a copy is done.
    TestEvent,
}

impl Comm {
    /// Whether it stands in code of the cube core, too: it moves nothing but the words of a signal (isa/comm.md).
    pub const fn is_signal(self) -> bool {
        matches!(self, Comm::Notify | Comm::Wait | Comm::Test)
    }

    /// Whether only the root of a group runs it (isa/comm.md 3).
    pub const fn is_collective(self) -> bool {
        matches!(self, Comm::Broadcast | Comm::Gather | Comm::Scatter | Comm::Reduce)
    }

    /// Whether it starts a copy that a later operation waits for (isa/comm.md 9).
    pub const fn is_async(self) -> bool {
        matches!(self, Comm::PutAsync | Comm::GetAsync)
    }

    /// Whether its bytes pass through tiles, which become undefined.
    pub const fn is_staged(self) -> bool {
        matches!(self, Comm::Put | Comm::Get) || self.is_collective()
    }
}
