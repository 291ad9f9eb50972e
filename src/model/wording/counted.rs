//! A number with its noun, one or more.

/// Returns `1 stack`, `2 stacks`.
pub fn counted(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}
