//! What the redactor promises, case by case and as properties.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use proptest::prelude::*;

use super::*;

fn redactor<V: AsRef<[u8]>>(values: impl IntoIterator<Item = V>) -> Redactor {
    Redactor::new(values).expect("a small automaton")
}

fn streamed(redactor: &Redactor, pieces: &[&[u8]]) -> String {
    let mut stream = redactor.stream();
    let mut shown: Vec<u8> = pieces.iter().flat_map(|piece| stream.push(piece).into_owned()).collect();
    shown.extend(stream.finish());
    String::from_utf8(shown).expect("text")
}

#[test]
fn a_secret_is_masked_wherever_it_stands() {
    let redactor = redactor(["hunter22"]);

    assert_eq!(redactor.line("hunter22"), "(redacted)");
    assert_eq!(redactor.line("ähunter22ö hunter22!"), "ä(redacted)ö (redacted)!");
    assert!(matches!(redactor.line("hunter2"), Cow::Borrowed("hunter2")));
}

#[test]
fn secrets_that_overlap_contain_each_other_or_touch_leave_nothing() {
    let redactor = redactor(["abcdef", "defghi", "bcde", "mnop"]);

    assert_eq!(redactor.line("1abcdefghi2"), "1(redacted)2");
    assert_eq!(redactor.line("1abcde2"), "1a(redacted)2");
    assert_eq!(redactor.line("1abcdefmnop2mnop"), "1(redacted)2(redacted)");
    assert_eq!(redactor.line("1abcdeabcdef"), "1a(redacted)");
}

#[test]
fn a_value_is_masked_however_it_is_escaped() {
    let secret = "p\"a\\s <&é>\t${x}%";
    let redactor = redactor([secret]);
    let json = serde_json::to_string(secret).expect("JSON");
    let forms = [
        json.trim_matches('"').to_owned(),
        serde_json::to_string(&json).expect("JSON"),
        r#"p\"a\\s \u003c\u0026é\u003e\t${x}%"#.to_owned(),
        r#"p\"a\\s <&é>\t$${x}%"#.to_owned(),
        r#"p\\\"a\\\\s \u003c\u0026é\u003e\\t$${x}%"#.to_owned(),
        "p\"a\\s <&é>\t$${x}%".to_owned(),
        "p%22a%5Cs%20%3C%26%C3%A9%3E%09%24%7Bx%7D%25".to_owned(),
        "p%22a%5cs+%3c%26%c3%a9%3e%09%24%7bx%7d%25".to_owned(),
        STANDARD.encode(secret),
        URL_SAFE_NO_PAD.encode(secret),
        STANDARD.encode(format!("user:{json}")),
    ];

    for form in forms {
        let shown = redactor.line(&form).into_owned();
        let left = shown.replace(MASK, "");
        assert!(shown.contains(MASK) && left.len() <= 10 && !left.contains('s'), "{form} gives {shown}");
    }
}

#[test]
fn each_line_of_a_secret_is_masked_and_short_lines_with_their_neighbours() {
    let redactor = redactor(["-----BEGIN KEY-----\nMIIBVQ+x/\n  indented\nab\n"]);

    assert_eq!(redactor.line("    MIIBVQ+x/"), "    (redacted)");
    assert_eq!(redactor.line("indented | -----BEGIN KEY-----"), "(redacted) | (redacted)");
    assert_eq!(redactor.line("x -----BEGIN KEY-----\\nMIIBVQ+x/\\n  indented\\nab\\n y"), "x (redacted) y");
    assert_eq!(
        streamed(&redactor, &[b"-----BEGIN KEY-----\nMII", b"BVQ+x/\n  indented\na", b"b\n."]),
        "(redacted)."
    );
}

#[test]
fn short_values_are_left_alone() {
    let redactor = redactor(["abc", "", "   \n", "äöü", " ab "]);

    assert!(redactor.is_empty());
    assert!(matches!(redactor.line("abc äöü"), Cow::Borrowed(_)));
    assert!(matches!(redactor.stream().push(b"abc"), Cow::Borrowed(b"abc")));
}

#[test]
fn four_characters_are_enough_whatever_their_bytes() {
    assert_eq!(redactor(["äöüß"]).line("xäöüßx"), "x(redacted)x");
}

#[test]
fn bytes_that_are_no_text_are_masked_raw_and_as_a_line_shows_them() {
    let redactor = redactor([b"\xffbin\xfeary"]);

    let mut stream = redactor.stream();
    let raw = [stream.push(b"x\xffbin\xfeary").into_owned(), stream.finish()].concat();

    assert_eq!(raw, b"x(redacted)");
    assert_eq!(redactor.line("x\u{fffd}bin\u{fffd}ary"), "x(redacted)");
}

#[test]
fn loose_bytes_inside_characters_take_the_characters_along() {
    // These are the last byte of one character and all but the last of another.
    let redactor = redactor([b"\xa9abc\xf0\x9f\x94"]);

    assert_eq!(redactor.line("ééabc🔐x"), "é(redacted)x");
}

#[test]
fn a_stream_holds_back_only_what_may_become_a_secret() {
    let redactor = redactor(["hunter22"]);
    let mut stream = redactor.stream();

    assert_eq!(&*stream.push(b"a whole line.\n"), b"a whole line.\n");
    assert_eq!(&*stream.push(b"it is hunt"), b"it is ");
    assert_eq!(&*stream.push(b"ing season\n"), b"hunting season\n");
    assert_eq!(&*stream.push(b"it is hunter"), b"it is ");
    assert_eq!(&*stream.push(b"22\n"), b"(redacted)\n");
    assert_eq!(stream.finish(), b"");
}

#[test]
fn a_debug_form_shows_only_the_count() {
    let redactor = redactor(["hunter22", "swordfish", "abc"]);

    assert_eq!(format!("{redactor:?} {:?}", redactor.stream()), "Redactor(2 values) Stream { .. }");
}

/// Values of few letters, so that they overlap often; none of the letters is in the mask.
fn value() -> impl Strategy<Value = String> {
    "[xyz\"\\\\ \\n]{0,3}[xy]{2,4}[xyz<$\\n]{2,6}"
}

fn values() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(value(), 1..5)
}

/// Text that is made of whole values, parts of them and noise.
fn text_of(values: &[String], picks: &[(u8, usize, usize)]) -> String {
    let piece = |(kind, pick, cut): &(u8, usize, usize)| {
        let value = &values[pick % values.len()];
        match kind % 5 {
            0 => value.clone(),
            1 => value.chars().skip(cut % value.len()).collect(),
            2 => value.chars().take(cut % value.len()).collect(),
            3 => serde_json::to_string(value).expect("JSON"),
            _ => "xyzzy\n 42".chars().take(cut % 10).collect(),
        }
    };
    picks.iter().map(piece).collect()
}

fn cut_at<'a>(text: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
    places.extend([0, text.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &text[pair[0]..pair[1]]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn no_secret_survives_however_the_text_is_cut(
        values in values(),
        picks in prop::collection::vec((any::<u8>(), any::<usize>(), any::<usize>()), 0..12),
        cuts in prop::collection::vec(any::<usize>(), 0..10),
    ) {
        let redactor = redactor(&values);
        let text = text_of(&values, &picks);

        let shown = streamed(&redactor, &cut_at(text.as_bytes(), &cuts));

        for value in &values {
            let lines = value.lines().map(str::trim).filter(|line| line.chars().count() >= SHORTEST);
            for secret in lines.chain([value.trim()]) {
                prop_assert!(secret.len() < SHORTEST || !shown.contains(secret), "{secret:?} in {shown:?}");
            }
        }
        prop_assert_eq!(&shown, &*redactor.line(&text));
    }

    #[test]
    fn every_character_of_base64_that_holds_a_bit_of_a_secret_is_masked(
        secret in "[a-z0-9!?]{6,20}",
        before in "[A-Z]{0,7}",
        after in "[A-Z]{0,7}",
        cuts in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        let redactor = redactor([&secret]);
        let text = STANDARD.encode(format!("{before}{secret}{after}"));
        let (first, last) = (before.len() * 8 / 6, ((before.len() + secret.len()) * 8).div_ceil(6));

        let shown = streamed(&redactor, &cut_at(text.as_bytes(), &cuts));

        let expected = format!("{}{MASK}{}", &text[..first], &text[last..]);
        prop_assert_eq!(shown.trim_end_matches('='), expected.trim_end_matches('='));
    }

    #[test]
    fn any_bytes_can_be_masked_and_nothing_around_them_is_lost(
        secret in prop::collection::vec(0xf8..=0xff_u8, 4..12),
        before in prop::collection::vec(0..32_u8, 0..40),
        after in prop::collection::vec(0..32_u8, 0..40),
        cuts in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        let mut stream = redactor([&secret]).stream();
        let text = [&before[..], &secret, &after].concat();

        let mut shown = Vec::new();
        for piece in cut_at(&text, &cuts) {
            shown.extend_from_slice(&stream.push(piece));
        }
        shown.extend(stream.finish());

        prop_assert_eq!(shown, [&before[..], MASK.as_bytes(), &after].concat());
    }
}
