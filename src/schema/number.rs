//! A JSON number as Python reads it: an integer of any size, or a double. No big-integer arithmetic is
//! needed: integers stay decimal digits, and a double beyond 2^53 prints exactly as such digits.

use serde_json::Number;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// An integer's `digits` have no leading zero, and zero is not negative.
pub enum Num<'a> {
    Int { negative: bool, digits: Cow<'a, str> },
    Float(f64),
}

impl<'a> Num<'a> {
    pub fn of(number: &'a Number) -> Self {
        let text = number.as_str();
        if text.contains(['.', 'e', 'E']) {
            // Any JSON number parses; too large a one is infinite, as in Python.
            return Self::Float(text.parse().unwrap_or(f64::NAN));
        }
        let digits = text.strip_prefix('-').unwrap_or(text);
        Self::Int { negative: digits.len() < text.len() && digits != "0", digits: digits.into() }
    }

    pub fn count(count: usize) -> Self {
        Self::Int { negative: false, digits: count.to_string().into() }
    }

    /// The exact order of both values; `None` only for what is not a number.
    pub fn compare(&self, other: &Num) -> Option<Ordering> {
        match (self, other) {
            (Self::Float(one), Num::Float(two)) => one.partial_cmp(two),
            (Self::Int { negative, digits }, Num::Float(float)) => compare_int_float(*negative, digits, *float),
            (Self::Float(_), Num::Int { .. }) => other.compare(self).map(Ordering::reverse),
            (Self::Int { negative, digits }, Num::Int { negative: other_negative, digits: other_digits }) => {
                Some(compare_ints((*negative, digits), (*other_negative, other_digits)))
            }
        }
    }

    /// Whether `multipleOf` accepts this number, with Python's own rounding; `None` where Python overflows.
    pub fn is_multiple_of(&self, divisor: &Num) -> Option<bool> {
        match (self, divisor) {
            (_, Num::Float(step)) => {
                let quotient = self.to_double()? / step;
                quotient.is_finite().then(|| quotient.fract() == 0.0)
            }
            (Self::Float(float), _) => Some(float % divisor.to_double()? == 0.0),
            (Self::Int { digits, .. }, Num::Int { digits: step, .. }) => {
                Some(remainder(digits, step.parse().ok()?) == 0)
            }
        }
    }

    fn to_double(&self) -> Option<f64> {
        match self {
            Self::Float(float) => Some(*float),
            Self::Int { negative, digits } => {
                let size: f64 = digits.parse().ok()?;
                size.is_finite().then_some(if *negative { -size } else { size })
            }
        }
    }
}

fn compare_ints(one: (bool, &str), two: (bool, &str)) -> Ordering {
    let by_size = one.1.len().cmp(&two.1.len()).then_with(|| one.1.cmp(two.1));
    match (one.0, two.0) {
        (false, false) => by_size,
        (true, true) => by_size.reverse(),
        (one_negative, two_negative) => two_negative.cmp(&one_negative),
    }
}

fn compare_int_float(negative: bool, digits: &str, float: f64) -> Option<Ordering> {
    let size: f64 = digits.parse().ok()?;
    let rounded = if negative { -size } else { size }.partial_cmp(&float);
    // Rounding keeps the order, so only a tie between long numbers needs their exact digits.
    if rounded != Some(Ordering::Equal) || digits.len() <= 15 {
        return rounded;
    }
    if !float.is_finite() {
        return 0.0.partial_cmp(&float);
    }
    let exact = format!("{:.0}", float.abs());
    Some(compare_ints((negative, digits), (float < 0.0, &exact)))
}

fn remainder(digits: &str, divisor: u64) -> u128 {
    let divisor = u128::from(divisor.max(1));
    digits.bytes().fold(0, |rest, digit| (rest * 10 + u128::from(digit - b'0')) % divisor)
}

/// Python's `repr`.
impl fmt::Display for Num<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int { negative, digits } => {
                write!(f, "{}{digits}", if *negative { "-" } else { "" })
            }
            Self::Float(float) if !float.is_finite() => write!(f, "{float}"),
            Self::Float(float) => {
                let size = format!("{float:e}");
                let (mantissa, exponent) = size.split_once('e').unwrap_or((&size, "0"));
                match exponent.parse::<i32>().unwrap_or(0) {
                    -4..16 if float.fract() == 0.0 => write!(f, "{float:.1}"),
                    -4..16 => write!(f, "{float}"),
                    large if large > 0 => write!(f, "{mantissa}e+{large:02}"),
                    small => write!(f, "{mantissa}e-{:02}", -small),
                }
            }
        }
    }
}
