//! However a run on kernels ends, nothing of it is left.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tcplab_units::Rng;

use crate::home::{Home, names};
use crate::image::Images;

/// Long enough for a signal to meet it anywhere.
const SCENARIO: &str = r#"
title    = "Long"
path     = { rate = "50 Mbit/s", delay = "2 ms" }
workload = { upload = "40 MB" }
repeat   = { trials = 4 }
client   = { stack = "linux-6.12" }
server   = { stack = "linux-6.12" }
"#;

/// Processes that run a file below this folder, as the kernel names it.
fn of_images(images: &Images) -> Vec<String> {
    let folder = fs::canonicalize(images.folder()).unwrap();
    let mut found = Vec::new();
    for pid in names("/proc".as_ref()) {
        if pid.bytes().all(|byte| byte.is_ascii_digit())
            && let Ok(program) = fs::read_link(format!("/proc/{pid}/exe"))
            && program.starts_with(&folder)
            // Tests beside this one run kernels, too.
            && fs::read(format!("/proc/{pid}/environ")).is_ok_and(|it| contains(&it, MARK))
        {
            found.push(pid);
        }
    }
    found
}

/// In the environment of the kernels of this test alone: where their memory is made.
const MARK: &[u8] = b"TMPDIR=/tmp/tcplab-endings-";

fn contains(all: &[u8], part: &[u8]) -> bool {
    all.windows(part.len()).any(|window| window == part)
}

struct Place(std::path::PathBuf);

impl Place {
    fn new() -> Place {
        let place = format!("/tmp/tcplab-endings-{}", std::process::id());
        let _ = fs::create_dir(&place);
        Place(place.into())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn begin(images: &Images, home: &Home, place: &Place) -> Child {
    let mut command = home.command("run it.toml --jobs 2");
    command.env("TCPLAB_KERNELS", images.folder()).env("TMPDIR", &place.0);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn nothing_is_left(images: &Images, place: &Place, what: &str) {
    for _ in 0..200 {
        if of_images(images).is_empty() {
            assert_eq!(names(&place.0), Vec::<String>::new(), "{what}: files are left");
            return;
        }
        sleep(Duration::from_millis(20));
    }
    panic!("{what}: processes are left: {:?}", of_images(images));
}

/// Twenty moments from the start to the second trial.
#[test]
fn killed_run_leaves_nothing() {
    let Some(images) = Images::find() else { return };
    let place = Place::new();
    let mut random = Rng::new(19, "moments");
    for nth in 0..20_u64 {
        let home = Home::with("it.toml", SCENARIO);
        let mut run = begin(&images, &home, &place);
        sleep(Duration::from_millis(nth * 60 + random.next_u64() % 60));
        let is_kill = nth % 4 != 3;
        let signal = if is_kill { Signal::KILL } else { Signal::INT };
        kill_process(Pid::from_child(&run), signal).unwrap();
        let status = run.wait().unwrap();
        if is_kill {
            assert_eq!(status.signal(), Some(9), "at moment {nth}: {status}");
        } else {
            assert_eq!(status.code(), Some(130), "at moment {nth}: {status}");
        }
        nothing_is_left(&images, &place, &format!("at moment {nth}"));
    }
}
