//! Packs what the program carries: the files of the page, the description of the interface, and the
//! source of the example programs.

use std::io::{self, Write as _};
use std::path::Path;

use tcplab_embedded::Collected;

fn main() -> io::Result<()> {
    let repository = Path::new("../..");
    let mut files = Collected::default();
    files.add_all("page", Path::new("assets"), "")?;
    files.add("openapi.json".into(), &repository.join("docs/schemas/ui-openapi.json"))?;
    files.add_all("rust", &repository.join("examples/src/bin"), ".rs")?;
    files.add_all("c", &repository.join("examples/c"), ".c")?;
    io::stdout().write_all(files.pack()?.as_bytes())
}
