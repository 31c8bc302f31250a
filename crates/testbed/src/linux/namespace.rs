//! Network namespaces without names: they live as long as a thread or a descriptor holds them,
//! so nothing is left when the process dies, however it dies.

use std::fs;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

use crate::TrialError;

/// How the process came to be allowed to make namespaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Privilege {
    /// It was allowed already: root, or `CAP_SYS_ADMIN` and `CAP_NET_ADMIN`.
    Held,
    /// Inside a user namespace of its own.
    UserNamespace,
}

/// Moves this process into a network namespace of its own, and first into a user namespace if
/// that is what it takes. Must be called before the process has a second thread.
pub(crate) fn isolate() -> Result<Privilege, TrialError> {
    match unshare(UnshareFlags::NEWNET) {
        Ok(()) => return Ok(Privilege::Held),
        Err(Errno::PERM) => {}
        Err(errno) => return Err(refused(errno)),
    }
    let (user, group) = (rustix::process::getuid(), rustix::process::getgid());
    unshare(UnshareFlags::NEWUSER).map_err(refused)?;
    // user_namespaces(7): a process without privilege may map its own ids only, and the group
    // only after giving up setgroups(2).
    let write = |file: &str, text: String| {
        fs::write(file, text).map_err(TrialError::setup(format!("write {file}")))
    };
    write("/proc/self/setgroups", "deny".into())?;
    write("/proc/self/uid_map", format!("0 {} 1", user.as_raw()))?;
    write("/proc/self/gid_map", format!("0 {} 1", group.as_raw()))?;
    unshare(UnshareFlags::NEWNET).map_err(refused)?;
    Ok(Privilege::UserNamespace)
}

/// The network namespace of the calling thread, by a descriptor.
pub(crate) fn current() -> Result<OwnedFd, TrialError> {
    fs::File::open("/proc/thread-self/ns/net")
        .map(OwnedFd::from)
        .map_err(TrialError::setup("look at its own network namespace"))
}

/// Moves this process into a network namespace of its own without giving up what it may do in the
/// one that it leaves, as a user namespace would.
pub(crate) fn isolate_held() -> Result<(), TrialError> {
    unshare(UnshareFlags::NEWNET).map_err(|errno| match errno {
        Errno::PERM => TrialError::reported(
            "joining this network needs CAP_NET_ADMIN and CAP_SYS_ADMIN in it",
            "run tcplab as root, or leave out --join",
        ),
        errno => refused(errno),
    })
}

/// Moves the calling thread alone into a fresh network namespace.
pub(crate) fn isolate_thread() -> Result<(), TrialError> {
    unshare(UnshareFlags::NEWNET).map_err(refused)
}

/// Moves the calling thread alone into the network namespace that `namespace` refers to.
pub(crate) fn enter_thread(namespace: BorrowedFd<'_>) -> io::Result<()> {
    Ok(move_into_link_name_space(namespace, Some(LinkNameSpaceType::Network))?)
}

fn unshare(flags: UnshareFlags) -> Result<(), Errno> {
    // SAFETY: neither flag given here (NEWNET, NEWUSER) takes memory or descriptors from other
    // threads, which is what makes `unshare` unsafe.
    #[expect(unsafe_code, reason = "a syscall")]
    unsafe {
        rustix::thread::unshare_unsafe(flags)
    }
}

/// Names the obstacle from what the kernel shows of its settings.
fn refused(errno: Errno) -> TrialError {
    let (obstacle, remedy) = obstacle(errno, |file| fs::read_to_string(file).ok());
    TrialError::Namespaces { obstacle, remedy }
}

/// The obstacle and its remedy; `read` gives the content of a file under `/proc`.
fn obstacle(errno: Errno, read: impl Fn(&str) -> Option<String>) -> (String, String) {
    let setting = |file: &str| read(file).map(|text| text.trim().to_owned());
    let as_root = "or run tcplab as root";
    if setting("/proc/sys/kernel/unprivileged_userns_clone").as_deref() == Some("0") {
        return (
            "kernel.unprivileged_userns_clone is 0".into(),
            format!("as root: `sysctl kernel.unprivileged_userns_clone=1`, {as_root}"),
        );
    }
    if setting("/proc/sys/user/max_user_namespaces").as_deref() == Some("0") {
        return (
            "user.max_user_namespaces is 0".into(),
            format!("as root: `sysctl user.max_user_namespaces=10000`, {as_root}"),
        );
    }
    if setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").as_deref() == Some("1") {
        return (
            "AppArmor restricts user namespaces \
             (kernel.apparmor_restrict_unprivileged_userns is 1)"
                .into(),
            format!(
                "as root: `sysctl kernel.apparmor_restrict_unprivileged_userns=0` or a profile \
                 for tcplab with `userns,`, {as_root}"
            ),
        );
    }
    if errno == Errno::NOSPC {
        return (
            "the limit of namespaces is reached (user.max_user_namespaces or \
             user.max_net_namespaces)"
                .into(),
            format!("as root: raise them with `sysctl`, {as_root}"),
        );
    }
    let filtered = setting("/proc/self/status")
        .is_some_and(|status| status.lines().any(|line| line == "Seccomp:\t2"));
    if filtered {
        return (
            format!(
                "a seccomp filter forbids unshare(2) ({}), as in many containers",
                io_text(errno)
            ),
            "start the container with `--cap-add SYS_ADMIN --cap-add NET_ADMIN` or \
             `--security-opt seccomp=unconfined`"
                .into(),
        );
    }
    (format!("unshare(2) says: {}", io_text(errno)), "run tcplab as root".into())
}

fn io_text(errno: Errno) -> String {
    io::Error::from(errno).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_obstacle_is_named_with_its_remedy() {
        for (file, content, named, remedy) in [
            (
                "/proc/sys/kernel/unprivileged_userns_clone",
                "0\n",
                "kernel.unprivileged_userns_clone is 0",
                "sysctl kernel.unprivileged_userns_clone=1",
            ),
            (
                "/proc/sys/user/max_user_namespaces",
                "0\n",
                "user.max_user_namespaces is 0",
                "sysctl user.max_user_namespaces=",
            ),
            (
                "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
                "1\n",
                "AppArmor",
                "apparmor_restrict_unprivileged_userns=0",
            ),
            ("/proc/self/status", "Name:\tx\nSeccomp:\t2\n", "seccomp", "--cap-add SYS_ADMIN"),
            ("/proc/none", "", "unshare(2) says", "as root"),
        ] {
            let (what, how) =
                obstacle(Errno::PERM, |asked| (asked == file).then(|| content.to_owned()));
            assert!(what.contains(named), "{what}");
            assert!(how.contains(remedy), "{how}");
        }
    }
}
