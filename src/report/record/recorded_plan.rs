//! The plans of one run, read from its folder alone, wherever that lies and whatever its name is.
//!
//! A folder may come from another job, so nothing in it is trusted: it is read, never run.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::file_names::{EVENTS, RENDERED, REPORT};
use super::run_record::begun_in;
use crate::error::{Error, Result, io};
use crate::model::{PlanMode, RunOrigin, RunReport, StackId, quoted};

/// No file of a record is larger.
const LARGEST: u64 = 512 << 20;

/// The plans of one run.
#[derive(Clone, Debug)]
pub struct RecordedPlans {
    /// The project.
    pub project: Option<String>,
    /// What the plans are for.
    pub mode: PlanMode,
    /// What they were made from.
    pub origin: RunOrigin,
    /// What became of each stack.
    pub report: RunReport,
    /// Each plan, as tofu writes it for people.
    pub texts: BTreeMap<StackId, Vec<String>>,
    /// What a change of data or templates did to the rendered files.
    pub rendered: Option<String>,
}

impl RecordedPlans {
    /// Reads the folder of a run.
    pub fn read(dir: &Path) -> Result<Self> {
        let bytes = read(&dir.join(REPORT))?.ok_or_else(|| no_record(dir))?;
        let report: RunReport = serde_json::from_slice(&bytes).map_err(|error| {
            Error::invalid("this is no report of a run").at(dir.join(REPORT).display()).because(error)
        })?;
        let begun = begun_in(dir);
        let events = read(&dir.join(EVENTS))?.unwrap_or_default();
        let RecordedEvents { project, texts } = RecordedEvents::in_events(&String::from_utf8_lossy(&events));
        let (mode, begun_project, origin) = match begun {
            Some(begun) => (begun.mode, begun.project, begun.origin),
            None => (PlanMode::Normal, None, RunOrigin::default()),
        };
        let rendered = read(&dir.join(RENDERED))?.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Ok(Self { project: begun_project.or(project), mode, origin, report, texts, rendered })
    }
}

/// What the events of a run tell.
#[derive(Debug, Default)]
struct RecordedEvents {
    project: Option<String>,
    texts: BTreeMap<StackId, Vec<String>>,
}

impl RecordedEvents {
    fn in_events(events: &str) -> Self {
        let mut told = Self::default();
        // Most events are lines of tofu, which need not be understood.
        let telling =
            events.lines().filter(|line| line.contains("\"planned\"") || line.contains("\"run_started\""));
        for event in telling.filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
            match event["type"].as_str() {
                Some("run_started") => told.project = event["project"].as_str().map(str::to_owned),
                Some("planned") => {
                    let lines = event["text"].as_array().into_iter().flatten().filter_map(Value::as_str);
                    let stack = StackId::new(event["stack"].as_str().unwrap_or_default());
                    told.texts.insert(stack, lines.map(str::to_owned).collect());
                }
                _ => {}
            }
        }
        told
    }
}

fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    match std::fs::metadata(path) {
        Ok(facts) if !facts.is_file() || facts.len() > LARGEST => {
            Err(Error::invalid("this is no file of a run").at(path.display()))
        }
        Ok(_) => std::fs::read(path).map(Some).map_err(io("read", path)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => Ok(None),
        Err(error) => Err(io("read", path)(error)),
    }
}

fn no_record(dir: &Path) -> Error {
    let error = Error::invalid(format!("`{}` is no folder of a run that came to its end", dir.display()));
    let error = error.detail(format!("expected `{REPORT}` in it, as below `.infra/runs/<id>`"));
    let below = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let newest = below.filter(|path| path.join(REPORT).is_file()).max();
    error.hint_if(
        newest.map(|path| format!("one of them: `--report {}`", quoted(&path.display().to_string()))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_read_from_events_that_may_be_broken() {
        let events = "{\"type\":\"run_started\",\"project\":\"lab\"}\n\"planned\"\n{\"type\":\"planned\"\n\
            {\"type\":\"planned\",\"stack\":\"a\",\"text\":[\"one\",2,\"two\"]}\n";

        let told = RecordedEvents::in_events(events);

        assert_eq!(told.project.as_deref(), Some("lab"));
        assert_eq!(told.texts[&StackId::new("a")], ["one", "two"]);
    }
}
