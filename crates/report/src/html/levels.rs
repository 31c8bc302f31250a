//! The levels of detail of a graph, as a page takes them along.

use tcplab_plot::{Figure, Level, Tile};

use crate::html::pack::pack;

/// A script element with the levels as JSON; empty where the SVG shows everything. Layers are
/// `{class, line, levels: [{column, tiles: [[first, last, count, packed], …]}, …]}`.
pub(crate) fn script(figure: &Figure) -> String {
    if figure.levels.is_empty() {
        return String::new();
    }
    let tile = |tile: &Tile| {
        let (first, last) = tile.columns;
        format!("[{first},{last},{},\"{}\"]", tile.count, pack(&tile.bytes))
    };
    let level = |level: &Level| {
        let tiles: Vec<String> = level.tiles.iter().map(tile).collect();
        format!("{{\"column\":{},\"tiles\":[{}]}}", level.column, tiles.join(","))
    };
    let layers = figure.levels.iter().map(|layer| {
        let levels: Vec<String> = layer.levels.iter().map(level).collect();
        let (class, is_line) = (layer.class, layer.is_line);
        format!("{{\"class\":\"{class}\",\"line\":{is_line},\"levels\":[{}]}}", levels.join(","))
    });
    let layers: Vec<String> = layers.collect();
    format!(r#"<script type="application/json" class="levels">[{}]</script>"#, layers.join(","))
}
