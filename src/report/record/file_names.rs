//! The names of the files in the record of a run.

/// What was begun.
pub const BEGUN: &str = "run.json";

/// The result of the run; written last.
pub const REPORT: &str = "report.json";

/// Every event, one JSON object a line.
pub const EVENTS: &str = "events.jsonl";

/// What a change of data or templates did to the rendered files.
pub const RENDERED: &str = "rendered.diff";

/// Marks a run that died and that was already reported.
pub const ABANDONED: &str = "abandoned";
