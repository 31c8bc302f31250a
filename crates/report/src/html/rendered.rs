//! Templates as text.

use askama::Template;
use tcplab_units::visible;

use super::error::ReportError;

/// The text of a template. Control characters, which browsers drop or obey, are
/// [shown as such](visible); askama escapes markup.
///
/// # Errors
/// If the template cannot be filled.
pub(crate) fn rendered(template: &impl Template) -> Result<String, ReportError> {
    let text = template.render()?;
    Ok(visible(&text).into_owned())
}
