//! Packs what the program carries: built-in scenarios, paths and stacks, and the schema.

use std::io::{self, Write as _};
use std::path::Path;

use tcplab_embedded::Collected;

fn main() -> io::Result<()> {
    let repository = Path::new("../..");
    let mut files = Collected::default();
    for folder in ["scenarios", "paths", "stacks"] {
        files.add_all(folder, &repository.join(folder), ".toml")?;
    }
    files.add("scenario.schema.json".into(), &repository.join("docs/scenario.schema.json"))?;
    io::stdout().write_all(files.pack()?.as_bytes())
}
