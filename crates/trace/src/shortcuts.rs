//! Whether the short ways through the common cases are taken: always, but in tests that hold them
//! against the long ones.

#[cfg(test)]
thread_local! {
    static REFUSED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

#[inline]
pub(crate) fn taken() -> bool {
    #[cfg(test)]
    return !REFUSED.get();
    #[cfg(not(test))]
    true
}

/// What `work` gives when every case goes the long way.
#[cfg(test)]
pub(crate) fn without<T>(work: impl FnOnce() -> T) -> T {
    REFUSED.set(true);
    let result = work();
    REFUSED.set(false);
    result
}
