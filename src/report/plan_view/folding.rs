//! The changes of several stacks, folded to what fits a screen.
//!
//! What is destroyed or replaced is always there, with what forces it. Then come the other
//! resources, then attributes: first of all stacks a few, then more. What is left out is counted.
//! Pure. Begin at [`fold`].

use super::attribute_lines::ShownChange;

/// How many attributes of a resource are shown, from the most to the least.
const CAPS: [usize; 7] = [usize::MAX, 60, 30, 16, 10, 6, 3];

/// The changes of one stack.
#[derive(Clone, Debug, Default)]
pub struct StackChanges {
    pub heading: Vec<String>,
    pub entries: Vec<ShownChange>,
}

/// The lines of stacks, in their order.
#[derive(Debug)]
pub struct FoldedLines {
    pub stacks: Vec<Vec<String>>,
    /// The first stack of which something is left out.
    pub first_folded: Option<usize>,
}

/// What is shown of one change.
#[derive(Clone, Copy, Debug, Default)]
struct ChangeLines {
    head: bool,
    /// How many lines of the attributes.
    body: usize,
}

/// Returns the lines that have room.
pub fn fold(stacks: &[StackChanges], room: usize) -> FoldedLines {
    let shown = choose(stacks, room);
    let is_folded = |(stack, shown): (&StackChanges, &Vec<ChangeLines>)| {
        stack.entries.iter().zip(shown).any(|(entry, shown)| !shown.head || shown.body < entry.body.len())
    };
    let first_folded = stacks.iter().zip(&shown).position(is_folded);
    let stacks = stacks.iter().zip(&shown).map(|(stack, shown)| lines_of(stack, shown)).collect();
    FoldedLines { stacks, first_folded }
}

fn choose(stacks: &[StackChanges], room: usize) -> Vec<Vec<ChangeLines>> {
    let entries = || stacks.iter().flat_map(|stack| &stack.entries);
    let headings: usize = stacks.iter().map(|stack| stack.heading.len()).sum();
    let heads: usize = entries().map(head_height).sum();
    let bodies = |cap: usize| entries().map(|entry| height(entry, cap)).sum::<usize>();
    let fits = |cap: &usize| headings + heads + bodies(*cap) <= room;
    let capped = |cap: usize| -> Vec<Vec<ChangeLines>> {
        let shown = |entry: &ShownChange| ChangeLines { head: true, body: kept(entry, cap) };
        stacks.iter().map(|stack| stack.entries.iter().map(shown).collect()).collect()
    };
    match CAPS.into_iter().find(|cap| fits(cap)) {
        Some(cap) => capped(cap),
        None if headings + heads <= room => with_some_bodies(stacks, room - headings - heads),
        None => with_some_heads(stacks, room.saturating_sub(headings)),
    }
}

/// Returns how many lines of the attributes are kept; one that is left out is told by a line as well.
fn kept(entry: &ShownChange, cap: usize) -> usize {
    if entry.body.len() <= cap { entry.body.len() } else { cap - 1 }
}

fn height(entry: &ShownChange, cap: usize) -> usize {
    entry.body.len().min(cap)
}

/// Shows all resources, and the attributes of those that are worth it most.
fn with_some_bodies(stacks: &[StackChanges], mut left: usize) -> Vec<Vec<ChangeLines>> {
    let least = CAPS[CAPS.len() - 1];
    let head_only = |stack: &StackChanges| vec![ChangeLines { head: true, body: 0 }; stack.entries.len()];
    let mut shown: Vec<Vec<ChangeLines>> = stacks.iter().map(head_only).collect();
    let places = stacks.iter().enumerate().flat_map(|(at, stack)| {
        stack.entries.iter().enumerate().map(move |(entry_at, entry)| (entry.rank, at, entry_at))
    });
    let mut places: Vec<(u8, usize, usize)> = places.collect();
    places.sort_unstable();
    for (_, at, entry_at) in places {
        let entry = &stacks[at].entries[entry_at];
        let height = height(entry, least);
        if height <= left {
            shown[at][entry_at].body = kept(entry, least);
            left -= height;
        }
    }
    shown
}

/// Shows what is grave, and of each stack as many others as of the next.
fn with_some_heads(stacks: &[StackChanges], room: usize) -> Vec<Vec<ChangeLines>> {
    let grave = |stack: &StackChanges| -> Vec<ChangeLines> {
        stack.entries.iter().map(|entry| ChangeLines { head: entry.loses_something, body: 0 }).collect()
    };
    let mut shown: Vec<Vec<ChangeLines>> = stacks.iter().map(grave).collect();
    let entries = stacks.iter().flat_map(|stack| &stack.entries);
    let needed: usize = entries.filter(|entry| entry.loses_something).map(head_height).sum();
    // Each stack has a line that counts the rest.
    let mut left = room.saturating_sub(needed + stacks.len());
    loop {
        let before = left;
        for (stack, shown) in stacks.iter().zip(&mut shown) {
            let Some(next) = shown.iter().position(|one| !one.head) else { continue };
            let height = head_height(&stack.entries[next]);
            if height <= left {
                (shown[next].head, left) = (true, left - height);
            }
        }
        if left == before {
            break;
        }
    }
    stacks.iter().zip(&mut shown).for_each(|(stack, shown)| show_last(stack, shown));
    shown
}

/// Shows the only one that is left out, where the line that counts it is as high.
fn show_last(stack: &StackChanges, shown: &mut [ChangeLines]) {
    let mut left_out = shown.iter_mut().zip(&stack.entries).filter(|(shown, _)| !shown.head);
    if let (Some((last, entry)), None) = (left_out.next(), left_out.next()) {
        last.head = head_height(entry) <= 1;
    }
}

fn head_height(entry: &ShownChange) -> usize {
    entry.head.len() + entry.causes.len()
}

fn lines_of(stack: &StackChanges, shown: &[ChangeLines]) -> Vec<String> {
    let mut lines = stack.heading.clone();
    for (entry, shown) in stack.entries.iter().zip(shown).filter(|(_, shown)| shown.head) {
        lines.extend(entry.head.iter().chain(&entry.causes).cloned());
        lines.extend(entry.body.iter().take(shown.body).cloned());
        let left_out = entry.body.len() - shown.body;
        if left_out > 0 && shown.body > 0 {
            lines.push(format!("      … and {left_out} more lines"));
        }
    }
    let left_out = shown.iter().filter(|one| !one.head).count();
    if left_out > 0 {
        lines.push(format!("    … and {left_out} more"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, loses_something: bool, body: usize) -> ShownChange {
        let causes = if loses_something { vec![format!("why {name}")] } else { Vec::new() };
        let body = (0..body).map(|number| format!("{name}.{number}")).collect();
        ShownChange {
            head: vec![name.to_owned()],
            causes,
            body,
            loses_something,
            rank: u8::from(!loses_something),
        }
    }

    fn stack(name: &str, entries: Vec<ShownChange>) -> StackChanges {
        StackChanges { heading: vec![name.to_owned()], entries }
    }

    fn folded(stacks: &[StackChanges], room: usize) -> Vec<String> {
        fold(stacks, room).stacks.concat()
    }

    #[test]
    fn what_fits_is_shown_whole() {
        let stacks = [stack("x", vec![entry("a", false, 2)]), stack("y", vec![entry("b", true, 1)])];

        assert_eq!(folded(&stacks, 8), ["x", "a", "a.0", "a.1", "y", "b", "why b", "b.0"]);
        assert_eq!(fold(&stacks, 8).first_folded, None);
    }

    #[test]
    fn long_resources_are_cut_before_others_go() {
        let stacks = [stack("x", vec![entry("a", false, 100)]), stack("y", vec![entry("b", false, 2)])];

        let lines = folded(&stacks, 16);

        assert!(lines.len() <= 16 && lines.contains(&"b.1".to_owned()), "{lines:?}");
        assert!(lines.contains(&"      … and 91 more lines".to_owned()), "{lines:?}");
    }

    #[test]
    fn what_is_destroyed_or_replaced_is_there_however_little_room_there_is() {
        let entries = || (0..50).map(|number| entry(&format!("r{number}"), number % 10 == 9, 9)).collect();
        let stacks = [stack("x", entries()), stack("y", entries())];

        for room in [0, 1, 20, 60, 150] {
            let lines = folded(&stacks, room);

            assert_eq!(lines.iter().filter(|line| line.starts_with("why ")).count(), 10, "{room}");
            assert!(lines.len() <= room.max(24), "{room}: {}", lines.len());
        }
        assert!(folded(&stacks, 60).contains(&"    … and 27 more".to_owned()), "{:#?}", folded(&stacks, 60));
    }
}
