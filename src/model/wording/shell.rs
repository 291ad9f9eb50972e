//! Words as a shell takes them, for commands that people paste.

/// Quotes a name for a shell where it needs it.
pub fn quoted(name: &str) -> String {
    let plain = |char: char| char.is_alphanumeric() || "-_./~=:,@+".contains(char);
    let is_plain = !name.is_empty() && !name.starts_with('=') && name.chars().all(plain);
    if is_plain { name.to_owned() } else { format!("'{}'", name.replace('\'', "'\\''")) }
}
