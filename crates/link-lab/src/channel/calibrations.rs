//! Calibrations that this process has made.
//!
//! A calibration draws some hundred eyes, and most channels need the same ones: it depends on the numbers of the
//! receiver and on the elements of the compliance channel, which few descriptions change. What it depends on is
//! compared whole, so that remembering changes no result.

use lanetwin_phy::eye::{Calibration, Prepared, Receiver, Reference};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most that are kept, the latest ones: three rates of eight descriptions.
const MOST: usize = 24;

/// What a calibration depends on.
#[derive(Clone, PartialEq, Debug)]
struct Asked {
    reference: Option<Reference>,
    compliance: Prepared,
}

type Answer = Result<Calibration, String>;

/// The latest last.
static MADE: Mutex<Vec<(Asked, Answer)>> = Mutex::new(Vec::new());

fn made() -> MutexGuard<'static, Vec<(Asked, Answer)>> {
    // an entry is added as a whole or not at all
    MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The stress with which a compliance channel meets the mask of a receiver of these numbers. Two generations differ in
/// their unit intervals, which pulses have.
///
/// # Errors
/// Why none does.
pub(super) fn calibration(
    receiver: &Receiver,
    reference: Option<&Reference>,
    compliance: Prepared,
) -> Answer {
    let asked = Asked { reference: reference.cloned(), compliance };
    let known = made().iter().find(|(one, _)| *one == asked).map(|(_, answer)| answer.clone());
    known.unwrap_or_else(|| {
        let answer = receiver.calibrate(&asked.compliance).map_err(|error| error.to_string());
        let mut made = made();
        if made.len() == MOST {
            drop(made.remove(0));
        }
        made.push((asked, answer.clone()));
        answer
    })
}
