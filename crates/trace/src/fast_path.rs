//! Whether the short ways through the common cases are taken: always, but in tests that hold them
//! against the long ones.

#[cfg(test)]
thread_local! {
    static DISABLED: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

#[inline]
pub(crate) fn is_enabled() -> bool {
    #[cfg(test)]
    return !DISABLED.get();
    #[cfg(not(test))]
    true
}

/// What `work` gives when every case goes the long way.
#[cfg(test)]
pub(crate) fn disabled<T>(work: impl FnOnce() -> T) -> T {
    DISABLED.set(true);
    let result = work();
    DISABLED.set(false);
    result
}
