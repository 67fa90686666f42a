//! Stub.
use crate::convert::{Answer, Refusal};
use tessera_isa::diag::Diagnostic;
use tessera_isa::inst::{Inst, TileArg};
use tessera_isa::profile::Profile;
use tessera_isa::tile::Loc;
pub(crate) struct Engine {}
impl Engine {
    pub fn new(_: Profile) -> Self { Engine {} }
    pub fn undefined_stored(&self) -> u64 { 0 }
    pub fn alloc(&mut self, _: Loc, _: u64) -> Answer<u64> { Err(Refusal::null()) }
    pub fn free(&mut self, _: u64) -> Answer<()> { Err(Refusal::null()) }
    pub fn storage(&self, _: u32) -> Answer<(Loc, u64)> { Err(Refusal::null()) }
    pub fn issue(&mut self, _: &Inst) -> Answer<Vec<Diagnostic>> { Err(Refusal::null()) }
    pub fn load(&mut self, _: &Inst, _: &[u8]) -> Answer<Vec<Diagnostic>> { Err(Refusal::null()) }
    pub fn store(&mut self, _: &Inst, _: &mut [u8]) -> Answer<Vec<Diagnostic>> { Err(Refusal::null()) }
    pub fn read(&self, _: &TileArg, _: u64, _: usize) -> Answer<Vec<u8>> { Err(Refusal::null()) }
    pub fn write(&mut self, _: &TileArg, _: u64, _: &[u8]) -> Answer<()> { Err(Refusal::null()) }
}
