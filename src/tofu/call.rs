//! The arguments of tofu's subcommands: the only place that spells its flags.
//!
//! Each function takes an [`Invocation`] that already has program, directory and
//! environment, and returns the full call.

mod narration;
mod state_calls;
mod subcommand;
mod variable_flags;
mod workspace_calls;

pub use narration::Narration;
pub use state_calls::{
    PushMode, StateEdit, force_unlock, state_edit, state_list, state_pull, state_push, state_push_with,
};
pub use subcommand::{Evaluation, subcommand};
pub use variable_flags::{with_default_variables, with_early_variables};
pub use workspace_calls::{listed_workspaces, workspace_list, workspace_new};

use std::path::Path;

use serde_json::Value;

use self::narration::narrated;
use self::variable_flags::{joined, with_variables};
use super::variables::{Assignment, VariableSource, to_tfvars};
use crate::model::BackendConfig;
pub use crate::model::PlanMode;
use crate::process::Invocation;

/// Returns what tells tofu what a plan is for.
const fn mode_flag(mode: PlanMode) -> Option<&'static str> {
    match mode {
        PlanMode::Normal => None,
        PlanMode::Destroy => Some("-destroy"),
        PlanMode::RefreshOnly => Some("-refresh-only"),
    }
}

/// Whether `init` prepares the backend too.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum InitBackend {
    /// Yes: everything after it may read and write the state.
    Yes,
    /// No: enough to validate, and needs no credentials.
    No,
}

/// What goes into a plan.
#[derive(Debug)]
pub struct PlanCall<'a> {
    /// Where the plan is saved.
    pub out: &'a Path,
    /// What it is for.
    pub mode: PlanMode,
    /// Where it takes variables from.
    pub variables: &'a [VariableSource],
    /// How long to wait for a lock.
    pub lock_timeout: Option<&'a str>,
    /// What the user wrote after `--`.
    pub extra: &'a [String],
}

/// Returns the call of `tofu init`.
pub fn init(base: Invocation, backend: InitBackend, extra: &[String], narration: Narration) -> Invocation {
    let call = base.args(["init", "-input=false", "-no-color"]);
    let call = if backend == InitBackend::No { call.arg("-backend=false") } else { call };
    narrated(call.args(extra), narration)
}

/// Gives a call of `init`, still without its subcommand, something for the backend beside its block.
///
/// Settings go through a pipe: the process list is no place for them.
pub fn with_backend_config(base: Invocation, entry: &BackendConfig) -> Invocation {
    match entry {
        BackendConfig::File(file) => base.first_flag(format!("-backend-config={file}")),
        BackendConfig::Values(values) => {
            let assigned =
                |(name, value): (&String, &Value)| (name.clone(), Assignment::Value(value.clone()));
            let values: Vec<(String, Assignment)> = values.iter().map(assigned).collect();
            let text = to_tfvars(values.iter().map(|(name, value)| (name.as_str(), value)));
            let (base, path) = base.feed_quietly(text.into_bytes());
            base.first_flag(format!("-backend-config={path}"))
        }
    }
}

/// Returns the call of `tofu validate`, which answers with one JSON document.
pub fn validate(base: Invocation, extra: &[String]) -> Invocation {
    base.args(["validate", "-no-color", "-json"]).args(extra)
}

/// The exit code of a plan that changes something; 0 is that of one that changes nothing.
pub const CHANGES: i32 = 2;

/// Returns the call of `tofu plan`, whose exit code says whether there are changes.
pub fn plan(base: Invocation, plan: PlanCall<'_>, narration: Narration) -> Invocation {
    let mut call = base.args(["plan", "-input=false", "-no-color", "-detailed-exitcode"]);
    call = call.arg(joined("-out=", plan.out));
    call = call.args(mode_flag(plan.mode)).args(lock_timeout(plan.lock_timeout));
    call = with_variables(call, plan.variables);
    narrated(call.args(plan.extra), narration)
}

/// What goes into the application of a saved plan.
#[derive(Debug)]
pub struct ApplyCall<'a> {
    /// The plan.
    pub plan: &'a Path,
    /// The variables it was made with: those that are ephemeral are not in the plan.
    pub variables: &'a [VariableSource],
    /// The variables that were given on the command line when it was made.
    pub given: Vec<&'a str>,
    /// How long to wait for a lock.
    pub lock_timeout: Option<&'a str>,
}

/// Returns the call of `tofu apply` with a saved plan.
pub fn apply(base: Invocation, apply: ApplyCall<'_>, narration: Narration) -> Invocation {
    let call = base.args(["apply", "-input=false", "-no-color"]).args(lock_timeout(apply.lock_timeout));
    let call = with_variables(call, apply.variables).args(apply.given);
    // Flags end at the first argument that is none, so the plan comes last.
    narrated(call, narration).arg(apply.plan).guarded()
}

/// What goes into a test.
#[derive(Debug)]
pub struct TestCall<'a> {
    /// Where it takes variables from.
    pub variables: &'a [VariableSource],
    /// What the user wrote after `--`.
    pub extra: &'a [String],
}

/// Returns the call of `tofu test`, which makes real things and removes them again.
pub fn test(base: Invocation, test: TestCall<'_>, narration: Narration) -> Invocation {
    let call = with_variables(base.args(["test", "-no-color"]), test.variables);
    narrated(call.args(test.extra), narration).guarded()
}

/// Returns the call that writes a saved plan, or the state, for people.
pub fn show(base: Invocation, plan: Option<&Path>) -> Invocation {
    base.args(["show", "-no-color"]).args(plan)
}

/// Returns the call that writes a saved plan, or the state, for people, sensitive values included.
pub fn show_everything(base: Invocation, plan: Option<&Path>) -> Invocation {
    base.args(["show", "-no-color", "-show-sensitive"]).args(plan)
}

/// Returns the call that writes a saved plan, or the state, as one JSON document, sensitive values
/// included.
pub fn show_json(base: Invocation, plan: Option<&Path>) -> Invocation {
    base.args(["show", "-no-color", "-json"]).args(plan)
}

/// Returns the call that writes all outputs as JSON, sensitive ones included.
pub fn outputs(base: Invocation) -> Invocation {
    base.args(["output", "-no-color", "-json"])
}

/// Returns the call that formats folders.
pub fn fmt(base: Invocation, mode: FmtMode, folders: &[std::path::PathBuf]) -> Invocation {
    let call = base.args(["fmt", "-no-color"]);
    let call = if mode == FmtMode::Check { call.args(["-check", "-diff"]) } else { call };
    call.args(folders)
}

/// Whether `fmt` writes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FmtMode {
    /// Rewrites the files.
    Write,
    /// Only tells what would change.
    Check,
}

fn lock_timeout(timeout: Option<&str>) -> Option<String> {
    timeout.map(|timeout| format!("-lock-timeout={timeout}"))
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;
    use crate::model::Environment;
    use crate::tofu::{Flavour, Tofu, TofuSource};

    fn base() -> Invocation {
        Invocation::new("tofu", "/", Environment::default())
    }

    #[test]
    fn a_plan_before_1_12_speaks_json_on_stdout() {
        let version = semver::Version::new(1, 11, 14);
        let tofu =
            Tofu { path: "tofu".into(), version, flavour: Flavour::OpenTofu, source: TofuSource::Path };

        let call = init(base(), InitBackend::No, &[], Narration::of(&tofu));

        assert!(
            format!("{call:?}")
                .contains(r#"["init", "-input=false", "-no-color", "-backend=false", "-json"]"#)
        );
    }

    #[test]
    fn variables_reach_tofu_by_a_pipe_and_never_as_an_argument() {
        let variables = [VariableSource::Text("token = \"s3cret\"".to_owned().into())];
        let mode = PlanMode::Destroy;
        let plan_call = PlanCall {
            out: Path::new("/p"),
            mode,
            variables: &variables,
            lock_timeout: Some("5m"),
            extra: &[],
        };

        let shown = format!("{:?}", plan(base(), plan_call, Narration::Both));

        assert!(
            shown
                .contains(r#""-destroy", "-lock-timeout=5m", "-var-file=/dev/fd/3", "-json-into=/dev/fd/4""#),
            "{shown}"
        );
        assert!(!shown.contains("s3cret"));
    }

    #[test]
    fn every_subcommand_that_loads_a_configuration_evaluates_some_of_it() {
        let found = |line: &str| {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let (words, evaluation) = subcommand(&args);
            (words.join("_"), evaluation)
        };

        assert_eq!(found("-chdir=x plan -out=p"), ("plan".to_owned(), Evaluation::Everything));
        assert_eq!(found("state replace-provider a b").0, "state_replace-provider");
        assert_eq!(found("providers -no-color"), ("providers".to_owned(), Evaluation::Early));
        assert_eq!(found("providers schema -json").0, "providers_schema");
        assert_eq!(found("force-unlock 1").1, Evaluation::Early);
        assert_eq!(found("fmt").1, Evaluation::Nothing);
        assert_eq!(found("-version").1, Evaluation::Nothing);
    }

    #[test]
    fn early_variables_stand_before_the_arguments_that_are_no_flags() {
        let early =
            [VariableSource::File("a.tfvars".into()), VariableSource::Text("x = 1".to_owned().into())];
        let base = with_early_variables(base(), &early);

        let shown = format!("{:?}", state_edit(base, StateEdit::Show("a.b")));

        let args = r#"["state", "show", "-var-file=a.tfvars", "-var-file=/dev/fd/3", "-no-color", "a.b"]"#;
        assert!(shown.contains(args), "{shown}");
    }

    #[test]
    fn no_call_lets_tofu_write_colours() {
        let addresses = ["a.b".to_owned()];
        let calls = [
            state_list(base(), &[]),
            state_pull(base()),
            state_push(base(), Vec::new()),
            state_push_with(base(), Vec::new(), PushMode::Forced),
            state_edit(base(), StateEdit::Show("a.b")),
            state_edit(base(), StateEdit::Remove(&addresses)),
            state_edit(base(), StateEdit::Move("a.b", "a.c")),
            show(base(), None),
            show_json(base(), Some(Path::new("/p"))),
            show_everything(base(), None),
            outputs(base()),
            validate(base(), &[]),
            fmt(base(), FmtMode::Check, &[]),
            force_unlock(base(), "1"),
        ];

        for call in calls {
            assert!(format!("{call:?}").contains("\"-no-color\""), "{call:?}");
        }
    }

    #[test]
    fn the_plan_is_the_last_argument_of_apply() {
        let call = ApplyCall { plan: Path::new("/p"), variables: &[], given: vec![], lock_timeout: None };

        let shown = format!("{:?}", apply(base(), call, Narration::Both));

        assert!(shown.contains(r#""-json-into=/dev/fd/3", "/p"]"#), "{shown}");
    }
}
