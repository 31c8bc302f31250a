//! Figures for programs that know SVG and little CSS: each element gets its plain properties, in
//! the light theme, so that the file needs no style sheet.

use std::collections::BTreeMap;

/// Deeper references from variable to variable are left out.
const REFERENCES_MAX: usize = 8;
const SANS: &str = "Helvetica, Arial, sans-serif";

/// What SVG knows, of what style sheets set.
const PROPERTIES: [&str; 19] = [
    "display",
    "fill",
    "fill-opacity",
    "font-family",
    "font-size",
    "font-style",
    "font-weight",
    "opacity",
    "overflow",
    "paint-order",
    "shape-rendering",
    "stroke",
    "stroke-dasharray",
    "stroke-linecap",
    "stroke-linejoin",
    "stroke-opacity",
    "stroke-width",
    "text-anchor",
    "text-decoration",
];

/// Elements that a rule is about, from the outermost; whether each is the parent of the next.
struct Rule<'s> {
    parts: Vec<(Compound, bool)>,
    declarations: Vec<(&'s str, &'s str)>,
    /// Classes count, then names of elements, then the order in the sheet.
    weight: (usize, usize),
}

#[derive(Default)]
struct Compound {
    tag: Option<String>,
    classes: Vec<String>,
    /// The class that it must not have.
    without: Option<String>,
    is_root: bool,
}

struct Element<'s> {
    tag: &'s str,
    classes: Vec<&'s str>,
    variables: BTreeMap<&'s str, &'s str>,
}

/// The `<svg>` with the properties that the sheets give its elements, as `style` of each.
pub(crate) fn plain(svg: &str, sheets: &[&str]) -> String {
    let sheets: Vec<String> = sheets.iter().map(|sheet| without_comments(sheet)).collect();
    let mut rules: Vec<Rule<'_>> = sheets.iter().flat_map(|sheet| rules(sheet)).collect();
    rules.sort_by_key(|rule| rule.weight);
    let mut open: Vec<Element<'_>> = Vec::new();
    let mut text = String::with_capacity(svg.len() * 2);
    let mut rest = svg;
    while let Some((before, tag_on)) = rest.split_once('<') {
        text.push_str(before);
        let Some((inside, after)) = tag_on.split_once('>') else { break };
        rest = after;
        if inside.starts_with('/') {
            open.pop();
            text.push_str(&format!("<{inside}>"));
            continue;
        }
        let (inside, end) = inside.strip_suffix('/').map_or((inside, ""), |it| (it, "/"));
        let tag = inside.split_whitespace().next().unwrap_or_default();
        let classes = attribute(inside, "class").unwrap_or_default().split_whitespace().collect();
        let variables = open.last().map(|it| it.variables.clone()).unwrap_or_default();
        open.push(Element { tag, classes, variables });
        let style = style(&rules, &mut open);
        match attribute(inside, "style") {
            _ if style.is_empty() => text.push_str(&format!("<{inside}{end}>")),
            Some(own) => {
                let old = format!("style=\"{own}\"");
                let both = inside.replacen(&old, &format!("style=\"{style}; {own}\""), 1);
                text.push_str(&format!("<{both}{end}>"));
            }
            None => text.push_str(&format!("<{inside} style=\"{style}\"{end}>")),
        }
        if !end.is_empty() {
            open.pop();
        }
    }
    text + rest
}

pub(crate) fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let (_, value) = tag.split_once(&format!(" {name}=\""))?;
    Some(value.split_once('"')?.0)
}

/// The properties of the innermost element, whose variables are set.
fn style<'s>(rules: &'s [Rule<'s>], open: &mut [Element<'s>]) -> String {
    let found = rules.iter().filter(|rule| rule.is_of(open));
    let found: Vec<(&str, &str)> = found.flat_map(|rule| rule.declarations.clone()).collect();
    let Some(element) = open.last_mut() else { return String::new() };
    let variables = found.iter().filter(|(name, _)| name.starts_with("--"));
    element.variables.extend(variables.copied());
    let mut set: BTreeMap<&str, String> = BTreeMap::new();
    for (name, value) in found.into_iter().filter(|(name, _)| !name.starts_with("--")) {
        let Some(value) = resolved(value, &element.variables) else { continue };
        if name == "font" {
            set.extend(font(&value));
        } else if let (Some(name), false) = (known(name), value == "inherit") {
            let (value, opacity) = colour(&value);
            if let (Some(opacity), "fill" | "stroke") = (opacity, name) {
                set.insert(if name == "fill" { "fill-opacity" } else { "stroke-opacity" }, opacity);
            }
            set.insert(name, if name == "font-family" { family(&value).into() } else { value });
        }
    }
    set.retain(|name, value| *name != "display" || value == "none");
    let all: Vec<String> = set.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    all.join("; ").replace('"', "'")
}

fn known(name: &str) -> Option<&'static str> {
    PROPERTIES.into_iter().find(|it| *it == name)
}

/// The value without variables, for the light theme; none if that cannot be said.
fn resolved(value: &str, variables: &BTreeMap<&str, &str>) -> Option<String> {
    let mut text = value.to_owned();
    for _ in 0..REFERENCES_MAX {
        let calls = ["var(", "light-dark("].into_iter();
        let Some((at, call)) = calls.filter_map(|it| Some((text.find(it)?, it))).min() else {
            return (!text.contains("color-mix(") && !text.contains("calc(")).then_some(text);
        };
        let inside = &text[at + call.len()..];
        let end = split_outside(inside, ')')?.0.len();
        let (first, second) = split_outside(&inside[..end], ',').unwrap_or((&inside[..end], ""));
        let plain = match call {
            "var(" => variables.get(first.trim()).copied().unwrap_or(second),
            _ => first,
        };
        if plain.trim().is_empty() {
            return None;
        }
        text = format!("{}{}{}", &text[..at], plain.trim(), &inside[end + 1..]);
    }
    None
}

/// What is before and after the first such letter that is in no parentheses of the text.
fn split_outside(text: &str, letter: char) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            _ if c == letter && depth == 0 => {
                return text[at..].strip_prefix(c).map(|it| (&text[..at], it));
            }
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    None
}

/// The parts of `font: 600 12px/1 system-ui, sans-serif`.
fn font(value: &str) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let mut rest = value;
    while let Some((word, after)) = rest.split_once(' ') {
        rest = after;
        if word.parse::<u32>().is_ok() {
            found.push(("font-weight", word.to_owned()));
        } else if word.starts_with(|c: char| c.is_ascii_digit()) {
            let size = word.split('/').next().unwrap_or(word);
            found.extend([("font-size", size.to_owned()), ("font-family", family(rest).into())]);
            break;
        }
    }
    found
}

/// Fonts that programs have.
fn family(value: &str) -> &'static str {
    if value.contains("monospace") { "monospace" } else { SANS }
}

/// A colour as programs of SVG 1.1 know it, and its opacity apart: of `rgb(1 2 3 / .5)`.
fn colour(value: &str) -> (String, Option<String>) {
    let parts = value.strip_prefix("rgb(").and_then(|it| it.strip_suffix(')'));
    let Some((parts, opacity)) = parts.and_then(|it| it.split_once('/')) else {
        return (value.to_owned(), None);
    };
    let parts: Vec<&str> = parts.split_whitespace().collect();
    (format!("rgb({})", parts.join(", ")), Some(opacity.trim().to_owned()))
}

impl Rule<'_> {
    /// Whether it is of the last of these elements.
    fn is_of(&self, open: &[Element<'_>]) -> bool {
        fn is_of(parts: &[(Compound, bool)], open: &[Element<'_>]) -> bool {
            let (Some(((last, is_child), outer)), Some((element, above))) =
                (parts.split_last(), open.split_last())
            else {
                return parts.is_empty();
            };
            if !last.is_of(element, above.is_empty()) {
                return false;
            }
            let furthest = if *is_child { above.len() } else { usize::from(!outer.is_empty()) };
            let mut places = (furthest.min(above.len())..=above.len()).rev();
            places.any(|end| is_of(outer, &above[..end]))
        }
        is_of(&self.parts, open)
    }
}

impl Compound {
    /// None of what has no meaning in a file: states, attributes, parts of elements.
    fn read(text: &str) -> Option<Compound> {
        if text == ":root" {
            return Some(Compound { is_root: true, ..Compound::default() });
        }
        let negated = text.strip_suffix(')').and_then(|it| it.split_once(":not(."));
        let (text, without) = match negated {
            Some((text, class)) => (text, Some(class.to_owned())),
            None => (text, None),
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if text.is_empty() || !text.chars().all(is_plain) {
            return None;
        }
        let mut parts = text.split('.');
        let tag = parts.next().filter(|it| !it.is_empty()).map(str::to_owned);
        let classes = parts.map(str::to_owned).collect();
        Some(Compound { tag, classes, without, is_root: false })
    }

    fn is_of(&self, element: &Element<'_>, is_root: bool) -> bool {
        self.tag.as_ref().is_none_or(|tag| tag == element.tag)
            && self.classes.iter().all(|class| element.classes.contains(&class.as_str()))
            && !self.without.as_ref().is_some_and(|it| element.classes.contains(&it.as_str()))
            && (is_root || !self.is_root)
    }
}

fn without_comments(sheet: &str) -> String {
    let mut parts = sheet.split("/*");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once("*/").map_or("", |(_, after)| after))
}

/// The rules for every medium, in their order.
fn rules(sheet: &str) -> Vec<Rule<'_>> {
    let mut found = Vec::new();
    let mut rest = sheet;
    while let Some((selectors, after)) = rest.split_once('{') {
        if selectors.trim_start().starts_with('@') {
            rest = after_block(after);
            continue;
        }
        let Some((body, after)) = after.split_once('}') else { break };
        rest = after;
        let declarations: Vec<(&str, &str)> = body
            .split(';')
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.trim(), value.trim()))
            .collect();
        for selector in alternatives(selectors) {
            found.extend(rule(&selector, &declarations));
        }
    }
    found
}

/// What follows a block whose first brace is read.
fn after_block(text: &str) -> &str {
    let mut depth = 1_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return &text[at + 1..],
            '}' => depth -= 1,
            _ => {}
        }
    }
    ""
}

/// The selectors of a list, each `:is(a, b)` in it taken apart.
fn alternatives(list: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = list;
    loop {
        let (one, after) = split_outside(rest, ',').map_or((rest, None), |(a, b)| (a, Some(b)));
        match one.split_once(":is(").and_then(|(a, b)| Some((a, split_outside(b, ')')?))) {
            Some((before, (inside, behind))) => {
                let each = alternatives(inside).into_iter();
                let joined = each.map(|it| format!("{before}{it}{behind}"));
                found.extend(joined.flat_map(|it| alternatives(&it)));
            }
            None => found.push(one.trim().to_owned()),
        }
        let Some(after) = after else { return found };
        rest = after;
    }
}

fn rule<'s>(selector: &str, declarations: &[(&'s str, &'s str)]) -> Option<Rule<'s>> {
    let mut parts = Vec::new();
    let mut is_child = false;
    for word in selector.split_whitespace() {
        if word == ">" {
            is_child = true;
            continue;
        }
        parts.push((Compound::read(word)?, std::mem::take(&mut is_child)));
    }
    let classes = |it: &Compound| {
        it.classes.len() + usize::from(it.is_root) + usize::from(it.without.is_some())
    };
    let classes = parts.iter().map(|(it, _)| classes(it)).sum();
    let tags = parts.iter().filter(|(it, _)| it.tag.is_some()).count();
    let declarations = declarations.to_vec();
    (!parts.is_empty()).then_some(Rule { parts, declarations, weight: (classes, tags) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHEET: &str = "/* { */ :root { --ink: light-dark(#111, #eee); --line: var(--ink); \
        --band: light-dark(rgb(213 94 0 / .13), rgb(1 2 3 / .2)); }
        .a :is(.b, rect) { fill: var(--band); font: 600 12px/1 system-ui, sans-serif; }
        .a > .b { stroke: var(--line); } .a:hover, text::before { fill: red; }
        @media print { .a .b { fill: red; } }
        .c { --line: #222; } .d { stroke: var(--none); fill: color-mix(in srgb, red, blue); }
        .a .b.e { fill: none; display: block; }";

    #[test]
    fn elements_have_what_the_sheet_says() {
        let svg = "<svg class='a'><g class='c'><path class='b' d='M0 0'/><text>x &lt;</text></g>\
                   <path class='b'/><path class='b e'/><path class='d'/></svg>";
        let svg = &svg.replace('\'', "\"");
        let filled = "fill: rgb(213, 94, 0); fill-opacity: .13; \
                      font-family: Helvetica, Arial, sans-serif; font-size: 12px; font-weight: 600";
        let hollow = filled.replace("rgb(213, 94, 0)", "none");
        let expected = format!(
            "<svg class='a'><g class='c'><path class='b' d='M0 0' style='{filled}'/>\
             <text>x &lt;</text></g><path class='b' style='{filled}; stroke: #111'/>\
             <path class='b e' style='{hollow}; stroke: #111'/><path class='d'/></svg>"
        )
        .replace('\'', "\"");
        assert_eq!(plain(svg, &[SHEET]), expected);
    }

    #[test]
    fn class_that_an_element_must_not_have_counts() {
        let sheet =
            ".a text:not(.b) { fill: red; } .a text { fill: blue; } .c:not([x]) { fill: x; }";
        let svg = r#"<svg class="a"><text class="c">1</text><text class="b">2</text></svg>"#;
        let expected = r#"<svg class="a"><text class="c" style="fill: red">1</text><text class="b" style="fill: blue">2</text></svg>"#;
        assert_eq!(plain(svg, &[sheet]), expected);
    }

    #[test]
    fn variables_without_end_are_left_out() {
        let sheet = ".a { --a: var(--b); --b: var(--a); fill: var(--a); }";
        assert_eq!(plain("<svg class=\"a\"/>", &[sheet]), "<svg class=\"a\"/>");
        assert_eq!(plain("<svg", &["{ a:b } } .a {"]), "<svg");
    }
}
