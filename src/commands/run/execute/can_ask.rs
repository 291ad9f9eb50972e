//! Whether a run that has to ask can ask, and the command with which it needs no question.
//!
//! A hint that is pasted must never do more than what was asked for, so it has all flags of the command
//! line. Values that may be secret are not repeated; then no command is proposed.

use crate::commands::run::Request;
use crate::commands::{Context, program};
use crate::engine::Approval;
use crate::error::{Error, Result};
use crate::model::{RunPlan, quoted};
use crate::report::{Asking, PassedArguments};

/// Refuses a run that has to ask where no person can answer.
pub fn check_can_ask(plan: &RunPlan, request: &Request, context: &Context) -> Result<()> {
    let asks = plan.command.is_ordered() && request.approval() == Approval::Ask;
    if !asks || context.asking() != Asking::Nobody {
        return Ok(());
    }
    let why = if context.no_input { "`--no-input` was given" } else { "there is no terminal" };
    let typed = request.typed;
    let what = match plan.stacks().collect::<Vec<_>>().as_slice() {
        [one] => format!("`{}`", one.stack.id),
        several => format!("{} stacks", several.len()),
    };
    let passed = PassedArguments::on(&request.extra);
    let yes = match passed.behind(&format!("{} --yes", again(request, context))) {
        Some(command) => format!("`{command}`"),
        None => "the same command with `--yes` before the `--`".to_owned(),
    };
    Err(Error::usage(format!("`{typed}` has to ask before it changes {what}, but {why}"))
        .hint(format!("say yes beforehand: {yes}"))
        .hint_if((typed == "apply").then(|| reviewed(plan, request, context, &passed))))
}

/// Says how plans are made, reviewed, and applied without a question.
fn reviewed(plan: &RunPlan, request: &Request, context: &Context, passed: &PassedArguments) -> String {
    // `apply` finds by itself what is undone; `plan` needs the names.
    let names = || plan.stacks().map(|run| quoted(run.stack.id.as_str())).collect::<Vec<_>>().join(" ");
    let chosen = if request.run.resume { Some(names()) } else { request.stacks.typed() };
    let chosen = chosen.map(|words| format!(" {words}")).unwrap_or_default();
    let first = match passed.behind(&format!("{} plan{chosen}", program(context))) {
        Some(command) => format!("`{command}`"),
        None => "the same with `plan`".to_owned(),
    };
    format!("or apply exactly what was reviewed: {first}, then `{} --saved`", again(request, context))
}

/// Returns the command with its flags, without `--yes` and without what follows `--`.
fn again(request: &Request, context: &Context) -> String {
    let run = &request.run;
    let number = |flag: &str, value: String| format!("{flag} {}", quoted(&value));
    let switches = [
        ("--resume", run.resume),
        ("--removed", request.removed),
        ("--force", request.force),
        ("--allow-destroy", request.allow_destroy),
        ("--fail-fast", run.fail_fast),
        ("--init", run.init),
        ("--json", run.json),
        ("--jsonl", run.jsonl),
    ];
    let mut words = vec![program(context), request.typed.to_owned()];
    words.extend(request.stacks.typed().filter(|_| request.typed != "up"));
    words.extend(switches.into_iter().filter(|(_, given)| *given).map(|(flag, _)| flag.to_owned()));
    words.extend(run.parallelism.map(|count| number("--parallelism", count.to_string())));
    words.extend(run.lock_timeout.clone().map(|time| number("--lock-timeout", time)));
    words.join(" ")
}
