//! `ber:` and `channel:` of a link: its bit error ratio.

use super::link::Link;
use crate::plan::ChannelPlan;
use crate::problem::Problem;
use crate::resolve::channels::{Channels, Eyes};
use lanetwin_document::node::Node;
use lanetwin_document::problem::{Problem as Common, Reports, quoted};
use lanetwin_document::quantity;
use lanetwin_document::spelling::Near;
use lanetwin_link_lab::channel::{Answers, SegmentEye};
use lanetwin_phy::eye::of_segments;
use lanetwin_ports::Value;
use lanetwin_units::Generation;

/// Largest bit error ratio. With it, a TLP of 4 KiB still gets through in one attempt of 27; the standard requires
/// 1e-12.
const MOST_BIT_ERRORS: f64 = 1e-4;

/// Bit error ratios of a link.
pub(super) struct BitErrors {
    /// End to end.
    pub ratio: f64,
    /// Of each segment; a single number is for the whole link.
    pub segments: Vec<f64>,
    pub channel: Option<ChannelPlan>,
}

impl BitErrors {
    fn of(segments: Vec<f64>, channel: Option<ChannelPlan>) -> Self {
        Self { ratio: of_segments(&segments), segments, channel }
    }
}

impl Link<'_> {
    /// The bit errors of a link with this many retimers. Rejects ratios at which a long TLP would be replayed for ever.
    pub(super) fn bit_errors(
        &mut self,
        retimers: usize,
        generation: Option<Generation>,
        channels: &Channels,
        reports: &mut Reports,
    ) -> Option<BitErrors> {
        if self.fields.written("channel").is_some() {
            return self.of_channel(retimers, generation, channels, reports);
        }
        if self.fields.written("channel-variant").is_some() {
            let about = "the description that the variant is of".into();
            self.fields.fault("channel-variant", Common::Missing { key: "channel".into(), about }, reports);
        }
        let listed = self.fields.many("ber", reports)?;
        let segments: Vec<f64> = listed
            .into_iter()
            .map(|said| match said.value {
                Value::Ratio(ratio) => ratio,
                other => unreachable!("`ber` is declared as a ratio, read as {other:?}"),
            })
            .collect();
        if segments.len() != 1 && segments.len() != retimers + 1 {
            let problem = Problem::SegmentCount { listed: segments.len(), segments: retimers + 1 };
            self.fields.fault("ber", problem, reports);
            return None;
        }
        let errors = BitErrors::of(segments, None);
        if errors.ratio > MOST_BIT_ERRORS {
            let (text, least) = (written(errors.ratio), "0".into());
            let problem = Common::OutOfRange { text, least, most: written(MOST_BIT_ERRORS) };
            self.fields.fault("ber", problem, reports);
            return None;
        }
        Some(errors)
    }

    /// The bit errors that follow from the eyes of the channel.
    fn of_channel(
        &mut self,
        retimers: usize,
        generation: Option<Generation>,
        channels: &Channels,
        reports: &mut Reports,
    ) -> Option<BitErrors> {
        if self.fields.written("ber").is_some() {
            self.fields.fault("ber", Common::Exclusive { one: "ber", other: "channel" }, reports);
        }
        let file = self.fields.text("channel", reports)?.value;
        let wanted = self.fields.text("channel-variant", reports).map(|said| said.value);
        // errors in the description were reported; without it, the rest of the link can still be checked
        let Some(known) = channels.variants(&file) else { return Some(BitErrors::of(vec![0.0], None)) };
        let variant = match wanted {
            None => known.first()?.clone(),
            Some(name) if known.contains(&name) => name,
            Some(name) => {
                let names = || known.iter().map(|name| &**name);
                let (near, known) = (Near::of(&name, names()), quoted(names()));
                let problem = Problem::UnknownChannelVariant { name, file, known, near };
                self.fields.fault("channel-variant", problem, reports);
                return None;
            }
        };
        let eyes = match channels.eyes(&file, &variant, generation?) {
            Eyes::Seen(eyes) => eyes,
            Eyes::Refused(found) => {
                let source = channels.source(&file).expect("it was read");
                found.iter().for_each(|found| reports.add_found(found, source));
                return None;
            }
        };
        if eyes.len() != retimers + 1 {
            let problem = Problem::ChannelRetimers { file, variant, channel: eyes.len() - 1, link: retimers };
            self.fields.fault("channel", problem, reports);
            return None;
        }
        if let Some(at) = eyes.iter().position(|eye| eye.answers.ber > MOST_BIT_ERRORS) {
            let (ber, most) = (format!("{:.1e}", eyes[at].answers.ber), written(MOST_BIT_ERRORS));
            let problem = Problem::ClosedEye { file, variant, segment: at + 1, ber, most };
            self.fields.fault("channel", problem, reports);
            return None;
        }
        if let Some(at) = eyes.iter().position(|eye| !eye.answers.meets_mask) {
            let answers = &eyes[at].answers;
            let (share, operates) = (format!("{:.2}", answers.mask_ratio), operates(answers));
            let (file, variant) = (file.clone(), variant.clone());
            let problem = Problem::MissesMask { file, variant, segment: at + 1, share, operates };
            self.fields.fault("channel", problem, reports);
        }
        if self.fields.written("channel-variant").is_none() {
            self.fields.record("channel-variant", Node::scalar(&variant));
        }
        self.fields.record("eyes", Node::list(eyes.iter().map(|eye| Node::scalar(told(eye)))));
        let segments = eyes.iter().map(|eye| eye.answers.ber).collect();
        Some(BitErrors::of(segments, Some(ChannelPlan { file, variant, eyes })))
    }
}

/// `cpu to card-in: 29.1 dB, 2.02 of the mask, operates (BER 1.0e-40)`
fn told(eye: &SegmentEye) -> String {
    let SegmentEye { from, to, loss_db, answers } = eye;
    format!("{from} to {to}: {loss_db:.1} dB, {:.2} of the mask, {}", answers.mask_ratio, operates(answers))
}

/// `operates (BER 2.1e-19)`
fn operates(answers: &Answers) -> String {
    let no = if answers.operates { "operates" } else { "does not operate as the standard asks" };
    format!("{no} (BER {:.1e})", answers.ber)
}

fn written(ratio: f64) -> String {
    quantity::written(Value::Ratio(ratio))
}
