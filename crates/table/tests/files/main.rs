//! Tables as they are read by others.

mod trace;
mod truth;
