//! Cache of the calibrations that this process has made.
//!
//! A calibration computes some hundred eyes, and most channels need the same ones: it depends on the numbers of the
//! receiver and on the elements of the compliance channel, which few descriptions change. The complete inputs are
//! compared, so that the cache changes no result.

use lanetwin_phy::eye::{Calibration, Prepared, Receiver, Reference};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum number of entries, of which the latest are kept: three rates of eight descriptions.
const MOST: usize = 24;

/// The inputs of a calibration.
#[derive(Clone, PartialEq, Debug)]
struct Asked {
    reference: Option<Reference>,
    compliance: Prepared,
}

type Answer = Result<Calibration, String>;

/// The entries, the latest last.
static MADE: Mutex<Vec<(Asked, Answer)>> = Mutex::new(Vec::new());

fn made() -> MutexGuard<'static, Vec<(Asked, Answer)>> {
    // an entry is added as a whole or not at all
    MADE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The stress with which a compliance channel just meets the mask for this receiver. Generations differ in their unit
/// intervals, which are part of the pulses.
///
/// # Errors
/// Why there is no such stress.
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
