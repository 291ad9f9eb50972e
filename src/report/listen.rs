//! Feeds every event to every report, and every question to the person.

use tokio::sync::oneshot;

use super::screen::{Asking, ask};
use crate::events::{Answer, Message, Messages, NumberedEvent, Question};

/// Something that consumes events.
pub trait Report {
    /// Takes note of an event.
    fn event(&mut self, event: &NumberedEvent);

    /// Shows what a question is about and makes room for it.
    fn question(&mut self, _question: &Question) {}
}

/// Listens until the engine has nothing more to say.
pub async fn listen(mut messages: Messages, mut reports: Vec<Box<dyn Report>>, asking: Asking) {
    while let Some(message) = messages.recv().await {
        match message {
            Message::Event(event) => reports.iter_mut().for_each(|report| report.event(&event)),
            Message::Ask(question, reply) => {
                reports.iter_mut().for_each(|report| report.question(&question));
                answer(asking, &question, reply).await;
            }
        }
    }
}

/// Answers a question; the engine may stop waiting, for instance because of Ctrl-C.
async fn answer(asking: Asking, question: &Question, mut reply: oneshot::Sender<Answer>) {
    let Asking::Person(terminal) = asking else {
        let _ = reply.send(Answer::No);
        return;
    };
    let answer = tokio::select! {
        answer = ask(&terminal, question) => answer,
        () = reply.closed() => {
            // The cursor stands behind the question, or behind the terminal's own `^C`.
            terminal.alert("");
            return;
        }
    };
    let _ = reply.send(answer);
}
