//! Shamir's secret sharing over GF(2^8) modulo 0x11B, as sops splits a data key.
//!
//! A share is the bytes of y followed by its x. Begin at [`split`] and [`combine`].

use zeroize::Zeroizing;

use crate::error::Result;
use crate::process::fill_random;
use crate::secrets::sops::refusal::refused;

/// A share of a secret.
pub type Share = Zeroizing<Vec<u8>>;

/// Splits a secret into shares, of which `threshold` restore it.
pub fn split(secret: &[u8], shares: usize, threshold: usize) -> Result<Vec<Share>> {
    let count = u8::try_from(shares).map_err(|_| refused(format!("{shares} key groups are too many")))?;
    if threshold < 2 || threshold > shares {
        let message = format!("`shamir_threshold` is {threshold}, expected 2 to {shares}");
        return Err(refused(message).hint("set it to the number of key groups that a person must hold"));
    }
    let mut made: Vec<Share> = (1..=count).map(|_| Share::default()).collect();
    let mut coefficients = Zeroizing::new(vec![0; threshold]);
    for byte in secret {
        fill_random(&mut coefficients)?;
        coefficients[0] = *byte;
        for (share, x) in made.iter_mut().zip(1..=count) {
            share.push(evaluate(&coefficients, x));
        }
    }
    made.iter_mut().zip(1..=count).for_each(|(share, x)| share.push(x));
    Ok(made)
}

/// Restores a secret; too few shares give other bytes, which only the MAC of the file can tell.
pub fn combine(shares: &[Share]) -> Result<Zeroizing<Vec<u8>>> {
    let length = shares.first().map_or(0, |share| share.len());
    if shares.len() < 2 || length < 2 || shares.iter().any(|share| share.len() != length) {
        return Err(refused("the parts of the data key do not fit together"));
    }
    let xs: Vec<u8> = shares.iter().map(|share| share[length - 1]).collect();
    if xs.iter().enumerate().any(|(at, x)| *x == 0 || xs[..at].contains(x)) {
        return Err(refused("two parts of the data key are the same"));
    }
    let secret = (0..length - 1).map(|at| {
        let term = |(share, basis): (&Share, u8)| multiply(share[at], basis);
        shares.iter().zip(bases(&xs)).map(term).fold(0, |sum, term| sum ^ term)
    });
    Ok(Zeroizing::new(secret.collect()))
}

/// Returns the Lagrange basis of each x at zero.
fn bases(xs: &[u8]) -> Vec<u8> {
    let basis = |own: u8| {
        let others = xs.iter().filter(|x| **x != own);
        others.fold(1, |product, x| multiply(product, multiply(*x, inverse(own ^ *x))))
    };
    xs.iter().map(|own| basis(*own)).collect()
}

/// Evaluates a polynomial, lowest coefficient first, by Horner's rule.
fn evaluate(coefficients: &[u8], x: u8) -> u8 {
    coefficients.iter().rev().fold(0, |sum, coefficient| multiply(sum, x) ^ coefficient)
}

/// Multiplies without a branch or a table that would depend on the secret.
fn multiply(mut a: u8, mut b: u8) -> u8 {
    let mut product = 0;
    for _ in 0..8 {
        product ^= (b & 1).wrapping_neg() & a;
        a = (a << 1) ^ ((a >> 7).wrapping_neg() & 0x1b);
        b >>= 1;
    }
    product
}

/// Inverts by Fermat: a^254.
fn inverse(a: u8) -> u8 {
    let square = |x| multiply(x, x);
    (0..6)
        .fold((square(a), square(a)), |(power, product), _| {
            let power = square(power);
            (power, multiply(product, power))
        })
        .1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_has_an_inverse() {
        for a in 1..=255 {
            assert_eq!(multiply(a, inverse(a)), 1, "{a}");
        }
        assert_eq!(multiply(0x57, 0x83), 0xc1);
    }

    #[test]
    fn any_two_of_three_shares_restore_the_secret() {
        let secret = [1, 2, 0, 255, 77];

        let shares = split(&secret, 3, 2).unwrap();

        for left_out in 0..3 {
            let mut held = shares.clone();
            held.remove(left_out);
            assert_eq!(combine(&held).unwrap().as_slice(), secret);
        }
        assert!(shares.iter().enumerate().all(|(at, share)| share.last() == Some(&(at as u8 + 1))));
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        let shares = split(&[1, 2, 3], 3, 2).unwrap();
        let twice = [shares[0].clone(), shares[0].clone()];
        let short = [shares[0].clone(), Share::new(vec![1])];

        assert!(combine(&twice).is_err());
        assert!(combine(&short).is_err());
        assert!(combine(&shares[..1]).is_err());
        assert!(split(&[1], 3, 1).is_err() && split(&[1], 3, 4).is_err() && split(&[1], 300, 2).is_err());
    }
}
