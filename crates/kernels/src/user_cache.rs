//! Where programs of this user keep what they can make again.

use std::env;
use std::path::PathBuf;

/// tcplab's part of the user's cache: `tcplab` in `$XDG_CACHE_HOME`, if that is an absolute path
/// (XDG Base Directory Specification), or in `~/.cache`. `None` if neither is known.
pub fn user_cache() -> Option<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let xdg = set("XDG_CACHE_HOME").filter(|it| it.is_absolute());
    let caches = xdg.or_else(|| set("HOME").map(|home| home.join(".cache")));
    caches.map(|it| it.join("tcplab"))
}
