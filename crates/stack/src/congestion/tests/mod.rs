//! The controls driven.
