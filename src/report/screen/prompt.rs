//! Questions to the person at the keyboard.
//!
//! Asked only if there is one; the callers have checked that. Reading happens on a
//! thread of its own, so that Ctrl-C is still heard.

use std::io::{BufRead, Read, Write};

use nix::sys::termios::{self, LocalFlags, SetArg};
use zeroize::Zeroizing;

use super::fit::wrap;
use super::terminal::{Terminal, Tone};
use crate::events::{Answer, Proposal, Question};
use crate::model::{RemainingStacks, StackId, few};

/// More names than these would hide the question; each was shown with its plan.
const NAMED: usize = 20;

/// Whether there is a person to ask.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Asking {
    /// The person at this terminal.
    Person(Terminal),
    /// Nobody: every answer is no.
    Nobody,
}

/// Puts a question of the engine.
pub async fn ask(terminal: &Terminal, question: &Question) -> Answer {
    match question {
        Question::Apply { proposals, .. } => {
            let words = foreign_words(proposals) + &protected_words(proposals) + &apply_words(proposals);
            match answer(terminal, &format!("{words} [y/N] (d shows every attribute)")).await.as_deref() {
                Some("d" | "D") => Answer::Details,
                said => given(is_yes(said)),
            }
        }
        Question::Destroy { proposals, project, remaining } => {
            let text = format!("{} Type the project's name to go on:", destroy_words(proposals, project));
            let text = format!("d shows every attribute.\n{text}");
            let text =
                foreign_words(proposals) + &protected_words(proposals) + &remaining_words(remaining) + &text;
            match answer(terminal, &text).await.as_deref() {
                said if said == Some(project) => Answer::Yes,
                Some("d" | "D") => Answer::Details,
                _ => Answer::No,
            }
        }
    }
}

const fn given(yes: bool) -> Answer {
    if yes { Answer::Yes } else { Answer::No }
}

/// Names the stacks whose plans somebody else made.
fn foreign_words(proposals: &[Proposal]) -> String {
    let foreign = proposals.iter().filter(|proposal| proposal.is_foreign);
    let names: Vec<String> = foreign.map(|proposal| format!("`{}`", proposal.stack)).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => format!("The plan of {one} was not made by you here. "),
        several => format!("The plans of {} were not made by you here. ", several.join(", ")),
    }
}

/// Asks about changes, or only about what became different since they were shown.
fn apply_words(proposals: &[Proposal]) -> String {
    let differ = proposals.iter().all(|proposal| !proposal.differences.is_empty());
    match (differ, proposals.len()) {
        (false, 1) => "Apply these changes?".to_owned(),
        (false, stacks) => format!("Apply these changes to {stacks} stacks?"),
        (true, 1) => "Apply it with these differences?".to_owned(),
        (true, stacks) => format!("Apply these {stacks} stacks with these differences?"),
    }
}

/// Says what is destroyed; a choice of a few stacks may have grown by their dependents.
fn destroy_words(proposals: &[Proposal], project: &str) -> String {
    let what = match proposals.len() {
        1 => "one stack".to_owned(),
        stacks => format!("{stacks} stacks"),
    };
    let stacks: Vec<StackId> = proposals.iter().map(|proposal| proposal.stack.clone()).collect();
    format!("This destroys {what} of `{project}`: {}.", few(&stacks, NAMED))
}

/// Names what stays although what is below it goes, each sort on a line of its own.
fn remaining_words(remaining: &RemainingStacks) -> String {
    let lines = remaining.sentences().into_iter().map(|sentence| {
        let (first, rest) = sentence.split_at(1);
        format!("{}{rest}.\n", first.to_uppercase())
    });
    lines.collect()
}

/// Names the stacks that must not lose anything without this very question.
fn protected_words(proposals: &[Proposal]) -> String {
    let protected = proposals.iter().filter(|proposal| proposal.is_protected);
    let names: Vec<String> = protected.map(|proposal| format!("`{}`", proposal.stack)).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => format!("{one} is protected and loses resources. "),
        several => format!("{} are protected and lose resources. ", several.join(", ")),
    }
}

/// Asks for a yes; anything else is a no.
pub async fn confirm(terminal: &Terminal, question: &str) -> bool {
    is_yes(answer(terminal, &format!("{question} [y/N]")).await.as_deref())
}

fn is_yes(answer: Option<&str>) -> bool {
    matches!(answer, Some("y" | "Y" | "yes" | "Yes" | "YES"))
}

/// Returns a way to ask for a passphrase on the terminal, without showing it.
///
/// Without a person there is no answer. Ctrl-C and Ctrl-D are no answer either; the terminal
/// does not turn them into signals meanwhile, because no other task could receive them.
pub fn passphrase_prompt(asking: Asking) -> impl Fn(&str) -> Option<Zeroizing<String>> + Send + Sync {
    move |question| match asking {
        Asking::Person(_) => read_hidden(question).ok().flatten(),
        Asking::Nobody => None,
    }
}

fn read_hidden(question: &str) -> std::io::Result<Option<Zeroizing<String>>> {
    let mut tty = std::fs::File::options().read(true).write(true).open("/dev/tty")?;
    let before = termios::tcgetattr(&tty)?;
    let mut hidden = before.clone();
    hidden.local_flags.remove(LocalFlags::ECHO | LocalFlags::ICANON | LocalFlags::ISIG);
    // Hidden before it is asked: what is typed at the sight of the question must neither show nor be lost.
    termios::tcsetattr(&tty, SetArg::TCSAFLUSH, &hidden)?;
    write!(tty, "{question} ")?;
    let line = read_hidden_line(&mut tty);
    termios::tcsetattr(&tty, SetArg::TCSAFLUSH, &before)?;
    writeln!(tty)?;
    line
}

fn read_hidden_line(tty: &mut std::fs::File) -> std::io::Result<Option<Zeroizing<String>>> {
    let mut line = Zeroizing::new(Vec::new());
    let mut byte = [0];
    loop {
        let ended = tty.read(&mut byte)? == 0;
        match byte[0] {
            // Ctrl-C, Ctrl-D, or a terminal that went away.
            3 | 4 => return Ok(None),
            _ if ended => return Ok(None),
            b'\r' | b'\n' => return Ok(String::from_utf8(line.to_vec()).ok().map(Zeroizing::new)),
            8 | 127 => drop(line.pop()),
            byte => line.push(byte),
        }
    }
}

async fn answer(terminal: &Terminal, text: &str) -> Option<String> {
    let wrapped =
        |columns: usize| text.lines().map(|line| wrap(line, columns, 2)).collect::<Vec<_>>().join("\n");
    let text = terminal.columns().map_or_else(|| text.to_owned(), wrapped);
    let text = terminal.paint(Tone::Strong, &text);
    let reading = tokio::task::spawn_blocking(move || read_line(&text));
    reading.await.ok().flatten()
}

fn read_line(text: &str) -> Option<String> {
    let mut err = std::io::stderr().lock();
    write!(err, "{text} ").and_then(|()| err.flush()).ok()?;
    drop(err);
    let mut line = String::new();
    if std::io::stdin().lock().read_line(&mut line).ok()? == 0 {
        // Ctrl-D leaves the cursor behind the question.
        let _ = writeln!(std::io::stderr());
    }
    Some(line.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proposal(id: &str, is_protected: bool) -> Proposal {
        let (stack, changes, differences) = (StackId::new(id), Vec::new(), Vec::new());
        let (outputs_changed, saved_at, details, note) = (0, None, None, None);
        Proposal {
            stack,
            changes,
            outputs_changed,
            saved_at,
            details,
            attributes: Vec::new(),
            differences,
            note,
            is_protected,
            is_foreign: false,
        }
    }

    #[test]
    fn a_question_names_the_protected_stacks() {
        let (one, other) = (proposal("a", true), proposal("b", true));

        assert_eq!(protected_words(&[proposal("a", false)]), "");
        assert_eq!(
            protected_words(&[one.clone(), proposal("c", false)]),
            "`a` is protected and loses resources. "
        );
        assert_eq!(protected_words(&[one, other]), "`a`, `b` are protected and lose resources. ");
    }

    #[test]
    fn a_question_names_what_is_destroyed_and_what_stays() {
        let remaining =
            RemainingStacks { higher: vec![StackId::new("02-b/x")], ..RemainingStacks::default() };
        let stacks = [proposal("02-b/y", false), proposal("01-a/z", false)];

        assert_eq!(destroy_words(&stacks, "lab"), "This destroys 2 stacks of `lab`: `02-b/y`, `01-a/z`.");
        assert_eq!(remaining_words(&remaining), "These stand on higher layers and stay: `02-b/x`.\n");
        assert_eq!(remaining_words(&RemainingStacks::default()), "");
    }

    #[test]
    fn a_question_names_the_plans_that_somebody_else_made() {
        let foreign = Proposal { is_foreign: true, ..proposal("a", false) };

        assert_eq!(foreign_words(&[proposal("a", false)]), "");
        assert_eq!(foreign_words(&[foreign]), "The plan of `a` was not made by you here. ");
    }
}
