//! Switches the fast paths off, so that tests can compare them with the slow paths.

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

#[cfg(test)]
pub(crate) fn disabled<T>(work: impl FnOnce() -> T) -> T {
    DISABLED.set(true);
    let result = work();
    DISABLED.set(false);
    result
}
