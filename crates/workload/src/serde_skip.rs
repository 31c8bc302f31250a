//! What is left out of files.

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}
