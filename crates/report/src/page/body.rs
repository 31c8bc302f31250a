//! The body of a trial on a page.

use askama::Template;

use super::links::Rerun;
use crate::trial::view::TrialView;

#[derive(Template)]
#[template(path = "trial_body.html")]
pub(crate) struct TrialBody<'a, 'v> {
    pub(crate) view: &'v TrialView<'a>,
    pub(crate) rerun: Rerun,
}
