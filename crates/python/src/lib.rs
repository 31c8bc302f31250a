//! The compiled part of the Python package: thin forms of what the command does, for
//! `python/tcplab`.
//!
//! `python/tcplab/_core.pyi` says what each is. Work that takes long leaves the interpreter to
//! other threads and ends on Ctrl-C; a panic becomes a `TcplabError`.
#![expect(clippy::needless_pass_by_value, reason = "Python hands values over")]

mod error;
mod events;
mod interrupt;
mod path;
mod run;
mod run_options;
mod scenario;
mod table;
mod trace;
mod trial;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("TcplabError", py.get_type::<error::TcplabError>())?;
    module.add("ScenarioError", py.get_type::<error::ScenarioError>())?;
    module.add_class::<table::Table>()?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<trace::Trace>()?;
    module.add_class::<trial::Trial>()?;
    module.add_class::<run::Run>()?;
    module.add_function(wrap_pyfunction!(scenario::scenarios, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::compose, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::decompose, module)?)?;
    module.add_function(wrap_pyfunction!(trace::trace, module)?)?;
    module.add_function(wrap_pyfunction!(trace::trace_part, module)?)?;
    module.add_function(wrap_pyfunction!(trace::may_be_capture, module)?)?;
    module.add_function(wrap_pyfunction!(trace::check_filter, module)?)?;
    module.add_function(wrap_pyfunction!(trial::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(trial::recording_table, module)?)?;
    module.add_function(wrap_pyfunction!(run::run, module)?)?;
    module.add_function(wrap_pyfunction!(run::run_part, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::kernels, module)?)?;
    module.add_function(wrap_pyfunction!(path::path_svg, module)?)?;
    let at_end = wrap_pyfunction!(trial::remove_recordings, module)?;
    py.import("atexit")?.call_method1("register", (at_end,))?;
    Ok(())
}
