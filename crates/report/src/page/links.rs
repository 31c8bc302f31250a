//! Links between pages, and the style and scripts of pages.

use tcplab_results::{Case, Run, RunWorld, Trial, World};

use crate::html::assets::{SCRIPTS, STYLES, THEME};
use crate::trial::view::TrialView;

/// The page that contains the links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    /// One file beside the run's tables.
    Within,
    /// The first page of a folder.
    Index,
    /// A variant's or trial's page, one directory below.
    Below,
}

impl Links {
    /// To a trial that is shown.
    pub(crate) fn of(self, view: &TrialView<'_>) -> String {
        match self {
            Links::Within => format!("#{}", view.id),
            _ => self.page(view),
        }
    }

    /// The trial's id, also on a page of its own; ids of episodes begin with it.
    pub(crate) fn anchor(self, view: &TrialView<'_>) -> String {
        format!("{}#{}", self.page(view), view.id)
    }

    /// The trial's page; empty within one file.
    pub(crate) fn page(self, view: &TrialView<'_>) -> String {
        let name = page_name(view.case, view.trial.number);
        match self {
            Links::Within => String::new(),
            Links::Index => format!("trials/{name}"),
            Links::Below => name,
        }
    }

    pub(crate) fn up(self) -> &'static str {
        match self {
            Links::Within => "",
            Links::Index => "../",
            Links::Below => "../../",
        }
    }

    pub(crate) fn index(self) -> &'static str {
        if self == Links::Below { "../index.html" } else { "" }
    }

    /// To style sheet and scripts.
    fn assets(self) -> &'static str {
        if self == Links::Below { "../" } else { "" }
    }
}

/// Characters that do not fit a file name become `-`.
pub(crate) fn page_name(case: &str, trial: u32) -> String {
    format!("{}-{trial}.html", file_name(case))
}

/// Never equal to that of a trial.
pub(crate) fn case_page_name(case: &str) -> String {
    format!("{}.html", file_name(case))
}

fn file_name(case: &str) -> String {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '=');
    case.chars().map(|c| if fits(c) { c } else { '-' }).collect()
}

/// Style and scripts for head and end of a page: inline, or as links.
pub(crate) struct PageAssets {
    pub(crate) head: String,
    pub(crate) foot: String,
}

/// The files of a folder that all its pages share.
pub const STYLE_FILE: &str = "page.css";
/// The scripts, as `STYLE_FILE` is the style.
pub const SCRIPT_FILE: &str = "page.js";

/// Where a page names its style sheet, in the folder that `to` leads to.
pub fn link_to_style(to: &str) -> String {
    format!("<link rel=\"stylesheet\" href=\"{to}{STYLE_FILE}\">")
}

/// Where a page names its scripts.
pub fn link_to_script(to: &str) -> String {
    format!("<script src=\"{to}{SCRIPT_FILE}\"></script>")
}

impl PageAssets {
    pub(crate) fn of(links: Links) -> PageAssets {
        if links == Links::Within {
            let (style, script) = (STYLES.concat(), SCRIPTS.concat());
            return PageAssets {
                head: format!("<style>{style}</style>\n<script>{THEME}</script>"),
                foot: format!("<script>{script}</script>"),
            };
        }
        let to = links.assets();
        PageAssets {
            head: format!("{}\n<script>{THEME}</script>", link_to_style(to)),
            foot: link_to_script(to),
        }
    }
}

/// How a trial is run again.
pub(crate) struct Rerun {
    pub(crate) explanation: String,
    pub(crate) command: String,
    /// From the page to the run's directory and to the first page.
    pub(crate) up: &'static str,
    pub(crate) index: &'static str,
}

impl Rerun {
    /// The command that runs all of a run again, in the run's directory.
    pub(crate) fn of_all(run: &Run) -> String {
        let world = match run.world {
            RunWorld::Simulated => in_virtual_time(&run.cases),
            RunWorld::Kernel | RunWorld::Both => String::new(),
        };
        let cases: Vec<&str> = run.only.iter().flat_map(|name| [" --case ", name]).collect();
        let cases = cases.concat();
        let good = run.cases.iter().flat_map(|case| case.trials.iter().map(|it| it.number));
        let failed = run.cases.iter().flat_map(|case| case.failures.iter().map(|it| it.number));
        let numbers: Vec<u32> = good.chain(failed).collect();
        let (first, last) = (numbers.iter().min(), numbers.iter().max().unwrap_or(&0));
        let trials = match first {
            Some(first) if *first > 1 => format!(" --trial {first}"),
            _ => format!(" --trials {last}"),
        };
        format!("tcplab run scenario.toml{world}{cases}{trials} --seed {}", run.seed)
    }

    pub(crate) fn of(run: &Run, case: &Case, trial: &Trial, links: Links) -> Rerun {
        let seed = trial.seed;
        let is_virtual = case.world == World::Simulated;
        let same = if is_virtual { "gives the same bytes" } else { "uses the same random path" };
        Rerun {
            explanation: format!(
                "In the run’s directory. It runs this trial alone, with seed {seed}, and {same}."
            ),
            command: Rerun::command(run, case, trial.number),
            up: links.up(),
            index: links.index(),
        }
    }

    /// The command that runs this trial alone, in the run's directory.
    pub(crate) fn command(run: &Run, case: &Case, number: u32) -> String {
        let world = match case.world {
            World::Simulated => in_virtual_time(std::slice::from_ref(case)),
            World::Kernel => String::new(),
        };
        let (case, seed) = (&case.name, run.seed);
        format!("tcplab run scenario.toml{world} --case {case} --trial {number} --seed {seed}")
    }
}

/// The flags that run cases in virtual time, on what stood for `linux` there.
fn in_virtual_time(cases: &[Case]) -> String {
    let kernel = cases.iter().find_map(|case| case.kernel.as_ref());
    let kernel = kernel.map_or(String::new(), |name| format!(" --kernel {name}"));
    format!(" --world sim{kernel}")
}

/// The trials of a case that have no graphs, as their packets were removed or not kept.
pub(crate) struct WithoutPackets {
    /// `trials 2, 3 and 5 more`.
    pub(crate) trials: String,
    pub(crate) first: u32,
    /// Runs the first of them again, in the run's directory.
    pub(crate) command: String,
}

impl WithoutPackets {
    /// At most so many are named.
    const NAMED: usize = 8;

    pub(crate) fn of(run: &Run, case: &Case, links: Links) -> Option<WithoutPackets> {
        let lack = |trial: &&Trial| !trial.has_packets && trial.medium.is_none();
        let all: Vec<&Trial> = case.trials.iter().filter(lack).collect();
        let first = all.first()?;
        let named = all.iter().take(Self::NAMED).map(|trial| trial.number.to_string());
        let mut trials = named.collect::<Vec<_>>().join(", ");
        if all.len() > Self::NAMED {
            trials += &format!(" and {} more", all.len() - Self::NAMED);
        }
        let trials = format!("trial{} {trials}", if all.len() == 1 { "" } else { "s" });
        let command = Rerun::of(run, case, first, links).command;
        Some(WithoutPackets { trials, first: first.number, command })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_name_stays_in_the_folder() {
        assert_eq!(page_name("reno_5Mbit-s", 3), "reno_5Mbit-s-3.html");
        assert_eq!(page_name("../<evil>", 1), "..--evil--1.html");
    }
}
