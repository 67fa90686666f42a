//! What tests compare with, and what they draw from; nobody downloads it.
//!
//! - [`reference`](mod@reference): every instruction element by element, the oracle of the engine;
//! - [`placement`]: a second analysis of where tiles may lie, the oracle of the planner;
//! - [`random`]: numbers that look random and are the same every time;
//! - [`cases`]: the sample cases of `tests`.

pub mod cases;
pub mod placement;
pub mod random;
pub mod reference;
