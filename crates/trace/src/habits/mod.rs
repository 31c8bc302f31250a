//! How the receiver acknowledges, and what else the sender does.

mod acking;
mod marks;
#[cfg(test)]
mod tests;

pub(crate) use acking::Acking;
pub(crate) use marks::Marks;
