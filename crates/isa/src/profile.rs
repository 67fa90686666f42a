//! Target profiles: what exists where, how big it is, and how it is aligned (tile-model.md 1 and 2).

use crate::tile::Loc;
use std::fmt;

/// A target: the CPU simulator or a family of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Profile {
    /// The CPU simulator: the loosest legality, unlimited on-chip memory.
    Cpu,
    /// Ascend A2 and A3.
    A2a3,
    /// Ascend A5.
    A5,
}

/// A set of profiles, as rules and paths of the instruction table carry it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profiles(u8);

impl Profiles {
    /// None.
    pub const NONE: Profiles = Profiles(0);
    /// All three.
    pub const ALL: Profiles = Profiles(7);
    /// The CPU simulator.
    pub const CPU: Profiles = Profiles(1);
    /// A2 and A3.
    pub const A2A3: Profiles = Profiles(2);
    /// A5.
    pub const A5: Profiles = Profiles(4);
    /// The hardware profiles: `N` of rules.md.
    pub const NPU: Profiles = Profiles(6);
    /// The CPU simulator and A5.
    pub const CPU_A5: Profiles = Profiles(5);
    /// The CPU simulator, A2 and A3.
    pub const CPU_A2A3: Profiles = Profiles(3);

    /// Whether `p` is in the set.
    pub const fn has(self, p: Profile) -> bool {
        self.0 & (1 << p as u8) != 0
    }

    /// The profiles of either set.
    pub const fn or(self, other: Profiles) -> Profiles {
        Profiles(self.0 | other.0)
    }

    /// The profiles of both sets.
    pub const fn and(self, other: Profiles) -> Profiles {
        Profiles(self.0 & other.0)
    }

    /// The profiles of the set.
    pub fn iter(self) -> impl Iterator<Item = Profile> {
        Profile::ALL.into_iter().filter(move |p| self.has(*p))
    }
}

/// One memory of one profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Bytes; `None` is without limit.
    pub bytes: Option<u64>,
    /// Bytes at the end that automatic placement leaves to the runtime.
    pub reserved: u64,
}

impl Memory {
    /// Bytes that automatic placement may use; `None` is without limit.
    pub fn room(&self) -> Option<u64> {
        Some(self.bytes?.saturating_sub(self.reserved))
    }
}

/// All that a profile is, in one place.
pub struct ProfileInfo {
    pub profile: Profile,
    /// Its description, in one sentence.
    pub summary: &'static str,
    /// Spellings: exact names, then device names that match by prefix.
    pub names: &'static [&'static str],
    /// Device names; `Ascend910B4` matches `Ascend910B`.
    pub device_prefixes: &'static [&'static str],
    /// The memory of each location, in the order of [`Loc::ALL`]; `None` where the location is absent.
    pub memories: [Option<Memory>; 9],
}

const fn kib(n: u64) -> Option<Memory> {
    Some(Memory { bytes: Some(n * 1024), reserved: 0 })
}
const UNLIMITED: Option<Memory> = Some(Memory { bytes: None, reserved: 0 });
/// The runtime uses the last 8 Ki of a5's UB; manual addresses may (tile-model.md 2).
const A5_UB: Option<Memory> = Some(Memory { bytes: Some(256 * 1024), reserved: 8 * 1024 });

/// The profiles. Columns of the memories: vec, mat, left, right, acc, bias, scaling, scale_left, scale_right.
pub static PROFILES: [ProfileInfo; 3] = [
    ProfileInfo {
        profile: Profile::Cpu,
        summary: "the CPU simulator: the loosest legality, unlimited on-chip memory",
        names: &["cpu", "cpu_sim"],
        device_prefixes: &[],
        memories: [UNLIMITED; 9],
    },
    ProfileInfo {
        profile: Profile::A2a3,
        summary: "Ascend A2 and A3",
        names: &["a2a3", "a2", "a3"],
        device_prefixes: &["Ascend910B", "Ascend910C"],
        memories: [kib(192), kib(512), kib(64), kib(64), kib(128), kib(1), kib(2), None, None],
    },
    ProfileInfo {
        profile: Profile::A5,
        summary: "Ascend A5: two vector cores share one cube core",
        names: &["a5"],
        device_prefixes: &["Ascend950"],
        memories: [A5_UB, kib(512), kib(64), kib(64), kib(256), kib(4), kib(4), kib(4), kib(4)],
    },
];

/// Addresses of tiles are multiples of this (`tassign-align`).
pub const TILE_ALIGN: u64 = 32;
/// Addresses of Scaling tiles that serve as `fp` operands are multiples of this (`fp-align`).
pub const FP_ALIGN: u64 = 128;

impl Profile {
    /// All profiles, loosest first.
    pub const ALL: [Profile; 3] = [Profile::Cpu, Profile::A2a3, Profile::A5];

    /// The row of the profile table.
    pub const fn info(self) -> &'static ProfileInfo {
        &PROFILES[self as usize]
    }

    /// The canonical name.
    pub fn name(self) -> &'static str {
        self.info().names[0]
    }

    /// Whether this is real hardware, with footprints and capacities.
    pub const fn is_npu(self) -> bool {
        !matches!(self, Profile::Cpu)
    }

    /// The profile of a name or device name, case-insensitive.
    ///
    /// ```
    /// use tessera_isa::profile::Profile;
    /// assert_eq!(Profile::parse("Ascend910B4"), Some(Profile::A2a3));
    /// assert_eq!(Profile::parse("A5"), Some(Profile::A5));
    /// assert_eq!(Profile::parse("h100"), None);
    /// ```
    pub fn parse(name: &str) -> Option<Profile> {
        let is_device = |prefix: &&str| name.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix));
        let is_it = |p: &&ProfileInfo| {
            p.names.iter().any(|n| n.eq_ignore_ascii_case(name)) || p.device_prefixes.iter().any(is_device)
        };
        PROFILES.iter().find(is_it).map(|p| p.profile)
    }

    /// All spellings, for suggestions.
    pub fn spellings() -> impl Iterator<Item = &'static str> {
        PROFILES.iter().flat_map(|p| p.names.iter().chain(p.device_prefixes).copied())
    }

    /// The memory of a location, where the profile has it.
    pub const fn memory(self, loc: Loc) -> Option<Memory> {
        self.info().memories[loc as usize]
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
