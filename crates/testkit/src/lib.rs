//! What tests compare with, and what they draw from; it is not published.
//!
//! - [`definition`]: every function of elements a second time, the oracle of `Func::eval`;
//! - [`reference`](mod@reference): every instruction element by element, the oracle of the engine;
//! - [`placement`]: a second analysis of where tiles may lie, the oracle of the planner;
//! - [`random`]: numbers that look random and are the same every time;
//! - [`cases`]: the sample cases of `tests`.

pub mod cases;
pub mod definition;
pub mod placement;
pub mod random;
pub mod reference;
