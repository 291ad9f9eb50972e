//! Bundles that were cut or changed on the way: refused whole, never a panic, nothing half applied.

use rand::{Rng as _, SeedableRng as _};
use serde_json::json;

use crate::forging::{forge, seal, seal_bytes};
use crate::jobs::{Repository, STACK};

fn repository() -> (Repository, Vec<u8>) {
    let repository = Repository::new().stack("01-a/x", STACK).stack("02-b/y", STACK).committed();
    repository.plan("--all --bundle ../plan.bundle").succeeds();
    let bytes = std::fs::read(repository.beside("plan.bundle")).unwrap();
    (repository, bytes)
}

#[test]
fn a_bundle_with_a_changed_bit_or_a_missing_end_is_refused() {
    let (repository, good) = repository();
    let (checkout, bundle) = (repository.clone_as("apply"), repository.beside("plan.bundle"));
    let seed: u64 = rand::random();
    let mut random = rand::rngs::StdRng::seed_from_u64(seed);
    let header = good.windows(3).position(|part| part == b"---").unwrap();

    for round in 0..24 {
        let mut bytes = good.clone();
        let at =
            if round % 2 == 0 { random.gen_range(0..header + 60) } else { random.gen_range(0..good.len()) };
        match round % 3 {
            0 => bytes.truncate(at),
            _ => bytes[at] ^= 1 << random.gen_range(0..8),
        }
        std::fs::write(&bundle, &bytes).unwrap();
        let refused = repository.apply_in(&checkout, "--bundle ../plan.bundle --yes");
        assert!(
            [Some(1), Some(77)].contains(&refused.code),
            "seed {seed}, round {round}, byte {at}\n{refused}"
        );
        assert!(
            refused.stderr.contains("../plan.bundle") && refused.stderr.contains("damaged"),
            "seed {seed}\n{refused}"
        );
    }
    assert_eq!((repository.output("x"), repository.output("y")), (String::new(), String::new()));

    std::fs::write(&bundle, &good).unwrap();
    repository.apply_in(&checkout, "--bundle ../plan.bundle").succeeds();
}

#[test]
fn a_bundle_that_opens_and_holds_nonsense_is_refused() {
    let (repository, good) = repository();
    let (checkout, bundle) = (repository.clone_as("apply"), repository.beside("plan.bundle"));
    let refused = || {
        let refused = repository.apply_in(&checkout, "--bundle ../plan.bundle --yes").exits(1);
        assert!(refused.stderr.contains("bundle"), "{refused}");
    };

    for bytes in [&b""[..], b"infra-bundle-1\n", b"infra-bundle-9\n", &[0xff; 100]] {
        seal_bytes(&repository, &bundle, bytes);
        refused();
    }
    for content in [json!(null), json!([]), json!({"plans": 1})] {
        seal(&repository, &bundle, &content);
        refused();
    }
    for (at, value) in [
        ("/key", json!("short")),
        ("/plans/1/plan", json!("????")),
        ("/plans/1/plan", json!("")),
        ("/plans/1/plan", json!("UEsDBAAAAAA=")),
        ("/plans/1/sources", json!({})),
        ("/plans/1/state", json!(3)),
        ("/report", json!({})),
    ] {
        std::fs::write(&bundle, &good).unwrap();
        forge(&repository, &bundle, |content| *content.pointer_mut(at).unwrap() = value.clone());
        refused();
    }
    assert_eq!((repository.output("x"), repository.output("y")), (String::new(), String::new()));
}
