//! Which kernels the trials in virtual time run on.

use serde::{Deserialize, Serialize};
use tcplab_kernels::{Cache, Kernel, KernelName};
use tcplab_scenario::{Case, EndpointSpec, Profile, Scenario, Stack};

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
}

impl KernelUsed {
    fn of(kernel: Kernel) -> KernelUsed {
        let manifest = kernel.manifest;
        KernelUsed {
            name: manifest.name,
            release: manifest.release,
            image_hash: manifest.image_hash,
        }
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
    /// What stands for `linux`.
    pub(super) fn choose(choice: &KernelChoice) -> Result<VirtualKernels, LabError> {
        let newest = match choice {
            KernelChoice::Model | KernelChoice::Profile(_) => None,
            KernelChoice::Named(name) => Some(find(name.as_str())?),
            // Where nothing can be read there is none.
            KernelChoice::Newest => {
                let newest = Cache::of_user().and_then(|cache| cache.newest()).unwrap_or(None);
                newest.map(checked).transpose()?
            }
        };
        let profile = match choice {
            KernelChoice::Profile(name) => Some((*name).to_owned()),
            _ => None,
        };
        Ok(VirtualKernels { newest: newest.map(KernelUsed::of), profile, named: Vec::new() })
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

fn no_kernel(name: &str) -> impl FnOnce(tcplab_kernels::CacheError) -> LabError {
    let name = name.to_owned();
    move |source| LabError::NoKernel { name, source }
}
