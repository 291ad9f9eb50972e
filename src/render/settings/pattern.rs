//! Patterns as Python's `Path.match` has them: part by part, from the right.

/// Returns whether the last parts of a path match the parts of a pattern.
pub fn matches_from_right(pattern: &str, path: &str) -> bool {
    let wanted: Vec<&str> = parts(pattern).collect();
    let found: Vec<&str> = parts(path).collect();
    if wanted.is_empty() || wanted.len() > found.len() || pattern.starts_with('/') {
        return false;
    }
    wanted.iter().rev().zip(found.iter().rev()).all(|(wanted, found)| matches_part(wanted, found))
}

/// Returns whether a whole path matches a pattern whose `**` stands for any number of folders.
pub fn matches_glob(pattern: &str, path: &str) -> bool {
    let wanted: Vec<&str> = parts(pattern).collect();
    let found: Vec<&str> = parts(path).collect();
    matches_parts(&wanted, &found)
}

fn matches_parts(wanted: &[&str], found: &[&str]) -> bool {
    match (wanted.split_first(), found.split_first()) {
        (None, _) => found.is_empty(),
        (Some((&"**", rest)), _) => (0..=found.len()).any(|skipped| matches_parts(rest, &found[skipped..])),
        (Some((first, rest)), Some((name, left))) => matches_part(first, name) && matches_parts(rest, left),
        (Some(_), None) => false,
    }
}

fn parts(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

/// Returns whether a name matches `*`, `?`, `[a-z]` and `[!a-z]`; large and small letters differ.
pub fn matches_part(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut at, mut place) = (0, 0);
    // Where to go on should a `*` have taken too little.
    let mut star: Option<(usize, usize)> = None;
    while place < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, place));
                at += 1;
                continue;
            }
            Some(_) => {
                if let Some(next) = matches_char(&pattern[at..], name[place]) {
                    at += next;
                    place += 1;
                    continue;
                }
            }
            None => {}
        }
        let Some((back, taken)) = star else { return false };
        star = Some((back, taken + 1));
        (at, place) = (back + 1, taken + 1);
    }
    pattern[at..].iter().all(|char| *char == '*')
}

/// Returns how long the pattern's first piece is, where it matches a character.
fn matches_char(pattern: &[char], char: char) -> Option<usize> {
    match pattern.first()? {
        '?' => Some(1),
        '[' => match set(pattern) {
            Some((members, len)) => in_set(members, char).then_some(len),
            None => (char == '[').then_some(1),
        },
        plain => (*plain == char).then_some(1),
    }
}

/// Returns what stands between brackets, and the length with them; a first `]` belongs to the set.
fn set(pattern: &[char]) -> Option<(&[char], usize)> {
    let negated = usize::from(pattern.get(1) == Some(&'!'));
    let from = 2 + negated;
    let end = (from..pattern.len()).find(|at| pattern[*at] == ']')?;
    Some((&pattern[1..end], end + 1))
}

fn in_set(members: &[char], char: char) -> bool {
    let (negated, members) = match members.split_first() {
        Some(('!', rest)) => (true, rest),
        _ => (false, members),
    };
    let mut at = 0;
    let mut found = false;
    while at < members.len() {
        if let (Some('-'), Some(last)) = (members.get(at + 1), members.get(at + 2)) {
            found |= (members[at]..=*last).contains(&char);
            at += 3;
        } else {
            found |= members[at] == char;
            at += 1;
        }
    }
    found != negated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_from_the_right_part_by_part() {
        let path = "templates/config/talos/a.partial.yaml.j2";

        assert!(matches_from_right("*.partial.yaml.j2", path));
        assert!(matches_from_right("talos/*.j2", path));
        assert!(matches_from_right("**/a.*", path));
        assert!(!matches_from_right("config/*.j2", path));
        assert!(!matches_from_right("*.partial", path));
    }

    #[test]
    fn sets_and_single_characters_match_as_in_fnmatch() {
        assert!(matches_part("a[0-9]?.[!x]", "a7b.y"));
        assert!(!matches_part("a[0-9]?.[!x]", "a7b.x"));
        assert!(matches_part("[]]x[", "]x["));
        assert!(!matches_part("A*", "abc"));
    }
}
