//! `infra doctor`.

mod data;
mod states;

use std::collections::BTreeMap;

use clap::Args;
use serde_json::json;

use self::states::SharedProblem;
use crate::commands::loaded_project::{LoadedProject, search_tofu};
use crate::commands::{Context, setup, trust};
use crate::engine;
use crate::engine::{StackLock, StackLocks, StackSecrets, Unopened};
use crate::error::{Error, Exit, Kind, Result};
use crate::model::{Stack, StackId, counted, few, quoted};
use crate::report::{Asking, Terminal, Tone, passphrase_prompt};
use crate::secrets::{KeyTrust, Keyring};
use crate::stacks;
use crate::stacks::StateRisk;
use crate::tofu::{Tofu, child_environment};
use crate::trust::{TrustItem, TrustItemKind, UserKey};

/// Check the project and this machine, with a fix for each finding
///
/// Examples:
///   infra doctor
///   infra doctor --json
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct DoctorArgs {
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// How many stacks with one finding are told one by one.
const FEW: usize = 3;

/// How a check came out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Status {
    Pass,
    Warn,
    Fail,
}

impl Status {
    const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }

    const fn tone(self) -> Tone {
        match self {
            Self::Pass => Tone::Good,
            Self::Warn => Tone::Warn,
            Self::Fail => Tone::Bad,
        }
    }
}

/// One check.
#[derive(Debug)]
struct Finding {
    check: &'static str,
    status: Status,
    message: String,
    fix: Option<String>,
}

impl Finding {
    fn pass(check: &'static str, message: impl Into<String>) -> Self {
        Self { check, status: Status::Pass, message: message.into(), fix: None }
    }

    fn warn(check: &'static str, message: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { check, status: Status::Warn, message: message.into(), fix: Some(fix.into()) }
    }

    fn fail(check: &'static str, error: &Error) -> Self {
        let message =
            std::iter::once(error.message().to_owned()).chain(error.body()).collect::<Vec<_>>().join("; ");
        Self { check, status: Status::Fail, message, fix: error.hints().first().cloned() }
    }
}

/// Runs the command.
pub async fn run(args: &DoctorArgs, context: &Context) -> Result<Exit> {
    let findings = examine(context).await;
    if args.json {
        context.terminal.data_line(&to_json(&findings));
    } else {
        findings.iter().for_each(|finding| show(finding, &context.terminal));
    }
    let failed = findings.iter().any(|finding| finding.status == Status::Fail);
    Ok(if failed { Kind::Failed.exit() } else { Exit::OK })
}

async fn examine(context: &Context) -> Vec<Finding> {
    let mut findings = vec![environment(context)];
    let loaded = match LoadedProject::load(context) {
        Ok(loaded) => loaded,
        Err(error) => {
            findings.push(Finding::fail("project", &error));
            return findings;
        }
    };
    findings.push(Finding::pass(
        "project",
        format!("{} at {}", loaded.project.name, loaded.project.root.display()),
    ));
    let trust = Trusted::of(&loaded, context).await;
    findings.push(trust.finding());
    let (tofu, about_tofu) = tofu(&loaded, &trust, context).await;
    findings.extend(about_tofu);
    findings.extend(edited(&loaded));
    findings.extend(data::data_findings(&loaded.project));
    findings.extend(stack_findings(&loaded, context));
    findings.extend(order(&loaded));
    findings.extend(isolation(&loaded));
    findings.push(writable(&loaded));
    findings.extend(lock_findings(&loaded, &trust, context).await);
    let (secrets, about_secrets) = open_secrets(&loaded, &trust, context).await;
    // Looking may need credentials that only trusted keys open; the locks say so already.
    if trust.with_states() {
        findings.extend(states::state_findings(&loaded, secrets, tofu, context).await);
    }
    findings.extend(about_secrets);
    findings
}

/// What a check must not touch, because nobody said yes to it.
struct Trusted(Result<Vec<TrustItem>>);

impl Trusted {
    async fn of(loaded: &LoadedProject, context: &Context) -> Self {
        let all = trust::items_of_project(&loaded.project, context).await;
        Self(all.and_then(|all| trust::untrusted(&loaded.project.root, all, context)))
    }

    /// Returns whether nothing of this kind is forbidden.
    fn with(&self, kind: TrustItemKind) -> bool {
        self.0.as_ref().is_ok_and(|missing| missing.iter().all(|item| item.kind != kind))
    }

    /// Returns whether nothing is forbidden that a look at the states takes.
    fn with_states(&self) -> bool {
        let needed = [TrustItemKind::Key, TrustItemKind::PasswordProgram, TrustItemKind::CredentialFile];
        needed.into_iter().all(|kind| self.with(kind))
    }

    fn finding(&self) -> Finding {
        match &self.0 {
            Ok(missing) if missing.is_empty() => {
                Finding::pass("trust", "nothing of this project waits for a yes")
            }
            Ok(missing) => {
                let words: Vec<String> = missing.iter().map(TrustItem::words).collect();
                let message = format!("not trusted yet; it {}", words.join("; it "));
                Finding::warn("trust", message, "look at it and say yes once: `infra trust`")
            }
            Err(error) => Finding::fail("trust", error),
        }
    }
}

fn environment(context: &Context) -> Finding {
    let warnings = child_environment(&context.env).warnings;
    match warnings.first() {
        None => Finding::pass("environment", "nothing in it changes what tofu does"),
        Some(warning) => Finding::warn("environment", warning.clone(), "unset it, or make the file"),
    }
}

/// Returns the tofu that is there, and what is to be said about it.
async fn tofu(loaded: &LoadedProject, trust: &Trusted, context: &Context) -> (Option<Tofu>, Vec<Finding>) {
    if !trust.with(TrustItemKind::TofuBinary) {
        let message = "not looked at: it is a program of this project";
        return (None, vec![Finding::warn("tofu", message, "`infra trust`")]);
    }
    match search_tofu(&loaded.project, context).await.map(|search| search.found) {
        Ok(Some(tofu)) => {
            let found = format!("{} at {}", tofu.version, tofu.path.display());
            let findings = vec![Finding::pass("tofu", found), plans(&tofu, context)];
            (Some(tofu), findings)
        }
        Ok(None) => {
            let fix = "`infra deps install`; any run gets it by itself";
            (None, vec![Finding::warn("tofu", "not installed yet", fix)])
        }
        Err(error) => (None, vec![Finding::fail("tofu", &error)]),
    }
}

/// Tells what was edited and not rendered.
fn edited(loaded: &LoadedProject) -> Option<Finding> {
    let edited = setup::edited_since(&loaded.project);
    let message = format!("{} changed since the last `infra configure`", edited.join(", "));
    (!edited.is_empty()).then(|| Finding::warn("configure", message, "`infra configure`"))
}

/// Tells whether saved plans are bound to this user; makes no key.
fn plans(tofu: &Tofu, context: &Context) -> Finding {
    if !engine::can_bind_plans(tofu) {
        let message = "saved plans are not encrypted with your key: this tofu cannot do that";
        return Finding::warn("plans", message, "OpenTofu can: `infra deps`");
    }
    match UserKey::check_place(&context.env) {
        Ok(()) => Finding::pass("plans", "saved plans are encrypted with a key of yours"),
        Err(error) => {
            let message = format!("plans cannot be saved: {}", error.message());
            Finding::warn("plans", message, error.hints().join("; "))
        }
    }
}

fn stack_findings(loaded: &LoadedProject, context: &Context) -> Vec<Finding> {
    if loaded.stacks.is_empty() {
        return vec![Finding::warn("stacks", "none found", loaded.how_to_get_stacks(context))];
    }
    let mut findings: Vec<Finding> =
        loaded.stacks.iter().flat_map(|stack| findings_of(loaded, stack)).collect();
    findings.extend(forgotten_modules(loaded));
    findings.extend(risky_states(loaded));
    for note in &loaded.notes {
        findings.push(Finding::warn(
            "layout",
            note.clone(),
            "move it, or name the roots in infra.yaml: `stacks: { roots: […] }`",
        ));
    }
    if findings.is_empty() {
        findings.push(Finding::pass(
            "stacks",
            format!("{}, all readable", counted(loaded.stacks.len(), "stack")),
        ));
    }
    findings
}

fn findings_of(loaded: &LoadedProject, stack: &Stack) -> Vec<Finding> {
    let unusable =
        |problem: &String| Finding::fail("stacks", &Error::invalid(format!("{}: {problem}", stack.id)));
    let unread = |note: &String| {
        let fix = format!("tofu judges it: `infra validate {}`", quoted(stack.id.as_str()));
        Finding::warn("stacks", format!("{}: {note}", stack.id), fix)
    };
    let odd =
        |warning: &String| Finding::warn("stacks", format!("{}: {warning}", stack.id), "see `infra stacks`");
    let mut findings: Vec<Finding> = stack.problems.iter().map(unusable).collect();
    findings.extend(stack.unread.iter().map(unread));
    let is_forgotten = |warning: &&String| stacks::tells_of_forgotten_module(warning);
    findings.extend(stack.warnings.iter().filter(|warning| !is_forgotten(warning)).map(odd));
    if let Some(errored) = engine::unsaved_file(&loaded.project, stack) {
        let message = format!("{}: a run could not save its state: {}", stack.id, errored.path.display());
        let fix = format!("`infra state push {} --errored`, which removes the file", stack.id);
        findings.push(Finding::fail("state", &Error::failed(message).hint(fix)));
    }
    findings
}

/// Tells what is listed as a stack and waits for a caller; many are told together.
fn forgotten_modules(loaded: &LoadedProject) -> Vec<Finding> {
    let told = loaded.stacks.iter().filter_map(|stack| {
        let warning = stack.warnings.iter().find(|warning| stacks::tells_of_forgotten_module(warning))?;
        Some((stack.id.to_string(), warning.clone()))
    });
    let (names, warnings): (Vec<String>, Vec<String>) = told.unzip();
    let all = match names.len() {
        ..=FEW => warnings,
        _ => vec![format!("{} may be modules that nothing uses", stacks::shortened(&names))],
    };
    all.into_iter().map(|message| Finding::warn("stacks", message, "see `infra stacks`")).collect()
}

/// Tells what is risky about where states are kept; what many stacks share is told once.
fn risky_states(loaded: &LoadedProject) -> Vec<Finding> {
    let mut shared: BTreeMap<&str, (StateRisk, Vec<&Stack>)> = BTreeMap::new();
    for stack in &loaded.stacks {
        for risk in stacks::state_risks(stack) {
            let words = match risk {
                StateRisk::LocalFile if !has_local_state(loaded, stack) => {
                    "state in a local file, which is not here: never applied, or on another machine"
                }
                _ => risk.words(),
            };
            shared.entry(words).or_insert((risk, Vec::new())).1.push(stack);
        }
    }
    let told = shared.into_iter().flat_map(|(words, (risk, stacks))| {
        let size = if stacks.len() > FEW { stacks.len() } else { 1 };
        let group = |stacks: &[&Stack]| {
            let names: Vec<String> = stacks.iter().map(|stack| stack.id.to_string()).collect();
            let names = if names.len() > 1 { stacks::shortened(&names) } else { names.concat() };
            Finding::warn("state", format!("{names}: {words}"), risk.fix(stacks))
        };
        stacks.chunks(size).map(group).collect::<Vec<_>>()
    });
    told.collect()
}

/// Returns whether this machine has the file that a local backend keeps a state in.
fn has_local_state(loaded: &LoadedProject, stack: &Stack) -> bool {
    let identity = stacks::identity_of(stack);
    let file = identity.as_deref().and_then(|identity| identity.strip_prefix("local:"));
    file.is_none_or(|file| loaded.project.root.join(file).exists())
}

/// Tells whether the stacks can be brought into an order.
fn order(loaded: &LoadedProject) -> Option<Finding> {
    let cycle = stacks::cycle(&loaded.project, &loaded.stacks);
    let sound = || Finding::pass("order", "no stack waits for itself");
    let finding = cycle.map_or_else(sound, |error| Finding::fail("order", &error));
    (!loaded.stacks.is_empty()).then_some(finding)
}

fn isolation(loaded: &LoadedProject) -> Vec<Finding> {
    match stacks::shared_states(&loaded.stacks).as_slice() {
        [] => vec![Finding::pass("isolation", "no two stacks share a state")],
        all => all.iter().map(|shared| Finding::fail("isolation", &shared.error)).collect(),
    }
}

/// Tries the one item that every run needs, and leaves nothing behind.
fn writable(loaded: &LoadedProject) -> Finding {
    let dir = loaded.project.infra_dir();
    let place = if dir.exists() { dir } else { loaded.project.root.clone() };
    match tempfile::tempfile_in(&place) {
        Ok(_) => Finding::pass("disk", format!("{} can be written", place.display())),
        Err(error) => {
            let message = format!("cannot write in `{}`", place.display());
            Finding::fail(
                "disk",
                &Error::unavailable(message).because(error).hint("make it writable for you"),
            )
        }
    }
}

async fn lock_findings(loaded: &LoadedProject, trust: &Trusted, context: &Context) -> Vec<Finding> {
    // Reading a lock may need credentials that only those open.
    if !trust.with_states() {
        let message = "not looked at: the project is not trusted with your keys";
        return vec![Finding::warn("locks", message, "`infra trust`")];
    }
    let all: Vec<StackId> = loaded.stacks.iter().map(|stack| stack.id.clone()).collect();
    match loaded.locks_of(&all, context).await {
        Err(error) => vec![Finding::fail("locks", &error)],
        Ok(StackLocks { locks, failed }) => {
            // A state that went elsewhere is told as one; its lock is the mark of that.
            let held = locks.iter().filter(|lock| lock.lock.info.moved_to().is_none());
            let failed = failed.iter().filter(|(_, error)| !states::is_misplaced(error));
            let unread = states::together(failed.map(|(stack, error)| (stack, error)));
            let findings: Vec<Finding> =
                held.map(lock_finding).chain(unread.iter().map(unreadable_states)).collect();
            if findings.is_empty() { vec![Finding::pass("locks", "none held")] } else { findings }
        }
    }
}

/// Tells states whose lock cannot be read: their newest entry is damaged, or out of reach.
fn unreadable_states(states: &SharedProblem<'_>) -> Finding {
    let error = states.error;
    let finding = Finding::fail("state", error);
    let fix = match error.hints() {
        [] if error.kind() == Kind::Unavailable => {
            Some("check its address, the network and a VPN, then `infra doctor`".to_owned())
        }
        [] => None,
        hints => Some(hints.join("; ")),
    };
    let names = few(&states.stacks, states::NAMED).replace('`', "");
    Finding { message: format!("{names}: {}", finding.message), fix, ..finding }
}

/// Opens the encrypted files; tells whether they open, and whose key files others can read.
async fn open_secrets(
    loaded: &LoadedProject,
    trust: &Trusted,
    context: &Context,
) -> (BTreeMap<StackId, StackSecrets>, Vec<Finding>) {
    // Nobody is asked for a passphrase by a check, and nothing that is opened leaves it.
    let prompt = passphrase_prompt(Asking::Nobody);
    let may_run = trust.with(TrustItemKind::PasswordProgram);
    let keys = if may_run { KeyTrust::ALL } else { KeyTrust::NO_PROGRAMS };
    let keyring = Keyring::load(loaded.key_places(context, keys), &prompt).await;
    let exposed = keyring.identities().exposed().iter().map(|key| {
        let message = format!("{} can be read by others (mode {:o})", key.path.display(), key.mode);
        Finding::warn("secrets", message, format!("`chmod 600 {}`", key.path.display()))
    });
    let mut findings: Vec<Finding> = exposed.collect();
    let stacks: Vec<&Stack> = loaded.stacks.iter().collect();
    let opened = engine::load_secrets(&keyring, &loaded.project, &stacks, |_| Unopened::Ends).await;
    findings.push(match &opened {
        Ok(secrets) if secrets.values().all(StackSecrets::is_empty) => {
            Finding::pass("secrets", "no encrypted files")
        }
        Ok(_) => Finding::pass("secrets", "all encrypted files open"),
        Err(error) => Finding::fail("secrets", error),
    });
    (opened.unwrap_or_default(), findings)
}

fn lock_finding(lock: &StackLock) -> Finding {
    let StackLock { stack, lock: held, life, .. } = lock;
    match life.is_alive() {
        Some(false) => Finding::warn(
            "locks",
            format!("{stack} is locked by {}, whose process is gone", held.info.who),
            format!("`infra force-unlock {stack}`"),
        ),
        Some(true) | None => Finding::pass("locks", format!("{stack} is locked by {}", held.info.who)),
    }
}

fn to_json(findings: &[Finding]) -> String {
    let rows: Vec<_> = findings
        .iter()
        .map(|f| json!({"check": f.check, "status": f.status.word(), "message": f.message, "fix": f.fix}))
        .collect();
    serde_json::to_string_pretty(&rows).unwrap_or_default()
}

fn show(finding: &Finding, terminal: &Terminal) {
    let word = terminal.paint_data(finding.status.tone(), &finding.status.word().to_uppercase());
    terminal.data_hanging(&format!("{word}  {:11}  {}", finding.check, finding.message), 19);
    if let Some(fix) = &finding.fix {
        terminal.data_hanging(&format!("      {:11}  fix: {fix}", ""), 24);
    }
}
