//! The preprocessor of the book: links to files that are not in it become their names.

use std::io;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

/// Reads what mdBook passes to a preprocessor, context and book, and writes the book.
pub(crate) fn rewrite() -> Result<()> {
    let (_, mut book): (Value, Value) =
        serde_json::from_reader(io::stdin().lock()).context("standard input is no book")?;
    rewrite_below(&mut book);
    serde_json::to_writer(io::stdout().lock(), &book)?;
    Ok(())
}

fn rewrite_below(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(rewrite_below),
        Value::Object(chapter) => {
            let page = chapter.get("path").and_then(Value::as_str).map(PathBuf::from);
            if let (Some(page), Some(Value::String(text))) = (page, chapter.get_mut("content")) {
                *text = within(&page, text);
            }
            chapter.values_mut().for_each(rewrite_below);
        }
        _ => {}
    }
}

/// The text of a page without links that lead out of the book.
fn within(page: &Path, text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        let link = after.split_once(')').zip(before.rfind('['));
        let outside = link.and_then(|((target, behind), open)| {
            let file = outside(page, target.split('#').next().unwrap_or(target))?;
            Some((file, behind, open))
        });
        let Some((file, behind, open)) = outside else {
            kept += before;
            kept += "](";
            rest = after;
            continue;
        };
        let words = &before[open + 1..];
        kept += &before[..open];
        kept += words;
        if !words.contains(&file) {
            kept += &format!(" (`{file}`)");
        }
        rest = behind;
    }
    kept + rest
}

/// The file of the repository that a link of a page leads to, if it is not in the book.
fn outside(page: &Path, target: &str) -> Option<String> {
    let mut place: Vec<&str> = Vec::new();
    let mut is_outside = false;
    let whole = page.parent()?.join(target);
    for part in whole.components() {
        match part {
            Component::Normal(name) => place.push(name.to_str()?),
            Component::ParentDir => is_outside |= place.pop().is_none(),
            Component::CurDir => {}
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    is_outside.then(|| place.join("/"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn links_out_of_the_book_become_names() {
        let of = |page: &str, text: &str| within(Path::new(page), text);
        let text =
            "See [how](../examples/README.md#build), [a page](other.md#a) and [x](http://x/).";
        let expected = "See how (`examples/README.md`), [a page](other.md#a) and [x](http://x/).";
        assert_eq!(of("page.md", text), expected);
        assert_eq!(of("page.md", "[`examples/a.toml`](../examples/a.toml)"), "`examples/a.toml`");
        let inner = "[a page](../other.md) or [a file](../../notebooks)";
        assert_eq!(of("decisions/0001.md", inner), "[a page](../other.md) or a file (`notebooks`)");
        let mut book = json!({ "items": [{ "Chapter": {
            "path": "a.md", "content": "[it](../b)", "sub_items": [{ "Chapter": {
                "path": "c/d.md", "content": "[e](../e.md)", "sub_items": [] } }] } }] });
        rewrite_below(&mut book);
        let chapter = &book["items"][0]["Chapter"];
        assert_eq!(chapter["content"], "it (`b`)");
        assert_eq!(chapter["sub_items"][0]["Chapter"]["content"], "[e](../e.md)");
    }
}
