//! Which kernels the trials in virtual time run on.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tcplab_kernels::{Cache, CacheError, DEFAULT_HZ, Kernel, KernelName, SourceOrigin};
use tcplab_results::World;
use tcplab_scenario::{Case, EndpointSpec, Profile, Scenario, Stack};
use tcplab_units::visible_line;

use crate::error::LabError;

/// What stands for `linux` and `linux-newest` in virtual time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum KernelChoice {
    /// The newest kernel that was built here; the model where there is none.
    Newest,
    /// The kernel of this name.
    Named(KernelName),
    /// The model.
    #[default]
    Model,
    /// The model of this profile.
    Profile(&'static str),
}

impl KernelChoice {
    /// The world that the choice asks for: virtual time where a kernel is named, or the model, that
    /// can stand for the stack `linux` somewhere.
    pub fn world(&self, scenario: &Scenario) -> Option<World> {
        let mut ends = scenario.cases.iter().flat_map(|case| [&case.client, &case.server]);
        let mut is_linux = || ends.any(|end| end.stack == Stack::Linux && end.model.is_empty());
        (*self != KernelChoice::Newest && is_linux()).then_some(World::Simulated)
    }
}

/// `newest`, `model`, or the name of a kernel, as `--kernel` takes it.
impl FromStr for KernelChoice {
    type Err = CacheError;

    fn from_str(text: &str) -> Result<KernelChoice, CacheError> {
        match text {
            "newest" => Ok(KernelChoice::Newest),
            "model" => Ok(KernelChoice::Model),
            // As scenarios name it.
            stack => {
                let version = stack.strip_prefix("linux-").map(str::parse::<KernelName>);
                match version {
                    Some(Ok(version)) if version.is_version() => Ok(KernelChoice::Named(version)),
                    _ => stack.parse().map(KernelChoice::Named),
                }
            }
        }
    }
}

/// The kernels in virtual time that a run uses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VirtualKernels {
    /// The one that stands for `linux` and `linux-newest`; the model does where there is none.
    pub newest: Option<KernelUsed>,
    /// Those that the scenario names.
    pub named: Vec<KernelUsed>,
    /// The profile of the model that stands for `linux` where no kernel does, if another than
    /// usual.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Whether the model was chosen by name, and does not only stand where no kernel is built.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_model_chosen: bool,
}

/// A kernel image that a run uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelUsed {
    /// Its name, as in `linux-NAME`.
    pub name: String,
    /// What `uname -r` prints in it.
    pub release: String,
    /// Hash of the image (BLAKE3).
    pub image_hash: String,
    /// Where its source came from; none in a plan of before that was noted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceOrigin>,
    /// The patches applied, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<String>,
    /// Ticks a second; 0 in a plan of before that was noted.
    #[serde(default)]
    pub hz: u32,
}

impl KernelUsed {
    pub(crate) fn of(kernel: Kernel) -> KernelUsed {
        let manifest = kernel.manifest;
        KernelUsed {
            name: manifest.name,
            release: manifest.release,
            image_hash: manifest.image_hash,
            source: Some(manifest.source),
            patches: manifest.patches,
            hz: manifest.hz,
        }
    }

    /// Its release, with what tells the image from the usual one of that: `Linux 6.12.117`,
    /// `Linux 6.12.117 (image mine, commit f6a6cfc7205a, 250 Hz)`.
    pub(crate) fn in_words(&self) -> String {
        let KernelUsed { name, release, source, hz, .. } = self;
        let Some(source) = source else { return format!("Linux {release}") };
        let origin = source.in_short();
        let is_version = name.parse().is_ok_and(|name: KernelName| name.is_version());
        if origin.is_none() && is_version && *hz == DEFAULT_HZ {
            return format!("Linux {release}");
        }
        let origin = origin.map_or(String::new(), |origin| format!(", {origin}"));
        let said = format!("Linux {release} (image {name}{origin}, {hz} Hz)");
        visible_line(&said).into_owned()
    }

    /// All that is known of it.
    fn in_detail(&self) -> String {
        let KernelUsed { name, release, image_hash, source, patches, hz } = self;
        let source = source.as_ref().map_or(String::new(), |it| format!(", {}", it.in_words()));
        let said = format!(
            "image {name}: Linux {release}{source}, patches {}, {hz} Hz, BLAKE3 {image_hash}",
            patches.join(" ")
        );
        visible_line(&said).into_owned()
    }

    /// Its image, if that is still the same.
    ///
    /// # Errors
    /// When it is gone or another one.
    pub(crate) fn image(&self) -> Result<Kernel, LabError> {
        let kernel = find(&self.name)?;
        if kernel.manifest.image_hash != self.image_hash {
            return Err(LabError::OtherKernel { name: self.name.clone() });
        }
        Ok(kernel)
    }
}

impl VirtualKernels {
    /// What would stand for `linux`.
    pub(super) fn choose(choice: &KernelChoice) -> Result<VirtualKernels, LabError> {
        let newest = match choice {
            KernelChoice::Model | KernelChoice::Profile(_) => None,
            KernelChoice::Named(name) => Some(find(name.as_str())?),
            // Where nothing can be read there is none.
            KernelChoice::Newest => {
                Cache::of_user().and_then(|cache| cache.newest()).unwrap_or(None)
            }
        };
        let profile = match choice {
            KernelChoice::Profile(name) => Some((*name).to_owned()),
            _ => None,
        };
        let is_model_chosen = *choice == KernelChoice::Model;
        let (newest, named) = (newest.map(KernelUsed::of), Vec::new());
        Ok(VirtualKernels { newest, named, profile, is_model_chosen })
    }

    /// With those that the scenario names.
    pub(super) fn with_named(self, scenario: &Scenario) -> Result<VirtualKernels, LabError> {
        let ends = scenario.cases.iter().flat_map(|case| [&case.client, &case.server]);
        let mut names: Vec<&str> = ends.filter_map(|end| name_of(&end.stack)).collect();
        names.sort_unstable();
        names.dedup();
        let named = names.into_iter().map(|name| find(name).map(KernelUsed::of));
        Ok(VirtualKernels { named: named.collect::<Result<_, _>>()?, ..self })
    }

    /// Without what these cases, which run in virtual time, do not use.
    ///
    /// # Errors
    /// If what they use cannot be used.
    pub(super) fn used_by<'a>(
        self,
        cases: impl IntoIterator<Item = &'a Case>,
    ) -> Result<VirtualKernels, LabError> {
        let newest = self.newest.filter(|_| cases.into_iter().any(asks_for_newest));
        if let Some(newest) = &newest {
            find(&newest.name)?;
        }
        Ok(VirtualKernels { newest, ..self })
    }

    /// What was chosen to stand for `linux` in a run of these cases in virtual time, for the run to
    /// go on so; the newest where none of them asks.
    pub(super) fn choice<'a>(&self, cases: impl IntoIterator<Item = &'a Case>) -> KernelChoice {
        let named = self.newest.as_ref().and_then(|newest| newest.name.parse().ok());
        let profile = self.profile.as_deref().and_then(|name| Profile::named(name).ok());
        match (named, profile) {
            (Some(name), _) => KernelChoice::Named(name),
            (None, Some(profile)) => KernelChoice::Profile(profile.name),
            (None, None) if cases.into_iter().any(asks_for_newest) => KernelChoice::Model,
            (None, None) => KernelChoice::Newest,
        }
    }

    /// What stands for `linux` at an end of a case in virtual time, as `--kernel` has it: the name
    /// of a kernel, or `model`. None where nothing does.
    pub(super) fn for_linux(&self, case: &Case) -> Option<&str> {
        asks_for_newest(case).then(|| self.newest.as_ref().map_or("model", |it| &it.name))
    }

    /// Name and value of what the environment of a run has of its kernels.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let row = |stack: String, kernel: &KernelUsed| {
            (format!("{stack} in virtual time"), kernel.in_detail())
        };
        let newest = self.newest.iter().map(|kernel| row("linux".into(), kernel));
        let named = self.named.iter().map(|kernel| row(format!("linux-{}", kernel.name), kernel));
        newest.chain(named).collect()
    }

    /// The kernel of an endpoint in virtual time; none if a model stands there.
    pub(crate) fn of_end(&self, end: &EndpointSpec) -> Option<&KernelUsed> {
        match &end.stack {
            // Its settings are a model's.
            Stack::Linux if !end.model.is_empty() => None,
            Stack::Linux | Stack::Newest => self.newest.as_ref(),
            Stack::Kernel(name) => self.named.iter().find(|kernel| kernel.name == *name),
            Stack::Model(_) => None,
        }
    }

    /// The stack of an endpoint, where a profile stands for `linux`.
    pub(super) fn settle(&self, end: &mut EndpointSpec) {
        let profile = self.profile.as_deref().and_then(|name| Profile::named(name).ok());
        if let Some(profile) = profile
            && matches!(end.stack, Stack::Linux | Stack::Newest)
        {
            end.stack = Stack::Model(profile.name);
        }
    }

    /// The kernels of client and server in virtual time.
    pub(crate) fn of_case(&self, case: &Case) -> [Option<&KernelUsed>; 2] {
        [self.of_end(&case.client), self.of_end(&case.server)]
    }
}

/// Whether a kernel that a scenario does not name stands at an end of the case in virtual time.
fn asks_for_newest(case: &Case) -> bool {
    [&case.client, &case.server].into_iter().any(|end| match end.stack {
        Stack::Linux => end.model.is_empty(),
        Stack::Newest => true,
        Stack::Kernel(_) | Stack::Model(_) => false,
    })
}

fn name_of(stack: &Stack) -> Option<&str> {
    match stack {
        Stack::Kernel(name) => Some(name),
        Stack::Linux | Stack::Newest | Stack::Model(_) => None,
    }
}

/// The image of a kernel that can be a host in virtual time; there is no model in its place.
///
/// # Errors
/// If there is none, or it cannot be used.
pub fn kernel_image(choice: &KernelChoice) -> Result<Kernel, LabError> {
    match choice {
        KernelChoice::Named(name) => find(name.as_str()),
        KernelChoice::Newest | KernelChoice::Model | KernelChoice::Profile(_) => {
            let newest = Cache::of_user().and_then(|cache| cache.newest());
            let newest = newest.map_err(no_kernel("newest"))?.ok_or(LabError::NoKernels)?;
            checked(newest)
        }
    }
}

/// The image of that name, if it can be a host in virtual time.
fn find(name: &str) -> Result<Kernel, LabError> {
    let found = name.parse().and_then(|name| Cache::of_user()?.find(&name));
    checked(found.map_err(no_kernel(name))?)
}

fn checked(kernel: Kernel) -> Result<Kernel, LabError> {
    kernel.check_for_trials().map_err(no_kernel(&kernel.manifest.name))?;
    Ok(kernel)
}

fn no_kernel(name: &str) -> impl FnOnce(CacheError) -> LabError {
    let name = name.to_owned();
    move |source| LabError::NoKernel { name, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(name: &str, source: SourceOrigin, hz: u32) -> KernelUsed {
        let (release, image_hash) = ("6.12.117".to_owned(), "cba5fd21c2064488".to_owned());
        let (source, patches) = (Some(source), vec!["hz".to_owned(), "link".to_owned()]);
        KernelUsed { name: name.into(), release, image_hash, source, patches, hz }
    }

    fn package() -> SourceOrigin {
        let (package, version) = ("linux-source-6.12".into(), "6.12.117-1".into());
        SourceOrigin::Package { package, version, suite: None }
    }

    fn commit() -> SourceOrigin {
        let commit = "f6a6cfc7205a00112233445566778899aabbccdd".into();
        SourceOrigin::Commit { repository: "/src/linux".into(), commit }
    }

    #[test]
    fn image_is_named_where_it_is_not_simply_the_release() {
        let tree = |directory: &str| SourceOrigin::Tree {
            directory: directory.into(),
            fingerprint: "00".into(),
        };
        for (used, words) in [
            (kernel("6.12", package(), 250), "Linux 6.12.117"),
            (kernel("6.12-1000hz", package(), 1000), "Linux 6.12.117 (image 6.12-1000hz, 1000 Hz)"),
            (
                kernel("mine", commit(), 250),
                "Linux 6.12.117 (image mine, commit f6a6cfc7205a, 250 Hz)",
            ),
            // A tree under the name of a version.
            (
                kernel("6.12", tree("/src/net-next"), 250),
                "Linux 6.12.117 (image 6.12, tree net-next, 250 Hz)",
            ),
        ] {
            assert_eq!(used.in_words(), words);
        }
        let old = r#"{"name":"mine","release":"6.12.117","image_hash":"00"}"#;
        let old: KernelUsed = serde_json::from_str(old).unwrap();
        assert_eq!(old.in_words(), "Linux 6.12.117");
    }

    #[test]
    fn environment_tells_where_images_come_from() {
        let kernels = VirtualKernels {
            newest: Some(kernel("6.12", package(), 250)),
            named: vec![kernel("mine", commit(), 1000)],
            ..VirtualKernels::default()
        };
        let rows = [
            (
                "linux in virtual time",
                "image 6.12: Linux 6.12.117, package linux-source-6.12 6.12.117-1, patches \
                 hz link, 250 Hz, BLAKE3 cba5fd21c2064488",
            ),
            (
                "linux-mine in virtual time",
                "image mine: Linux 6.12.117, commit f6a6cfc7205a00112233445566778899aabbccdd of \
                 /src/linux, patches hz link, 1000 Hz, BLAKE3 cba5fd21c2064488",
            ),
        ];
        let rows = rows.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(kernels.environment(), rows);
    }

    #[test]
    fn kernel_is_named_as_in_a_list_or_a_scenario() {
        let named = |name: &str| KernelChoice::Named(name.parse().unwrap());
        for (text, expected) in [
            ("newest", KernelChoice::Newest),
            ("model", KernelChoice::Model),
            ("6.18", named("6.18")),
            ("linux-6.18", named("6.18")),
            ("linux-next", named("linux-next")),
        ] {
            assert_eq!(text.parse::<KernelChoice>().unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn model_is_chosen_by_its_name_alone() {
        for (choice, is_chosen) in
            [(KernelChoice::Model, true), (KernelChoice::Profile("linux-6.12"), false)]
        {
            let kernels = VirtualKernels::choose(&choice).unwrap();
            assert_eq!((kernels.is_model_chosen, kernels.newest), (is_chosen, None));
        }
    }

    /// An image that is noted must be there when the run is extended.
    #[test]
    fn image_that_no_end_uses_is_neither_checked_nor_noted() {
        let case = |stack: &str| {
            let text = format!(
                "title = \"t\"\npath = {{ delay = \"1 ms\" }}\nworkload = {{ upload = \"1 B\" }}\n\
                 client = {{ stack = \"{stack}\" }}\nserver = {{ stack = \"model:linux-6.18\" }}\n"
            );
            Scenario::parse(&text, "t").unwrap().cases.remove(0)
        };
        let newest = kernel("damaged", package(), 250);
        let kernels = || VirtualKernels { newest: Some(newest.clone()), ..Default::default() };
        for stack in ["model:linux-6.12", "linux-mine"] {
            let used = kernels().used_by([&case(stack)]).unwrap();
            assert_eq!(
                (used.newest.as_ref(), used.choice([&case(stack)])),
                (None, KernelChoice::Newest)
            );
            assert_eq!(kernels().for_linux(&case(stack)), None);
        }
        assert!(kernels().used_by([]).unwrap().newest.is_none(), "in real time");
        // What is used has to be there.
        for stack in ["linux", "linux-newest"] {
            assert!(kernels().used_by([&case(stack)]).is_err(), "{stack}");
            let chosen = kernels().choice([&case(stack)]);
            assert_eq!(chosen, KernelChoice::Named("damaged".parse().unwrap()));
            let model = VirtualKernels::default().choice([&case(stack)]);
            assert_eq!(model, KernelChoice::Model);
            assert_eq!(kernels().for_linux(&case(stack)), Some("damaged"));
            assert_eq!(VirtualKernels::default().for_linux(&case(stack)), Some("model"));
        }
    }
}
