//! The documents that tcplab writes for programs.

/// A kind of document that tcplab writes for programs: JSON, or a table.
///
/// Every JSON document has `schema` and `version` among its keys. Within a version, fields are only
/// added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Document {
    /// Its name: the value of `schema`.
    pub schema: &'static str,
    /// The value of `version`.
    pub version: u64,
    /// What it is, and what writes it.
    pub about: &'static str,
}

macro_rules! documents {
    ($($name:ident = $schema:literal, $about:literal;)*) => {
        $(
            #[doc = $about]
            pub const $name: Document = Document { schema: $schema, version: 1, about: $about };
        )*
        /// All kinds of documents.
        pub const DOCUMENTS: &[Document] = &[$($name),*];
    };
}

documents! {
    TRACE_DOCUMENT = "tcplab.trace",
        "An analysed capture: `tcplab trace --json`";
    TRACE_LINES_DOCUMENT = "tcplab.trace-lines",
        "An analysed capture, a JSON object for each line: `tcplab trace --jsonl`";
}
