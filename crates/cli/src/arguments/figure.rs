//! The arguments of `tcplab plot`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tcplab_plot::Colour;
use tcplab_report::{AxisRange, AxisWish};

use super::RUNS;

/// How the table of a figure is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    /// Aligned columns
    Text,
    /// RFC 4180
    Csv,
    /// A document with columns and rows
    Json,
}

/// How values are laid out along an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AxisScale {
    /// Equal differences are equally far apart
    Linear,
    /// Equal factors are equally far apart
    Log,
}

const FIGURE_EXAMPLES: &str = "\
Examples:
  tcplab plot upload                                     which figures are there?
  tcplab plot upload --figure answer -o answer.svg
  tcplab plot upload --figure reno_20ms/1                figures of a trial, such as its queues
  tcplab plot upload --figure reno_20ms/1/queue-client-to-server -o queue.pdf
  tcplab plot recorded --figure queue-client-to-server -o queue.svg   of `shell --capture recorded`
  tcplab plot runs/x/A runs/x/B runs/x/C                 figures with all three
  tcplab plot A B --label before --label after --figure goodput/trials -o goodput.pdf
  tcplab plot A B C --figure goodput/means --relative-to 1 -o times-the-first.svg
  tcplab plot A B --figure goodput/ecdf --x-range 5.. --color 2=#cc3311 -o part.png";

#[derive(Debug, Args)]
#[command(after_help = FIGURE_EXAMPLES)]
pub(crate) struct FigureArguments {
    /// The run directory, or a scenario's name for its newest run, or a recording of `shell` or
    /// `bridge` for its queues; several runs (4,000 at most) for figures with all of them, then
    /// also results of runs (*.json, as `tcplab run --json=FILE` writes them)
    #[arg(required = true, value_name = "RUN")]
    pub(crate) run: Vec<PathBuf>,
    /// Call a run this in figures of several; repeat for each run, in their order [default: its
    /// title, with the end of its directory's name where titles are equal]
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Vec<String>,
    /// Divide what was measured by the mean of the same case of this run: its label, or its number
    /// in the order of the runs, from 1
    #[arg(long, value_name = "LABEL|NUMBER")]
    pub(crate) relative_to: Option<String>,
    /// The figure: a name that this command lists without --figure
    #[arg(long, value_name = "NAME")]
    pub(crate) figure: Option<String>,
    /// The file: FILE.svg, FILE.png, FILE.pdf, FILE.csv, FILE.json or FILE.pgf (LaTeX);
    /// `-`: SVG on standard output
    #[arg(short, long, value_name = "FILE", requires = "figure")]
    pub(crate) output: Option<PathBuf>,
    /// Print the figure's numbers instead of drawing it: as text, CSV or JSON
    #[arg(long, value_name = "FORMAT", requires = "figure")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "text")]
    pub(crate) table: Option<TableFormat>,
    /// Look for run directories here
    #[arg(long, value_name = "DIR", default_value = RUNS)]
    pub(crate) runs: PathBuf,
    #[command(flatten)]
    pub(crate) looks: LooksArguments,
}

/// How a figure looks.
#[derive(Debug, Args)]
#[command(next_help_heading = "Looks of the figure")]
pub(crate) struct LooksArguments {
    /// Write this above it
    #[arg(long, value_name = "TEXT", requires = "figure")]
    pub(crate) title: Option<String>,
    /// Draw this colour: of a run by its label or number, of figures of one run by the name of a
    /// line or row; #rrggbb, or a name that light and dark pages show well: blue, orange, green,
    /// pink, ochre, purple, black, grey; may be repeated
    #[arg(long, value_name = "LABEL=COLOR", value_parser = coloured, requires = "figure")]
    pub(crate) color: Vec<(String, Colour)>,
    /// Show this part of the x axis: A..B, A.. or ..B, numbers in its unit or with their own
    #[arg(long, value_name = "RANGE", requires = "figure", allow_hyphen_values = true)]
    pub(crate) x_range: Option<AxisRange>,
    /// Show this part of the y axis
    #[arg(long, value_name = "RANGE", requires = "figure", allow_hyphen_values = true)]
    pub(crate) y_range: Option<AxisRange>,
    /// Lay out the x axis so [default: by its values]
    #[arg(long, value_name = "SCALE", requires = "figure")]
    pub(crate) x_scale: Option<AxisScale>,
    /// Lay out the y axis so [default: by its values]
    #[arg(long, value_name = "SCALE", requires = "figure")]
    pub(crate) y_scale: Option<AxisScale>,
    /// Write this beside the x axis
    #[arg(long, value_name = "TEXT", requires = "figure")]
    pub(crate) x_label: Option<String>,
    /// Write this beside the y axis
    #[arg(long, value_name = "TEXT", requires = "figure")]
    pub(crate) y_label: Option<String>,
}

impl LooksArguments {
    /// Those of both axes, from left to right and upwards.
    pub(crate) fn axes(&self) -> [AxisWish; 2] {
        let wish = |range: &Option<AxisRange>, scale: Option<AxisScale>, label: &Option<String>| {
            let is_log = scale.map(|scale| scale == AxisScale::Log);
            AxisWish { range: range.clone(), is_log, label: label.clone() }
        };
        [
            wish(&self.x_range, self.x_scale, &self.x_label),
            wish(&self.y_range, self.y_scale, &self.y_label),
        ]
    }
}

/// A label may have `=` in it, a colour has none.
fn coloured(text: &str) -> Result<(String, Colour), String> {
    let (name, colour) =
        text.rsplit_once('=').ok_or("write LABEL=COLOR, such as 2=orange or before=#cc3311")?;
    let colour = colour.parse::<Colour>().map_err(|error| error.to_string())?;
    Ok((name.to_owned(), colour))
}
