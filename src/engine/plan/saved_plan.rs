//! Plans on disk, each with what it was made from, so that what was reviewed is what is
//! applied.
//!
//! A plan file may hold sensitive values, so its folder is closed to others. Beside it lies
//! a record; a plan whose record no longer fits is stale. When a reviewed plan was applied, its
//! record stays behind, so that a run that is begun again knows what is done. Files that somebody
//! else put there are opened with care: no link out of the folder, no pipe, nothing huge.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::engine::session::Surroundings;
use crate::error::{Error, Result, io};
use crate::model::{Action, Fingerprint, ResourceChange, StackError, StackId, quoted};
use crate::tofu::call::PlanMode;

/// What the command line gave to variables when a plan was made.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct SealedGiven {
    /// Whether files were among it, so that none was guessed.
    pub has_files: bool,
    /// All of it, for the eyes of this user alone.
    pub sealed: String,
}

/// What a plan was made from and what it does.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct PlanRecord {
    /// The stack.
    pub stack: StackId,
    /// When it was made.
    pub made_at: Timestamp,
    /// The version of tofu.
    pub tofu: String,
    /// The configuration it was made from.
    pub source: Fingerprint,
    /// The values from other stacks it was made from.
    pub inputs: Fingerprint,
    /// The variables of the environment it was made from.
    pub settings: Fingerprint,
    /// What lay around the stacks, where that is known.
    pub around: Option<Surroundings>,
    /// The plan file itself.
    pub file: Fingerprint,
    /// What it is for.
    pub mode: PlanMode,
    /// What the user wrote after `--`.
    pub extra: Vec<String>,
    /// What the command line gave to variables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<SealedGiven>,
    /// What it does to resources.
    pub changes: Vec<ResourceChange>,
    /// How many outputs change.
    pub outputs_changed: usize,
    /// Which state it was made from, where that can be read; see [`super::state_mark`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// What only the user who made it could write; see [`super::provenance`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
    /// Whether tofu says that there are changes, though it named none of those above.
    #[serde(default)]
    pub unnamed: bool,
}

impl PlanRecord {
    /// Returns whether applying it would do nothing.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.outputs_changed == 0 && !self.unnamed
    }

    /// Returns what a person is shown of it: the gravest first, reads left out.
    pub fn shown_changes(&self) -> Vec<ResourceChange> {
        let mut changes = self.changes.clone();
        changes.retain(|change| change.action != Action::Read);
        changes.sort_by(|a, b| (a.action, &a.address).cmp(&(b.action, &b.address)));
        changes
    }
}

/// The most bytes of a plan and of a record.
const LARGEST_PLAN: u64 = 512 << 20;
const LARGEST_RECORD: u64 = 64 << 20;

const DAMAGED: &str = "its plan file is missing or damaged";

/// The folder of saved plans.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SavedPlans {
    dir: PathBuf,
}

impl SavedPlans {
    /// Names the folder.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// Returns whether this is that folder.
    pub fn is_at(&self, dir: &Path) -> bool {
        self.dir == dir
    }

    /// Returns where the plan of a stack lies.
    pub fn plan_path(&self, stack: &StackId) -> PathBuf {
        self.dir.join(format!("{}.tfplan", stack.state_name()))
    }

    fn record_path(&self, stack: &StackId) -> PathBuf {
        self.dir.join(format!("{}.plan.json", stack.state_name()))
    }

    /// Returns where the record of a plan lies once it was applied.
    fn applied_path(&self, stack: &StackId) -> PathBuf {
        self.dir.join(format!("{}.applied.json", stack.state_name()))
    }

    /// Makes room for a new plan: removes the old one and closes the folder to others.
    pub fn prepare(&self, stack: &StackId) -> Result<PathBuf> {
        let path = self.plan_path(stack);
        let dir = path.parent().unwrap_or(&self.dir);
        crate::atomic_file::create_private_dir(dir)?;
        let real = |path: &Path| std::fs::canonicalize(path).map_err(io("read", path));
        if !real(dir)?.starts_with(real(&self.dir)?) {
            return Err(Error::invalid(format!("`{}` is a link that leads elsewhere", dir.display()))
                .hint(format!("remove it: `rm {}`", quoted(&dir.display().to_string()))));
        }
        self.remove(stack)?;
        Ok(path)
    }

    /// Writes the record of a plan that tofu has just written.
    pub fn save(&self, record: &PlanRecord) -> Result<()> {
        let plan = self.plan_path(&record.stack);
        std::fs::set_permissions(&plan, std::fs::Permissions::from_mode(0o600))
            .map_err(io("protect", &plan))?;
        let bytes = serde_json::to_vec_pretty(record).unwrap_or_default();
        crate::atomic_file::write(&self.record_path(&record.stack), &bytes)
    }

    /// Returns the plan file as it lies there.
    pub fn read(&self, stack: &StackId) -> Result<Vec<u8>> {
        let plan = self.plan_path(stack);
        let file = self.open(&plan, LARGEST_PLAN).and_then(|file| file.ok_or_else(|| DAMAGED.to_owned()));
        let mut bytes = Vec::new();
        let file = file.map_err(|why| stale(stack, &why).at(plan.display()))?;
        file.take(LARGEST_PLAN).read_to_end(&mut bytes).map_err(io("read", &plan))?;
        Ok(bytes)
    }

    /// Puts a plan file there, in the form that it is to lie in.
    pub fn put(&self, stack: &StackId, plan: &[u8]) -> Result<PathBuf> {
        let path = self.prepare(stack)?;
        crate::atomic_file::write(&path, plan)?;
        Ok(path)
    }

    /// Returns the digest of the plan file.
    pub fn digest(&self, stack: &StackId) -> Result<Fingerprint> {
        let plan = self.plan_path(stack);
        self.read_digest(&plan).map_err(|why| stale(stack, &why).at(plan.display()))
    }

    fn read_digest(&self, plan: &Path) -> Result<Fingerprint, String> {
        let file = self.open(plan, LARGEST_PLAN)?.ok_or(DAMAGED)?;
        Fingerprint::of_reader(file).map_err(|error| format!("it cannot be read: {error}"))
    }

    /// Opens a file of the folder, if it is there; else says what is odd about it.
    fn open(&self, path: &Path, largest: u64) -> Result<Option<File>, String> {
        let unreadable = |error: std::io::Error| format!("it cannot be read: {error}");
        let real = match std::fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error)),
        };
        let dir = std::fs::canonicalize(&self.dir).map_err(unreadable)?;
        let facts = std::fs::metadata(&real).map_err(unreadable)?;
        if !real.starts_with(dir) {
            return Err("it is a link that leads out of its folder".to_owned());
        }
        if !facts.is_file() {
            return Err("it is no file".to_owned());
        }
        if facts.len() > largest {
            return Err("it is larger than any plan".to_owned());
        }
        File::open(&real).map(Some).map_err(unreadable)
    }

    /// Returns the record of a stack's saved plan, if there is one.
    pub fn load(&self, stack: &StackId) -> Result<Option<PlanRecord>> {
        self.read_record(stack, self.record_path(stack))
    }

    /// Returns the record of a stack's last plan, if that was applied as it was reviewed.
    pub fn applied(&self, stack: &StackId) -> Option<PlanRecord> {
        self.read_record(stack, self.applied_path(stack)).ok().flatten()
    }

    fn read_record(&self, stack: &StackId, path: PathBuf) -> Result<Option<PlanRecord>> {
        let opened = self.open(&path, LARGEST_RECORD);
        let Some(file) = opened.map_err(|why| stale(stack, &why).at(path.display()))? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        file.take(LARGEST_RECORD).read_to_end(&mut bytes).map_err(io("read", &path))?;
        let record = serde_json::from_slice(&bytes);
        record
            .map(Some)
            .map_err(|error| stale(stack, "its record is damaged").because(error).at(path.display()))
    }

    /// Returns what is wrong with the plan file, if it is not the one that the record was written for.
    pub fn flaw(&self, record: &PlanRecord) -> Option<String> {
        match self.read_digest(&self.plan_path(&record.stack)) {
            Ok(digest) => (digest != record.file).then(|| DAMAGED.to_owned()),
            Err(why) => Some(why),
        }
    }

    /// Takes a plan that was begun out of use: nobody finds it any more, but it can still be compared with.
    pub fn retire(&self, stack: &StackId) -> Result<()> {
        remove_file(&self.record_path(stack))
    }

    /// Removes a plan that is out of use; one that is not stays.
    pub fn remove_retired(&self, stack: &StackId) -> Result<()> {
        if self.record_path(stack).exists() { Ok(()) } else { remove_file(&self.plan_path(stack)) }
    }

    /// Removes a plan that was carried out; its record stays as a sign of that.
    pub fn settle(&self, stack: &StackId) -> Result<()> {
        let record = self.record_path(stack);
        match std::fs::rename(&record, self.applied_path(stack)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io("move", &record)(error)),
            _ => remove_file(&self.plan_path(stack)),
        }
    }

    /// Removes a stack's plan and its records.
    pub fn remove(&self, stack: &StackId) -> Result<()> {
        remove_file(&self.record_path(stack))?;
        remove_file(&self.applied_path(stack))?;
        remove_file(&self.plan_path(stack))
    }
}

/// Makes the error of a plan that must not be applied any more.
pub fn stale(stack: &StackId, reason: &str) -> Error {
    Error::failed(format!("the saved plan of `{stack}` is stale: {reason}")).code(StackError::STALE_PLAN)
}

fn remove_file(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io("remove", path)(error)),
        _ => Ok(()),
    }
}
