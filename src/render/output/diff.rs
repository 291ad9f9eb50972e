//! The difference of one file as text, for a person; of an encrypted file only that there is one.

use std::path::Path;

use similar::TextDiff;

use super::changes::FileChange;

/// Returns a unified diff of a change, each line with its end.
pub fn unified_diff(change: &FileChange) -> String {
    let (before, after) = (text(change.before.as_deref()), text(change.after.as_deref()));
    let path = change.path.display();
    let old = change.before.as_ref().map_or_else(|| "/dev/null".to_owned(), |_| format!("a/{path}"));
    let new = change.after.as_ref().map_or_else(|| "/dev/null".to_owned(), |_| format!("b/{path}"));
    if is_secret_file(&change.path) {
        return format!("--- {old}\n+++ {new}\n(encrypted: what changed is not shown)\n");
    }
    let (Some(before), Some(after)) = (before, after) else {
        return format!("--- {old}\n+++ {new}\n(not text: what changed is not shown)\n");
    };
    if before == after {
        return format!("--- {old}\n+++ {new}\n(mode {:o})\n", change.mode);
    }
    TextDiff::from_lines(before, after).unified_diff().context_radius(3).header(&old, &new).to_string()
}

/// Returns whether a file is encrypted before it is written: `*.sops.*`, but not `.sops.yaml` itself.
pub fn is_secret_file(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.find(".sops.").is_some_and(|at| at > 0)
}

/// Returns the text of a file; nothing is an empty text, and what is no text has none.
fn text(bytes: Option<&[u8]>) -> Option<&str> {
    std::str::from_utf8(bytes.unwrap_or_default()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &str, before: Option<&[u8]>, after: Option<&[u8]>) -> FileChange {
        let bytes = |bytes: Option<&[u8]>| bytes.map(<[u8]>::to_vec);
        FileChange { path: path.into(), before: bytes(before), after: bytes(after), mode: 0o644 }
    }

    #[test]
    fn a_change_is_shown_as_a_unified_diff() {
        let shown = unified_diff(&change("a.tf", Some(b"one\ntwo\n"), Some(b"one\nthree\n")));

        assert_eq!(shown, "--- a/a.tf\n+++ b/a.tf\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n");
    }

    #[test]
    fn what_is_encrypted_is_never_shown() {
        let shown = unified_diff(&change("x/secrets.sops.yaml", None, Some(b"token: hunter2\n")));

        assert!(!shown.contains("hunter2") && shown.contains("encrypted"), "{shown}");
        assert!(is_secret_file(Path::new("a.sops.tfvars")) && !is_secret_file(Path::new(".sops.yaml")));
    }

    #[test]
    fn bytes_and_modes_have_a_line_of_their_own() {
        assert!(unified_diff(&change("x.bin", Some(&[0xff]), None)).contains("not text"));
        assert!(unified_diff(&change("run.sh", Some(b"1"), Some(b"1"))).contains("mode 644"));
    }
}
