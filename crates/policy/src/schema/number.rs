//! A JSON number as Python reads it: an integer, or a double. That it is the same number was seen to by [`survey`].
//!
//! [`survey`]: super::survey

use serde_json::Number;
use std::cmp::Ordering;

#[derive(Debug, Clone, Copy)]
pub enum Num {
    Int(i128),
    Float(f64),
}

impl Num {
    pub fn from_json(number: &Number) -> Self {
        let int = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
        int.map_or_else(|| Self::Float(number.as_f64().unwrap_or(f64::NAN)), Self::Int)
    }

    /// The exact order of both values; `None` only for what is not a number.
    pub fn compare(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Int(one), Self::Int(two)) => Some(one.cmp(&two)),
            (Self::Float(one), Self::Float(two)) => one.partial_cmp(&two),
            (Self::Float(_), Self::Int(_)) => other.compare(self).map(Ordering::reverse),
            (Self::Int(int), Self::Float(float)) => {
                // The cast is exact, or saturates beyond every integer that gets here.
                let whole = int.cmp(&(float.floor() as i128));
                let rest = if float.fract() == 0.0 { Ordering::Equal } else { Ordering::Less };
                (!float.is_nan()).then(|| whole.then(rest))
            }
        }
    }

    pub fn equals(self, other: Self) -> bool {
        self.compare(other) == Some(Ordering::Equal)
    }

    /// Whether `multipleOf` accepts this number, with Python's own rounding; `None` where Python overflows.
    pub fn is_multiple_of(self, divisor: Self) -> Option<bool> {
        match (self, divisor) {
            (_, Self::Float(step)) => {
                let quotient = self.to_double() / step;
                quotient.is_finite().then(|| quotient.fract() == 0.0)
            }
            (Self::Float(float), Self::Int(step)) => Some(float % step as f64 == 0.0),
            (Self::Int(int), Self::Int(step)) => int.checked_rem(step).map(|rest| rest == 0),
        }
    }

    fn to_double(self) -> f64 {
        match self {
            Self::Int(int) => int as f64,
            Self::Float(float) => float,
        }
    }
}
