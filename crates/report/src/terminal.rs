//! Tables for the terminal.

use tcplab_quantities as q;
use tcplab_results::comparison::Row;
use tcplab_results::{Case, Recovery, Run};
use tcplab_units::rounded::{counted, grouped};
use tcplab_units::visible_line;

use crate::check::verified;
use crate::compare::grid::{self as verdicts, Grid as CaseGrid};
use crate::grid::wrapped;
use crate::summary::metrics::{Block, blocks};
use crate::summary::outcome::{failures, stopping};
use crate::summary::pools::{Pool, pooled_over, pools};
use crate::summary::question::question_and_answer;
use crate::summary::recovery::{by_kind, has_connections, recovery};
use crate::summary::subject::{flow_of_metrics, part_of_each};
use crate::summary::worlds::{self, VariantStacks};
use crate::title::short;
use crate::title::title;
use crate::trial::warnings::{losses_differ, warnings_but_of_losses};

/// A wider table continues below.
const WIDTH: usize = 100;
const GAP: &str = "  ";

/// The run as text: metrics by variant (all with `details`), recovery episodes by type, claims.
/// Every line ends in `\n`; columns are aligned for a fixed-width font and fit in 100 unless names
/// are long.
pub fn text_table(run: &Run, details: bool) -> String {
    let mut text = String::new();
    let over = pooled_over(run).filter(|_| !details);
    let rows = pools(run, over);
    worlds(run, &rows, &mut text);
    if let Some(flow) = flow_of_metrics(run) {
        line(&mut text, &flow);
        text.push('\n');
    }
    if over.is_some() {
        let many = run.cases.len();
        line(
            &mut text,
            &format!("{many} variants: their metrics are in the report; --verbose prints them"),
        );
        text.push('\n');
    } else {
        metrics(run, details, &mut text);
    }
    episodes(run, over, &rows, &mut text);
    missing(run, &mut text);
    comparisons(run, &mut text);
    if !run.claims.is_empty() {
        text.push('\n');
    }
    text += &claims(run);
    warnings(run, &mut text);
    losses(run, &mut text);
    text.push('\n');
    match &run.calibration {
        Some(calibration) => text.push_str(&verified(calibration, WIDTH)),
        None if run.world.is_simulated() || !run.has_path() => {}
        None => line(&mut text, "! path not verified before the trials"),
    }
    // A simulated path needs no calibration.
    if run.world.is_simulated() || worlds::differ(run) {
        line(&mut text, "✓ path exact (simulated)");
    }
    text
}

/// The metrics of each variant: all with `details`, else those for people.
fn metrics(run: &Run, details: bool, text: &mut String) {
    let (blocks, others): (Vec<Block>, Vec<Block>) =
        blocks(run).into_iter().partition(|block| details || !block.is_detail);
    let names: Vec<String> = run.cases.iter().map(|case| case.name.clone()).collect();
    let trials = run.cases.iter().map(trials).collect();
    let first = Group { columns: vec![Column::new("variant", "", names)], left: true };
    let worlds = run.cases.iter().map(|case| worlds::world(case).to_owned()).collect();
    let worlds = Group { columns: vec![Column::new("world", "", worlds)], left: true };
    let trials = Group { columns: vec![Column::new("trials", "", trials)], left: false };
    let worlds = worlds::differ(run).then_some(worlds);
    let first: Vec<Group> = [first].into_iter().chain(worlds).chain([trials]).collect();
    let groups: Vec<Group> = blocks.iter().map(|block| group(run, block)).collect();
    for table in tables(&first, &groups) {
        table_lines(text, &table);
        text.push('\n');
    }
    if !others.is_empty() {
        line(text, &format!("{} more metrics with --verbose", others.len()));
        text.push('\n');
    }
    if blocks.iter().any(|block| block.rows.iter().any(|row| row.spread.is_some())) {
        line(
            text,
            "±: half of the 95 % confidence interval of the mean (0 or none: trials identical); sd: \
             standard deviation",
        );
        text.push('\n');
    }
}

/// The question of the scenario and its answer, as text; empty without a question.
pub fn asked(run: &Run) -> String {
    let mut text = String::new();
    if run.question.is_some() {
        let (question, answer) = question_and_answer(run);
        for part in [question, answer].iter().flat_map(|it| wrapped(it, WIDTH)) {
            line(&mut text, &part);
        }
    }
    text
}

/// The claims of a run and how they went, as text.
pub fn claims(run: &Run) -> String {
    let mut text = String::new();
    for claim in &run.claims {
        let sign = claim.outcome().sign();
        let shortfall = claim.shortfall(&run.cases);
        let shortfall = shortfall.map(|text| format!(": {text}")).unwrap_or_default();
        line(&mut text, &format!("{sign} {}{shortfall}", claim.claim));
        for part in wrapped(&format!("{}: {}", claim.check, claim.found), WIDTH - 4) {
            line(&mut text, &format!("    {part}"));
        }
    }
    text
}

/// A line where all variants ran in the same world, else a table.
fn worlds(run: &Run, rows: &[Pool<'_>], text: &mut String) {
    let all = worlds::places(run);
    // Of those taken together the first stands for all: the path decides about no stack.
    let place = |pool: &Pool<'_>| {
        let first = all.iter().find(|place| place.case == pool.cases[0].name)?;
        Some(VariantStacks { case: pool.name.clone(), ..first.clone() })
    };
    let places: Vec<VariantStacks> = rows.iter().filter_map(place).collect();
    if let Some(world) = worlds::everywhere(&places) {
        line(text, &world);
        text.push('\n');
    } else if !places.is_empty() {
        let column = |name: &str, cell: &dyn Fn(&VariantStacks) -> &str| {
            let cells = places.iter().map(|place| cell(place).to_owned()).collect();
            Group { columns: vec![Column::new(name, "", cells)], left: true }
        };
        let groups = [
            column("variant", &|place| &place.case),
            column("world", &|place| place.world),
            column("client", &|place| &place.ends[0].stack),
            column("server", &|place| &place.ends[1].stack),
        ];
        table_lines(text, &groups.iter().collect::<Vec<_>>());
        text.push('\n');
    }
    if let Some(fallback) = &run.fallback {
        for part in wrapped(&format!("! {fallback}"), WIDTH) {
            line(text, &part);
        }
        text.push('\n');
    }
}

fn trials(case: &Case) -> String {
    let flawed = case.trials.iter().filter(|trial| !trial.flaws.is_empty()).count();
    let count = match case.failures.len() {
        0 => grouped(case.trials.len() as u64),
        _ => format!("{} of {}", grouped(case.trials.len() as u64), grouped(case.count() as u64)),
    };
    if flawed > 0 { format!("{count} ({flawed} flagged)") } else { count }
}

/// Failed trials with their reasons, and why this many ran.
fn missing(run: &Run, text: &mut String) {
    for sentence in failures(run).into_iter().chain(stopping(run)) {
        text.push('\n');
        for part in wrapped(&sentence, WIDTH) {
            line(text, &part);
        }
    }
    for case in &run.cases {
        for failure in &case.failures {
            let times = match failure.attempts {
                1 => "1 attempt".into(),
                times => format!("{times} attempts"),
            };
            line(text, &format!("! {}, trial {} failed after {times}", case.name, failure.number));
            for part in wrapped(&failure.reason, WIDTH - 4) {
                line(text, &format!("    {part}"));
            }
        }
    }
}

/// The comparisons of the scenario, worst first.
fn comparisons(run: &Run, text: &mut String) {
    for found in &run.comparisons {
        text.push('\n');
        line(text, &verdicts::name(found));
        for warning in &found.warnings {
            for part in wrapped(&format!("! {warning}"), WIDTH) {
                line(text, &part);
            }
        }
        let grid = CaseGrid::of(found);
        if grid.rows.is_empty() {
            continue;
        }
        let names = grid.rows.iter().map(|(case, _)| (*case).to_owned()).collect();
        let column =
            |name: &str, cells| Group { columns: vec![Column::new(name, "", cells)], left: true };
        let first = [column(&verdicts::rest(run, found), names)];
        let metric = |(index, metric): (usize, &String)| {
            let cell = |row: Option<&Row>| row.map_or_else(|| "–".into(), verdicts::in_short);
            let cells = grid.rows.iter().map(|(_, cells)| cell(cells[index])).collect();
            column(&title(metric), cells)
        };
        let groups: Vec<Group> = found.metrics.iter().enumerate().map(metric).collect();
        for table in tables(&first, &groups) {
            table_lines(text, &table);
        }
    }
}

/// The most trials, or groups of trials, whose warnings are printed.
const MAX_TRIALS: usize = 8;
/// The most warnings of a trial; the report has all.
const MAX_OF_EACH: usize = 8;

/// The most cases that are said to differ from the path's log.
const MAX_CASES: usize = 8;

/// By trial, flawed ones first.
fn warnings(run: &Run, text: &mut String) {
    let trials = run.cases.iter().flat_map(|case| case.trials.iter().map(move |t| (case, t)));
    let mut imperfect: Vec<_> = trials
        .map(|(case, trial)| (case, trial, warnings_but_of_losses(trial)))
        .filter(|(.., warnings)| !warnings.is_empty())
        .collect();
    imperfect.sort_by_key(|(_, trial, _)| trial.flaws.is_empty());
    if !imperfect.is_empty() {
        text.push('\n');
    }
    // Trials of a case of which the same is said stand together.
    let mut together: Vec<(&Case, Vec<u32>, Vec<String>)> = Vec::new();
    for (case, trial, warnings) in imperfect {
        let mut of_case = together.iter_mut().rev().take_while(|it| it.0.name == case.name);
        match of_case.find(|it| it.2 == warnings) {
            Some((_, numbers, _)) => numbers.push(trial.number),
            None => together.push((case, vec![trial.number], warnings)),
        }
    }
    for (case, numbers, warnings) in together.iter().take(MAX_TRIALS) {
        let trials = match numbers[..] {
            [only] => format!("trial {only}"),
            _ => counted(numbers.len(), "trial", "trials"),
        };
        line(text, &format!("! {}, {trials}", case.name));
        let mut first = warnings.iter().take(MAX_OF_EACH).cloned().collect::<Vec<_>>().join("; ");
        if let Some(more @ 1..) = warnings.len().checked_sub(MAX_OF_EACH) {
            first += &format!("; {} more", grouped(more as u64));
        }
        for part in wrapped(&first, WIDTH - 4) {
            line(text, &format!("    {part}"));
        }
    }
    let more: usize = together.iter().skip(MAX_TRIALS).map(|(_, numbers, _)| numbers.len()).sum();
    if more > 0 {
        let of = counted(more, "more trial", "more trials");
        line(text, &format!("! {of} with warnings: see the report"));
    }
}

/// The cases whose lost segments are not those of the path's log.
fn losses(run: &Run, text: &mut String) {
    let differing =
        run.cases.iter().filter_map(|case| Some((case, losses_differ(&case.recovery())?)));
    for (index, (case, differ)) in differing.enumerate() {
        if index == 0 {
            text.push('\n');
        }
        if index == MAX_CASES {
            line(text, "! and in more cases: see the report");
            return;
        }
        for part in wrapped(&format!("! {}: {differ}", case.name), WIDTH) {
            line(text, &part);
        }
    }
}

/// Columns under one name, kept together.
struct Group {
    columns: Vec<Column>,
    /// Whether text is aligned left, else right.
    left: bool,
}

struct Column {
    name: String,
    unit: String,
    cells: Vec<String>,
}

impl Column {
    fn new(name: &str, unit: &str, cells: Vec<String>) -> Column {
        Column { name: name.into(), unit: unit.into(), cells }
    }

    fn width(&self) -> usize {
        let cells = self.cells.iter().chain([&self.unit]);
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

impl Group {
    fn width(&self) -> usize {
        let gaps = (self.columns.len() - 1) * GAP.len();
        let columns = self.columns.iter().map(Column::width).sum::<usize>() + gaps;
        columns.max(self.columns[0].name.chars().count())
    }
}

/// Means with their uncertainty, and deviations if there are any.
fn group(run: &Run, block: &Block) -> Group {
    let row = |case: &str| block.rows.iter().find(|row| row.case == case && row.count > 0);
    let spread = |case: &str| row(case).and_then(|row| row.spread.as_ref());
    let varies = block.rows.iter().filter_map(|r| r.spread.as_ref()).any(|s| s.deviation != "0");
    let half = |case: &str| spread(case).map_or("", |s| s.half.as_str());
    let halves = run.cases.iter().map(|case| half(&case.name).chars().count()).max().unwrap_or(0);
    let mean = |case: &str| {
        let mean = row(case).map_or("–", |row| row.mean.as_str());
        match (varies, row(case)) {
            (false, _) => mean.to_string(),
            (true, None) => format!("{mean}   {:halves$}", ""),
            (true, Some(_)) => format!("{mean} ± {:>halves$}", half(case)),
        }
    };
    let cases = || run.cases.iter().map(|case| case.name.as_str());
    let mut columns = vec![Column::new(&block.name, &block.unit, cases().map(mean).collect())];
    if varies {
        let deviation = |case| spread(case).map_or("–", |s| s.deviation.as_str()).to_string();
        columns.push(Column::new("", "sd", cases().map(deviation).collect()));
    }
    Group { columns, left: false }
}

/// Each table has the first groups and as many others as fit.
fn tables<'a>(first: &'a [Group], groups: &'a [Group]) -> Vec<Vec<&'a Group>> {
    let width = |table: &[&Group]| -> usize {
        table.iter().map(|g| g.width()).sum::<usize>() + (table.len().max(1) - 1) * GAP.len()
    };
    let mut tables: Vec<Vec<&Group>> = Vec::new();
    for group in groups {
        let room = WIDTH.saturating_sub(group.width() + GAP.len());
        match tables.last_mut() {
            Some(table) if width(table) <= room => table.push(group),
            _ => tables.push(first.iter().chain([group]).collect()),
        }
    }
    tables
}

fn table_lines(text: &mut String, groups: &[&Group]) {
    let heads = groups.iter().map(|g| placed(&g.columns[0].name, g.width(), g.left));
    line(text, heads.collect::<Vec<_>>().join(GAP).trim_end());
    let rows = groups.iter().flat_map(|g| &g.columns).map(|c| c.cells.len()).max().unwrap_or(0);
    let part = |group: &Group, cell: &dyn Fn(&Column) -> String| -> String {
        let cells = group.columns.iter().map(|c| placed(&cell(c), c.width(), group.left));
        placed(&cells.collect::<Vec<_>>().join(GAP), group.width(), group.left)
    };
    let whole = |cell: &dyn Fn(&Column) -> String| -> String {
        groups.iter().map(|group| part(group, cell)).collect::<Vec<_>>().join(GAP)
    };
    let units = whole(&|column| column.unit.clone());
    if !units.trim().is_empty() {
        line(text, units.trim_end());
    }
    for row in 0..rows {
        let cells = whole(&|column| column.cells.get(row).cloned().unwrap_or_default());
        line(text, cells.trim_end());
    }
}

fn placed(cell: &str, width: usize, left: bool) -> String {
    if left { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
}

fn episodes(run: &Run, over: Option<&str>, rows: &[Pool<'_>], text: &mut String) {
    if !has_connections(run) {
        return line(text, "no TCP connection: the endpoints exchanged UDP datagrams");
    }
    if let Some(part) = part_of_each(run) {
        line(text, &format!("recovery episodes of {part}:"));
    }
    let all = recovery(run);
    let of_rows: Vec<Recovery> = rows.iter().map(Pool::recovery).collect();
    let counts = |count: &dyn Fn(&Recovery) -> String| of_rows.iter().map(count).collect();
    let names = rows.iter().map(|row| row.name.clone()).collect();
    let head = match over {
        Some(factor) => format!("recovery episodes, over {}", short(factor)),
        None => "recovery episodes".into(),
    };
    let mut columns = vec![(true, Column::new(&head, "", names))];
    for (kind, _) in by_kind(&all) {
        let cells = counts(&|it| {
            let count = it.of_kind(kind);
            match over.filter(|_| it.episodes() > 0) {
                Some(_) => {
                    let share = count as f64 / it.episodes() as f64 * 100.0;
                    format!("{} ({share:>3.0} %)", grouped(count as u64))
                }
                None => grouped(count as u64),
            }
        });
        columns.push((false, Column::new(kind, "", cells)));
    }
    let lost = counts(&|it| grouped(it.lost_segments as u64));
    columns.push((false, Column::new(q::LOST_SEGMENTS.label, "", lost)));
    let repaired = counts(&|it| format!("{} of {}", it.repaired, it.episodes()));
    columns.push((false, Column::new(q::REPAIRED.label, "", repaired)));
    let groups: Vec<Group> =
        columns.into_iter().map(|(left, column)| Group { columns: vec![column], left }).collect();
    table_lines(text, &groups.iter().collect::<Vec<_>>());
}

fn line(text: &mut String, line: &str) {
    // A line break in a title must not look like a line of ours.
    text.push_str(&visible_line(line));
    text.push('\n');
}
