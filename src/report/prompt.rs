//! Questions to the person at the keyboard.
//!
//! Asked only where there is one; whoever asks has checked that. Reading happens on a
//! thread of its own, so that Ctrl-C is still heard.

use std::io::{BufRead, Write};

use super::terminal::{Terminal, Tone};
use crate::events::Question;

/// Puts a question of the engine.
pub(super) async fn ask(terminal: &Terminal, question: &Question) -> bool {
    match question {
        Question::Apply { stacks } => {
            let what = if *stacks == 1 {
                "these changes".to_owned()
            } else {
                format!("these changes to {stacks} stacks")
            };
            confirm(terminal, &format!("Apply {what}?")).await
        }
        Question::Destroy { stacks, project } => {
            let what = if *stacks == 1 { "one stack".to_owned() } else { format!("{stacks} stacks") };
            let text = format!("This destroys {what} of `{project}`. Type the project's name to go on:");
            answer(terminal, &text).await.as_deref() == Some(project)
        }
    }
}

/// Asks for a yes; anything else is a no.
pub async fn confirm(terminal: &Terminal, question: &str) -> bool {
    let answer = answer(terminal, &format!("{question} [y/N]")).await;
    matches!(answer.as_deref(), Some("y" | "Y" | "yes" | "Yes" | "YES"))
}

async fn answer(terminal: &Terminal, text: &str) -> Option<String> {
    let text = terminal.paint(Tone::Strong, text);
    let reading = tokio::task::spawn_blocking(move || read_line(&text));
    reading.await.ok().flatten()
}

fn read_line(text: &str) -> Option<String> {
    let mut err = std::io::stderr().lock();
    write!(err, "{text} ").and_then(|()| err.flush()).ok()?;
    drop(err);
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).ok()?;
    Some(line.trim().to_owned())
}
