//! Characters that make a text look like another one, or move the cursor of a terminal.

/// Returns whether a character changes the direction in which its neighbours are shown.
pub const fn turns_text(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns whether a character has no width and is therefore invisible.
pub const fn is_zero_width(character: char) -> bool {
    matches!(character, '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}')
}

/// Returns a text that somebody else wrote as one line without control characters.
pub fn in_plain_sight(text: &str) -> String {
    let seen = |character: char| match character {
        character if character.is_control() || turns_text(character) => '\u{fffd}',
        character => character,
    };
    text.chars().map(seen).collect()
}
