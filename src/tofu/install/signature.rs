//! Decides whether a detached PGP signature over a release's digests counts.
//!
//! One key is trusted, and it is embedded: no key server, no key ring, no variable can
//! add another. A signature counts when the key itself made it, or a signing subkey that
//! the key vouches for and that had not expired; never over MD5, SHA-1 or RIPEMD.

use pgp::composed::{Deserializable, DetachedSignature, SignedPublicKey, SignedPublicSubKey};
use pgp::crypto::hash::HashAlgorithm;
use pgp::packet::{Signature, SignatureType};
use pgp::types::{KeyDetails, Timestamp};

use crate::error::{Error, Result};

/// A public key whose signatures count.
#[derive(Debug)]
pub(super) struct TrustedKey(SignedPublicKey);

impl TrustedKey {
    /// Reads an armored public key.
    pub(super) fn from_armor(text: &str) -> Result<Self> {
        let unreadable = |error| Error::bug("the trusted release key cannot be read").because(error);
        let (key, _) = SignedPublicKey::from_string(text).map_err(unreadable)?;
        Ok(Self(key))
    }

    /// Returns the fingerprint in hex.
    pub(super) fn fingerprint(&self) -> String {
        format!("{:X}", self.0.fingerprint())
    }

    /// Checks that one of the signatures was made by this key over exactly these bytes.
    pub(super) fn verify(&self, signature: &[u8], data: &[u8]) -> Result<()> {
        let signatures = DetachedSignature::from_bytes_many(signature).map_err(malformed)?;
        let signatures = signatures.collect::<pgp::errors::Result<Vec<_>>>().map_err(malformed)?;
        let checked = signatures.iter().map(|one| self.check(&one.signature, data));
        checked.reduce(Result::or).unwrap_or_else(|| Err(Error::unavailable("the signature file is empty")))
    }

    fn check(&self, signature: &Signature, data: &[u8]) -> Result<()> {
        check_form(signature)?;
        let made = signature
            .created()
            .ok_or_else(|| Error::unavailable("the signature does not say when it was made"))?;
        let revoked = !self.0.details.revocation_signatures.is_empty();
        if !revoked && signature.verify(&self.0.primary_key, data).is_ok() {
            return Ok(());
        }
        let subkeys =
            self.0.public_subkeys.iter().filter(|subkey| !revoked && self.vouches_for(subkey, made));
        if subkeys.into_iter().any(|subkey| signature.verify(&subkey.key, data).is_ok()) {
            return Ok(());
        }
        Err(self.refuse(signature))
    }

    /// Returns whether a subkey may sign and had not expired when the signature was made.
    fn vouches_for(&self, subkey: &SignedPublicSubKey, made: Timestamp) -> bool {
        let bound = |one: &Signature| one.typ() == Some(SignatureType::SubkeyBinding) && is_strong(one);
        let newest = subkey.signatures.iter().filter(|one| bound(one)).max_by_key(|one| one.created());
        let revoked = subkey.signatures.iter().any(|one| one.typ() == Some(SignatureType::SubkeyRevocation));
        newest.is_some_and(|binding| {
            let life = binding.key_expiration_time().map_or(u64::MAX, |life| u64::from(life.as_secs()));
            let end = u64::from(subkey.key.created_at().as_secs()).saturating_add(life);
            !revoked
                && binding.key_flags().sign()
                && u64::from(made.as_secs()) < end
                && self.binds(binding, subkey)
        })
    }

    /// Returns whether key and subkey signed each other.
    fn binds(&self, binding: &Signature, subkey: &SignedPublicSubKey) -> bool {
        let forth = binding.verify_subkey_binding(&self.0.primary_key, &subkey.key);
        let back = |one: &Signature| one.verify_primary_key_binding(&subkey.key, &self.0.primary_key).is_ok();
        forth.is_ok() && binding.embedded_signature().is_some_and(back)
    }

    /// Says whether another key signed, or this one something else.
    fn refuse(&self, signature: &Signature) -> Error {
        let issuers =
            signature.issuer_fingerprint().into_iter().map(|one| format!("{one:X}")).collect::<Vec<_>>();
        let keys = self.0.public_subkeys.iter().map(|subkey| subkey.key.fingerprint());
        let ours = keys.chain([self.0.fingerprint()]).map(|one| format!("{one:X}")).collect::<Vec<_>>();
        let foreign = issuers.into_iter().find(|issuer| !ours.contains(issuer));
        let error = match foreign {
            Some(issuer) => Error::unavailable("the signature is by another key").fact("signed by", issuer),
            None => Error::unavailable("the signature does not match the file it stands beside"),
        };
        error.fact("trusted", self.fingerprint())
    }
}

/// Checks what can be said of a signature before any key is tried.
fn check_form(signature: &Signature) -> Result<()> {
    if !matches!(signature.typ(), Some(SignatureType::Binary | SignatureType::Text)) {
        return Err(Error::unavailable("the signature is not one over a file"));
    }
    if is_strong(signature) {
        return Ok(());
    }
    let algorithm = signature.hash_alg().map_or("an unknown digest".to_owned(), |one| one.to_string());
    Err(Error::unavailable(format!("the signature is over {algorithm}, which can be forged")))
}

fn is_strong(signature: &Signature) -> bool {
    use HashAlgorithm::{Sha3_256, Sha3_512, Sha256, Sha384, Sha512};
    matches!(signature.hash_alg(), Some(Sha256 | Sha384 | Sha512 | Sha3_256 | Sha3_512))
}

fn malformed(error: pgp::errors::Error) -> Error {
    Error::unavailable("the signature file holds no PGP signature").because(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pgp::composed::SubkeyParamsBuilder;
    use pgp::composed::{ArmorOptions, EncryptionCaps, KeyType, SecretKeyParamsBuilder, SignedSecretKey};
    use pgp::ser::Serialize;
    use pgp::types::{Password, SigningKey};

    const FILE: &[u8] = b"digests";

    fn generate() -> SignedSecretKey {
        let subkey = SubkeyParamsBuilder::default()
            .key_type(KeyType::Ed25519Legacy)
            .can_sign(true)
            .can_encrypt(EncryptionCaps::None)
            .build()
            .expect("all parts are set");
        let key = SecretKeyParamsBuilder::default()
            .key_type(KeyType::Ed25519Legacy)
            .can_sign(true)
            .can_certify(true)
            .primary_user_id("release".to_owned())
            .subkeys(vec![subkey])
            .build()
            .expect("all parts are set");
        key.generate(rand::thread_rng()).expect("a key")
    }

    fn trust(key: &SignedPublicKey) -> TrustedKey {
        TrustedKey::from_armor(&key.to_armored_string(ArmorOptions::default()).expect("text")).expect("a key")
    }

    fn sign(key: &impl SigningKey, hash: HashAlgorithm, data: &[u8]) -> Vec<u8> {
        let made =
            DetachedSignature::sign_binary_data(rand::thread_rng(), key, &Password::empty(), hash, data);
        made.and_then(|one| one.to_bytes()).expect("a signature")
    }

    #[test]
    fn the_embedded_key_is_the_release_key() {
        let key = TrustedKey::from_armor(
            &crate::tofu::ReleaseSource::official(&crate::model::Environment::default()).key,
        )
        .expect("it is embedded");

        assert_eq!(key.fingerprint(), "E3E6E43D84CB852EADB0051D0C0AF313E5FD9F80");
        assert!(key.0.verify_bindings().is_ok());
    }

    #[test]
    fn the_key_and_its_signing_subkey_are_believed() {
        let key = generate();
        let trusted = trust(&key.to_public_key());

        let by_key = sign(&key.primary_key, HashAlgorithm::Sha256, FILE);
        let by_subkey = sign(&key.secret_subkeys[0].key, HashAlgorithm::Sha512, FILE);

        assert!(trusted.verify(&by_key, FILE).is_ok());
        assert!(trusted.verify(&by_subkey, FILE).is_ok());
    }

    #[test]
    fn a_subkey_that_the_key_does_not_vouch_for_is_not_believed() {
        let (key, other) = (generate(), generate());
        let mut public = key.to_public_key();
        public.public_subkeys = other.to_public_key().public_subkeys;

        let signature = sign(&other.secret_subkeys[0].key, HashAlgorithm::Sha256, FILE);

        assert!(trust(&public).verify(&signature, FILE).is_err());
    }

    #[test]
    fn another_key_is_named() {
        let other = generate();
        let signature = sign(&other.primary_key, HashAlgorithm::Sha256, FILE);

        let error =
            trust(&generate().to_public_key()).verify(&signature, FILE).expect_err("it is not trusted");

        assert_eq!(error.message(), "the signature is by another key");
        assert!(error.to_string().contains(&format!("{:X}", other.fingerprint())), "{error}");
    }

    #[test]
    fn a_changed_file_is_refused() {
        let key = generate();
        let signature = sign(&key.primary_key, HashAlgorithm::Sha256, FILE);

        let error = trust(&key.to_public_key()).verify(&signature, b"digestz").expect_err("a byte differs");

        assert!(error.message().contains("does not match"), "{error}");
    }

    #[test]
    fn a_weak_digest_is_refused_even_from_the_right_key() {
        let key = generate();
        let mut signature = sign(&key.primary_key, HashAlgorithm::Sha256, FILE);

        // Version 4, over a binary file, by EdDSA: the digest's number comes next.
        let start =
            signature.windows(3).position(|bytes| bytes == [4, 0, 22]).expect("a version 4 signature");
        signature[start + 3] = u8::from(HashAlgorithm::Sha1);

        let error = trust(&key.to_public_key()).verify(&signature, FILE).expect_err("SHA-1 can be forged");
        assert!(error.message().contains("SHA1"), "{error}");
    }

    #[test]
    fn what_is_no_signature_is_refused() {
        let trusted = trust(&generate().to_public_key());

        assert!(trusted.verify(b"", FILE).is_err());
        assert!(trusted.verify(b"<html>not found</html>", FILE).is_err());
    }
}
