//! Tasks of the repository itself.
fn main() {}
