//! Communication between ranks (isa/comm.md). The rows have no signatures: views say what fits, and the rules are those
//! of isa/comm.md 4, which [`Comm`]'s kinds share.

use super::*;
use crate::sem::Comm;

/// How an operation between ranks is written: the parts between its parentheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommText {
    pub parts: &'static [CommPart],
    pub has_result: bool,
}

/// A part of the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommPart {
    One(Role),
    /// `buf(%ping[, %pong])`: tiles through which the bytes pass.
    Staging(&'static str),
    /// `group(%g0, %g1, …)`: a view of each member.
    Group(&'static str),
}

impl Opcode {
    /// The rule of an operation between ranks with this end: `comm_tput-shape`.
    pub fn rule(self, end: &str) -> &'static str {
        let mut ids = self.info().rules.iter().map(|rule| rule.id);
        ids.find(|id| id.rsplit('-').next() == Some(end) && id.starts_with("comm_")).unwrap_or("async-view")
    }
}

impl CommText {
    /// The word before the operands of a role.
    pub fn word(&self, role: Role) -> Option<&'static str> {
        self.parts.iter().find_map(|part| match part {
            CommPart::Staging(word) if matches!(role, Role::Ping | Role::Pong) => Some(*word),
            CommPart::Group(word) if role == Role::Member => Some(*word),
            _ => None,
        })
    }

    /// The operands as a pattern, for messages.
    pub fn pattern(&self) -> String {
        let part = |part: &CommPart| match part {
            CommPart::One(role) => format!("%{role}"),
            CommPart::Staging(word) => format!("{word}(%ping[, %pong])"),
            CommPart::Group(word) => format!("{word}(%g0, …)"),
        };
        self.parts.iter().map(part).collect::<Vec<_>>().join(", ")
    }
}

const fn text(parts: &'static [CommPart], has_result: bool) -> CommText {
    CommText { parts, has_result }
}

use CommPart::{Group, One, Staging};

const COPY: CommText = text(&[One(Role::DstView), One(Role::SrcView), Staging("buf")], false);
const SIGNAL: CommText = text(&[One(Role::Signal), One(Role::Scalar)], false);
const FROM_ROOT: CommText = text(&[One(Role::SrcView), Staging("recv"), Group("group")], false);
const TO_ROOT: CommText = text(&[One(Role::DstView), Staging("recv"), Group("group")], false);
const REDUCE: CommText = text(&[One(Role::DstView), One(Role::Acc), Staging("recv"), Group("group")], false);
const SESSION: CommText = text(&[One(Role::Tmp), One(Role::Workspace)], true);
const START: CommText = text(&[One(Role::DstView), One(Role::SrcView), One(Role::Session)], true);
const EVENT: CommText = text(&[One(Role::AsyncEvent), One(Role::Session)], true);

/// What the rows here share.
const BASE: OpInfo = OpInfo { family: Family::Support, pipe: Pipe::S, source: "isa/comm.md 1", ..LAYOUT };

/// A row: mnemonic, meaning, text, attributes, formula, summary, pipe, rules.
macro_rules! comm {
    ($mnemonic:literal $sem:ident $text:expr, [$($attr:ident),*], $formula:literal, $summary:literal, $pipe:ident, $rules:expr) => {
        OpInfo {
            mnemonic: $mnemonic,
            summary: $summary,
            formula: $formula,
            sem: Sem::Comm(Comm::$sem),
            text: Text::Comm($text),
            attrs: &[$(AttrName::$attr),*],
            pipe: Pipe::$pipe,
            rules: $rules,
            ..BASE
        }
    };
}

/// The rules of an operation, by the ends of their ids, in the order in which they are asked (isa/comm.md 4).
macro_rules! asks {
    ($id:literal: $($end:literal),*; $($more:literal),*; run $($run:literal),*) => {
        rules! {
            ALL Program $(concat!($id, "-", $end)),* $(, $more)*;
            ALL AtRun $($run),*;
        }
    };
    ($id:literal: $($end:literal),*; words; $($more:literal),*; run $($run:literal),*) => {
        rules! {
            ALL Program $(concat!($id, "-", $end)),* $(, $more)*;
            ALL Words concat!($id, "-attr");
            ALL AtRun $($run),*;
        }
    };
}

family! { after pipes::END;
    CommTput => comm!("comm.tput" Put COPY, [AtomicType],
        "dst[i] = src[i]; atomic_add: dst[i] = dst[i] + src[i]",
        "Copies a view into a view, usually of another rank, through staging tiles; it can add.", Mte3,
        asks!("comm_tput": "loc", "dtype", "shape", "layout", "stage"; words; "kind-pipe"; run "gm-bounds"));
    CommTget => comm!("comm.tget" Get COPY, [], "dst[i] = src[i]",
        "Copies a view, usually of another rank, into a view through staging tiles.", Mte3,
        asks!("comm_tget": "loc", "dtype", "shape", "layout", "stage"; "kind-pipe"; run "gm-bounds"));
    CommTnotify => comm!("comm.tnotify" Notify SIGNAL, [NotifyOp],
        "set: signal = value; atomic_add: signal = signal + value mod 2^32",
        "Sets or adds to a signal word, after everything before it.", S,
        asks!("comm_tnotify": "loc", "dtype", "shape"; words; ; run "gm-bounds"));
    CommTwait => comm!("comm.twait" Wait SIGNAL, [WaitCmp], "",
        "Holds up the process until all signal words compare true.", S,
        asks!("comm_twait": "loc", "dtype", "shape"; words; ; run "gm-bounds", "deadlock"));
    CommTtest => comm!("comm.ttest" Test CommText { has_result: true, ..SIGNAL }, [WaitCmp],
        "result = all signal words compare true", "Asks whether all signal words compare true.", S,
        asks!("comm_ttest": "loc", "dtype", "shape"; words; "comm-poll"; run "gm-bounds", "deadlock"));
    CommTbroadcast => comm!("comm.tbroadcast" Broadcast FROM_ROOT, [Root], "g_k[i] = src[i], k = 0, 1, …",
        "Copies a view to every member of a group.", Mte3,
        asks!("comm_tbroadcast": "loc", "dtype", "shape", "layout", "stage", "group"; "kind-pipe"; run "gm-bounds", "comm-root"));
    CommTgather => comm!("comm.tgather" Gather TO_ROOT, [Root], "dst[r*H + i, …] = g_r[i, …]",
        "Joins the members' views by rows.", Mte3,
        asks!("comm_tgather": "loc", "dtype", "shape", "layout", "stage", "group"; "kind-pipe"; run "gm-bounds", "comm-root"));
    CommTscatter => comm!("comm.tscatter" Scatter FROM_ROOT, [Root], "g_r[i, …] = src[r*H + i, …]",
        "Deals out a view's rows to the members.", Mte3,
        asks!("comm_tscatter": "loc", "dtype", "shape", "layout", "stage", "group"; "kind-pipe"; run "gm-bounds", "comm-root"));
    CommTreduce => comm!("comm.treduce" Reduce REDUCE, [ReduceOp, Root],
        "dst[i] = ((g_root op g_0) op g_1 …)[i], the root's once, first",
        "Sum, maximum or minimum of the members' views.", Mte3,
        asks!("comm_treduce": "loc", "dtype", "shape", "layout", "stage", "group"; words; "overlap", "kind-pipe"; run "gm-bounds", "comm-root"));
    CommBuildAsyncSession => comm!("comm.build_async_session" Session SESSION,
        [SyncId, BlockBytes, CommBlockOffset, QueueNum, ChannelGroupIdx], "",
        "A session of asynchronous transfers, with scratch for them.", S,
        asks!("comm_build_async_session": "loc"; "async-view", "kind-pipe"; run "comm-leak"));
    CommTputAsync => comm!("comm.tput_async" PutAsync START, [], "dst[i] = src[i], done by the wait of the event",
        "Starts copying a dense view.", S,
        asks!("comm_tput_async": "loc", "dtype", "shape"; "async-view", "kind-pipe"; run "gm-bounds", "comm-leak"));
    CommTgetAsync => comm!("comm.tget_async" GetAsync START, [], "dst[i] = src[i], done by the wait of the event",
        "Starts copying a dense view.", S,
        asks!("comm_tget_async": "loc", "dtype", "shape"; "async-view", "kind-pipe"; run "gm-bounds", "comm-leak"));
    CommWaitAsyncEvent => comm!("comm.wait_async_event" AwaitEvent EVENT, [], "",
        "Waits until a copy is done, and those that its session started before.", S,
        rules![ALL Program "async-view";]);
    CommTestAsyncEvent => comm!("comm.test_async_event" TestEvent EVENT, [], "",
        "Asks whether a copy is done, and those that its session started before.", S,
        rules![ALL Program "async-view";]);
}
