//! Metadata of files.

use crate::column::Column;

/// Key and value of each note: the version that wrote the file, and the meaning and unit of each
/// column.
pub(crate) fn metadata<R>(columns: &[Column<R>]) -> impl Iterator<Item = (String, String)> + '_ {
    let version = ("tcplab.version".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    let meaning = |column: &Column<R>| {
        (format!("tcplab.column.{}", column.name), column.meaning.clone().into_owned())
    };
    let unit = |column: &Column<R>| {
        let symbol = column.unit.symbol();
        (!symbol.is_empty()).then(|| (format!("tcplab.unit.{}", column.name), symbol.to_owned()))
    };
    let meanings = columns.iter().map(meaning);
    std::iter::once(version).chain(meanings).chain(columns.iter().filter_map(unit))
}
