//! What a person sees when this program itself is wrong: one clear text, no backtrace.

use std::io::Write;
use std::panic::PanicHookInfo;

/// Replaces the message of a panic by one for users.
pub fn install_panic_hook() {
    std::panic::set_hook(Box::new(|panic| {
        // stderr may be closed; there is nobody left to tell.
        let _ = std::io::stderr().lock().write_all(message(panic).as_bytes());
    }));
}

fn message(panic: &PanicHookInfo<'_>) -> String {
    let place =
        panic.location().map(|place| format!(" ({}:{})", place.file(), place.line())).unwrap_or_default();
    let what = panic.payload_as_str().unwrap_or("no message");
    format!(
        "error: this is a bug in infra\n  {what}{place}\n\
         hint: run it again with `INFRA_LOG=debug` and report what it says; nothing of yours is to blame\n"
    )
}
