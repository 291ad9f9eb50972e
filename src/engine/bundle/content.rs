//! A bundle as bytes, before it is encrypted and after it was opened.
//!
//! Whoever knows the recipients can make one, so nothing in it is believed, and what is odd is refused.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::sources::Sources;
use crate::error::{Error, Result};
use crate::model::{RunReport, StackId};
use crate::tofu::PlanKey;

/// What a bundle begins with; another format would have another number.
const HEADING: &[u8] = b"infra-bundle-1\n";

/// The most bytes of one.
const LARGEST: u64 = 2 << 30;

/// What one run planned, for another to apply.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Bundle {
    /// The project's name, if `infra.yaml` gives it one.
    pub project: Option<String>,
    /// When it was made.
    pub made_at: Timestamp,
    /// The version of this program that made it.
    pub program: String,
    /// What its plans are encrypted with.
    pub(super) key: PlanKey,
    /// The report of the run that planned.
    pub report: RunReport,
    /// The plans of the stacks that will, or may, change.
    pub plans: Vec<BundledPlan>,
    /// Stacks that could not be planned yet, and why.
    pub deferred: BTreeMap<StackId, String>,
    /// Stacks in which there was nothing to do.
    pub unchanged: Vec<StackId>,
}

/// The plan of one stack.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BundledPlan {
    /// The stack.
    pub stack: StackId,
    /// The version of tofu.
    pub tofu: String,
    /// Which state it was made from, where that can be read without tofu.
    pub state: Option<String>,
    /// What it was made from.
    pub sources: Sources,
    /// Where the modules of the stack were fetched to.
    pub data_dir: String,
    /// The plan file, as text.
    pub plan: String,
}

impl BundledPlan {
    /// Makes one around a plan file, which is encrypted already.
    pub fn new(stack: StackId, sources: Sources, plan: &[u8]) -> Self {
        let (tofu, data_dir, plan) = (String::new(), String::new(), STANDARD.encode(plan));
        Self { stack, tofu, state: None, sources, data_dir, plan }
    }

    /// Returns the plan file.
    pub fn file(&self) -> Result<Vec<u8>> {
        STANDARD.decode(&self.plan).map_err(|error| damaged().because(error))
    }
}

impl Bundle {
    /// Makes one without plans.
    pub fn new(key: &PlanKey, report: RunReport, made_at: Timestamp) -> Self {
        Self {
            project: None,
            made_at,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            key: key.clone(),
            report,
            plans: Vec::new(),
            deferred: BTreeMap::new(),
            unchanged: Vec::new(),
        }
    }

    /// Returns it as bytes, which nobody but its recipients may read.
    pub fn to_bytes(&self) -> Result<Zeroizing<Vec<u8>>> {
        let json = Zeroizing::new(
            serde_json::to_vec(self)
                .map_err(|error| Error::bug("a bundle has no JSON form").because(error))?,
        );
        let mut packed = DeflateEncoder::new(HEADING.to_vec(), Compression::fast());
        let written = packed.write_all(&json).and_then(|()| packed.finish());
        written.map(Zeroizing::new).map_err(|error| Error::bug("a bundle cannot be packed").because(error))
    }

    /// Reads what was opened.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let packed = bytes.strip_prefix(HEADING).ok_or_else(|| {
            Error::failed("it is no bundle, or one of another version of infra")
                .hint("make it with the infra that applies it")
        })?;
        let mut json = Zeroizing::new(Vec::new());
        let read = DeflateDecoder::new(packed).take(LARGEST).read_to_end(&mut json);
        read.map_err(|error| damaged().because(error))?;
        // The words of the parser could repeat what stands there.
        serde_json::from_slice(&json).map_err(|_| damaged())
    }
}

fn damaged() -> Error {
    Error::failed("the bundle is damaged")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::bundle::sources::SourcesBuilder;
    use crate::model::RunCommand;

    fn bundle() -> (PlanKey, Bundle) {
        let key = PlanKey::fresh().expect("a key");
        let report = RunReport {
            run_id: "1".to_owned(),
            command: RunCommand::Plan,
            started: Timestamp::UNIX_EPOCH,
            duration_s: 1.0,
            exit_code: 0,
            stacks: Vec::new(),
        };
        let sources = SourcesBuilder::new(&key, b"").build();
        let plan = BundledPlan::new(StackId::new("01-a/x"), sources, b"plan");
        let plans = vec![plan];
        let bundle = Bundle { plans, ..Bundle::new(&key, report, Timestamp::UNIX_EPOCH) };
        (key, bundle)
    }

    #[test]
    fn what_is_packed_is_read_again() {
        let (key, bundle) = bundle();

        let read = Bundle::from_bytes(&bundle.to_bytes().expect("bytes")).expect("a bundle");

        assert_eq!(read.plans[0].file().expect("the plan"), b"plan");
        assert_eq!(read.key.bytes(), key.bytes());
    }

    #[test]
    fn what_is_cut_or_changed_is_refused_and_never_a_panic() {
        let bytes = bundle().1.to_bytes().expect("bytes");

        assert!(Bundle::from_bytes(b"").is_err() && Bundle::from_bytes(HEADING).is_err());
        for end in 0..bytes.len() - 1 {
            assert!(Bundle::from_bytes(&bytes[..end]).is_err(), "{end}");
        }
        for at in 0..bytes.len() {
            let mut odd = bytes.to_vec();
            odd[at] ^= 0x20;
            let _ = Bundle::from_bytes(&odd);
        }
    }
}
