//! Credentials that are looked for when they are first needed, and again before they end.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use object_store::CredentialProvider;
use object_store::aws::AwsCredential;
use tokio::time::Instant;
use zeroize::Zeroizing;

use super::profiles::Profiles;
use super::settings::AwsSettings;
use crate::error::{Error, Result};
use crate::model::Clock;
use crate::process::Interrupts;

/// Credentials are renewed so long before they end.
const MARGIN: i64 = 60;

/// How long a failed search is not repeated.
const NO_FOR: Duration = Duration::from_secs(10);

/// The credentials of a command, so that many stacks with the same settings ask once.
#[derive(Clone, Debug)]
pub struct AwsSources {
    clock: Clock,
    interrupts: Interrupts,
    known: Arc<Mutex<BTreeMap<String, AwsSource>>>,
}

/// Where the credentials for some settings come from; clones share what was found.
#[derive(Clone, Debug)]
pub struct AwsSource(Arc<Inner>);

pub(super) struct Inner {
    pub settings: AwsSettings,
    pub profiles: Profiles,
    pub clock: Clock,
    pub interrupts: Interrupts,
    found: tokio::sync::Mutex<Option<Kept>>,
    /// What must not be shown.
    secrets: Mutex<Vec<Zeroizing<String>>>,
}

/// What came of the last search.
struct Kept {
    result: Result<Arc<AwsCredential>>,
    until: Option<Instant>,
}

/// Credentials, and when they end.
pub(super) struct Found {
    pub credential: AwsCredential,
    pub ends: Option<Timestamp>,
}

impl AwsSources {
    /// Begins without any.
    pub fn new(clock: Clock, interrupts: Interrupts) -> Self {
        Self { clock, interrupts, known: Arc::default() }
    }

    /// Returns the source for some settings; nothing is asked yet.
    pub fn of(&self, settings: AwsSettings) -> AwsSource {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let source = known.entry(settings.fingerprint());
        source.or_insert_with(|| AwsSource::new(settings, self.clock, self.interrupts.clone())).clone()
    }

    /// Returns what was found and must not be shown.
    pub fn secrets(&self) -> Vec<Zeroizing<String>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.values().flat_map(AwsSource::secrets).collect()
    }
}

impl AwsSource {
    fn new(settings: AwsSettings, clock: Clock, interrupts: Interrupts) -> Self {
        let [config, credentials] = settings.files();
        Self(Arc::new(Inner {
            profiles: Profiles::load(&config, &credentials),
            settings,
            clock,
            interrupts,
            found: tokio::sync::Mutex::default(),
            secrets: Mutex::default(),
        }))
    }

    /// Returns the region that the settings or the profile name.
    pub fn region(&self) -> Option<String> {
        self.0.settings.region().map(str::to_owned).or_else(|| self.0.profile_region())
    }

    /// Returns where the environment or the profile says that a service is.
    pub(crate) fn endpoint(&self, service: &str) -> Option<&str> {
        self.0.endpoint(service)
    }

    /// Returns the file with certificates to trust.
    pub(crate) fn ca(&self) -> Option<PathBuf> {
        self.0.settings.ca()
    }

    /// Returns whether something names credentials, short of asking the machine.
    pub fn is_named(&self) -> bool {
        self.0.is_named()
    }

    /// Returns the credentials.
    pub async fn credential(&self) -> Result<Arc<AwsCredential>> {
        let mut found = self.0.found.lock().await;
        if let Some(kept) =
            found.as_ref().filter(|kept| kept.until.is_none_or(|until| Instant::now() < until))
        {
            return kept.result.clone();
        }
        let kept = match self.0.search().await {
            Ok(Found { credential, ends }) => {
                self.remember(&credential);
                let left = ends.map(|ends| ends.as_second() - self.0.clock.now().as_second() - MARGIN);
                let left = left.map(|left| Duration::from_secs(u64::try_from(left).unwrap_or_default()));
                Kept { result: Ok(Arc::new(credential)), until: left.map(|left| Instant::now() + left) }
            }
            Err(error) => Kept { result: Err(error), until: Some(Instant::now() + NO_FOR) },
        };
        let result = kept.result.clone();
        *found = Some(kept);
        result
    }

    fn remember(&self, credential: &AwsCredential) {
        let values = [Some(&credential.secret_key), credential.token.as_ref()];
        let mut secrets = self.0.secrets.lock().unwrap_or_else(PoisonError::into_inner);
        secrets.extend(values.into_iter().flatten().map(|value| Zeroizing::new(value.clone())));
    }

    fn secrets(&self) -> Vec<Zeroizing<String>> {
        self.0.secrets.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns a text of a server without what must not be shown: a refused signature is told with the
    /// token in it.
    pub fn masked(&self, text: &str) -> String {
        self.secrets().iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "(hidden)"))
    }
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AwsSource").finish_non_exhaustive()
    }
}

impl CredentialProvider for AwsSource {
    type Credential = AwsCredential;

    fn get_credential<'a, 'b>(
        &'a self,
    ) -> Pin<Box<dyn Future<Output = object_store::Result<Arc<AwsCredential>>> + Send + 'b>>
    where
        'a: 'b,
        Self: 'b,
    {
        Box::pin(async {
            let found = self.credential().await;
            found.map_err(|error| object_store::Error::Generic { store: "S3", source: Box::new(error) })
        })
    }
}

/// Returns the error of a search for credentials, if that is why a store failed.
pub(crate) fn refusal(error: &object_store::Error) -> Option<Error> {
    let mut below: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = below {
        if let Some(own) = error.downcast_ref::<Error>() {
            return Some(own.clone());
        }
        below = error.source();
    }
    None
}
