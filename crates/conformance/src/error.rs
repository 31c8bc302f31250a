//! Why a kernel cannot be the subject of a script.

use tcplab_guests::GuestError;

/// Why a kernel cannot be the subject of a script, or not any more.
#[derive(Debug, thiserror::Error)]
pub enum ConformanceError {
    /// The guest.
    #[error(transparent)]
    Guest(#[from] GuestError),
    /// Its first program could not do what it was told.
    #[error("{message}")]
    Failed {
        /// Why.
        message: String,
        /// What would help.
        remedy: Option<String>,
    },
    /// The script's own settings of the host make no sense.
    #[error("--{name}={value}: expected {expected}")]
    Option {
        /// The option's name.
        name: &'static str,
        /// As the script has it.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
}

impl ConformanceError {
    /// What the user can do about it.
    pub fn remedy(&self) -> Option<String> {
        match self {
            ConformanceError::Guest(error) => error.remedy().map(Into::into),
            ConformanceError::Failed { remedy, .. } => remedy.clone(),
            ConformanceError::Option { .. } => None,
        }
    }

    /// Whether the caller asked to stop.
    pub fn is_stop(&self) -> bool {
        matches!(self, ConformanceError::Guest(GuestError::Stopped))
    }
}
