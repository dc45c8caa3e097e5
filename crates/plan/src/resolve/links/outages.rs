//! `down:` of a link: its outages, and the state of the link after each.

use super::link::Link;
use super::speeds::{generation_of, width_of};
use super::via::Running;
use crate::plan::{ChannelPlan, Down};
use crate::problem::Problem;
use crate::values::{self, out_of_range};
use lanetwin_document::fields::{self, Fields};
use lanetwin_document::node::Node;
use lanetwin_document::problem::{Problem as Common, Reports, quoted};
use lanetwin_document::quantity;
use lanetwin_document::spelling::Near;
use lanetwin_link_lab::stability::{Cause, Comeback, LinkRequest, comebacks, link, open_link};
use lanetwin_ports::Value;
use lanetwin_units::{Generation, Instant, Span, Width};

/// Maximum total downtime of a link; with more, the load would be taken for one that is stuck.
const LONGEST: Span = Span::from_us(60_000_000);
/// Latest time of an outage, later than any run; the links count time in 1024ths of a picosecond with 64 bits.
const LATEST: Span = Span::from_us(1_000_000_000);
/// Least duration of an outage with a change of rate or width, which needs at least a Recovery; the links require two
/// periods of SKP.
const CHANGES: Span = Span::from_us(20);
/// The keys that a cable's outage can have.
const OF_CABLE: [&str; 2] = ["at", "for"];

/// An outage as it is given.
struct Asked {
    at: Instant,
    what: What,
}

/// Its duration, and the state of the link after it.
enum What {
    Lasts(Span, Option<(Generation, Width)>),
    Trains(Cause),
}

/// Reads the outages of a cable, in the order of time.
pub(super) fn of_cable(fields: &mut Fields<'_>, reports: &mut Reports) -> Option<Vec<Down>> {
    let mut items = fields.list("down", reports)?;
    let read: Vec<Option<Down>> = items
        .iter_mut()
        .map(|item| {
            for key in ["by", "gen", "width"].into_iter().filter(|key| item.written(key).is_some()) {
                let (known, near) = (quoted(OF_CABLE), Near::default());
                item.fault(key, Common::UnknownKey { key: key.into(), known, near }, reports);
            }
            Some(Down {
                at: at(item, reports)?,
                lasts: lasts(item, Span::from_ps(1), reports)?,
                by: None,
                then: None,
            })
        })
        .collect();
    in_order(&mut items, &read, reports);
    fields.record_list("down", items);
    read.into_iter().collect()
}

impl Link<'_> {
    /// Reads the outages of a PCIe link, in the order of time.
    pub(super) fn outages(
        &mut self,
        running: Running,
        channel: Option<&ChannelPlan>,
        retimers: usize,
        reports: &mut Reports,
    ) -> Option<Vec<Down>> {
        let mut items = self.fields.list("down", reports)?;
        let changes = items.iter().any(|item| ["gen", "width"].iter().any(|key| item.written(key).is_some()));
        let least = if changes { CHANGES } else { Span::from_ps(1) };
        let asked: Vec<Option<Asked>> =
            items.iter_mut().map(|item| asked(item, (running, least), reports)).collect();
        let causes = asked.iter().flatten().filter_map(|asked| match asked.what {
            What::Trains(cause) => Some(cause),
            What::Lasts(..) => None,
        });
        let causes: Vec<Cause> = causes.collect();
        let mut trained = self.trained(running, channel, retimers, &causes, reports)?.into_iter();
        let declared = (running.generation, running.width);
        let mut read = Vec::new();
        for (item, asked) in items.iter_mut().zip(asked) {
            read.push(asked.and_then(|Asked { at, what }| match what {
                What::Lasts(lasts, then) => Some(Down { at, lasts, by: None, then }),
                What::Trains(cause) => {
                    let Comeback { lasts, generation, width } = trained.next()?;
                    let said = format!("{}, then {generation} {width}", written(lasts));
                    item.record("trained", Node::scalar(said));
                    let then = Some((generation, width)).filter(|then| *then != declared);
                    Some(Down { at, lasts: lasts.max(CHANGES.min(least)), by: Some(cause), then })
                }
            }));
        }
        in_order(&mut items, &read, reports);
        self.fields.record_list("down", items);
        read.into_iter().collect()
    }

    /// The state of the link after each outage.
    fn trained(
        &self,
        running: Running,
        channel: Option<&ChannelPlan>,
        retimers: usize,
        causes: &[Cause],
        reports: &mut Reports,
    ) -> Option<Vec<Comeback>> {
        if causes.is_empty() {
            return Some(Vec::new());
        }
        let Running { generation, width, .. } = running;
        let (name, seed) = (&*self.entry.key, self.known.seed);
        let wanted = LinkRequest { width, utilisation: 0.0, seed };
        let config = match channel {
            None => open_link(name, generation, retimers, wanted),
            Some(ChannelPlan { file, variant, .. }) => {
                match self.known.channels.receivers(file, variant, generation) {
                    Ok(eyes) => link(name, generation.into(), &eyes, wanted),
                    Err(found) => {
                        let source = self.known.channels.source(file).expect("it was read");
                        found.iter().for_each(|found| reports.add_found(found, source));
                        return None;
                    }
                }
            }
        };
        Some(comebacks(config, seed, causes).expect("2.5 GT/s is open, whatever the channel: it comes back"))
    }
}

/// Reads an outage of a PCIe link.
fn asked(item: &mut Fields<'_>, (running, least): (Running, Span), reports: &mut Reports) -> Option<Asked> {
    let at = at(item, reports);
    if item.written("by").is_some() {
        let other = ["for", "gen", "width"].into_iter().find(|key| item.written(key).is_some());
        if let Some(other) = other {
            item.fault(other, Common::Exclusive { one: "by", other }, reports);
            return None;
        }
        let Value::Choice(word) = item.one("by", reports)?.value else { return None };
        return Some(Asked { at: at?, what: What::Trains(Cause::of(word)?) });
    }
    let lasts = lasts(item, least, reports);
    let then = comes_back(item, running, reports);
    Some(Asked { at: at?, what: What::Lasts(lasts?, then?) })
}

/// Reads the state after an outage: slower or narrower than the link is, or unchanged.
fn comes_back(
    item: &mut Fields<'_>,
    running: Running,
    reports: &mut Reports,
) -> Option<Option<(Generation, Width)>> {
    let Running { generation, width, .. } = running;
    let mut read = |key: &'static str| -> Option<Option<String>> {
        let Some(node) = item.written(key) else { return Some(None) };
        let text = fields::scalar(node, key, &item.at(key), reports)?.to_owned();
        item.record(key, Node::scalar(&text).by(node.origin));
        Some(Some(text))
    };
    let (said_generation, said_width) = (read("gen")?, read("width")?);
    let mut found = (generation, width);
    if let Some(text) = said_generation {
        let Some(known) = generation_of(&text).filter(|known| Generation::ALL.contains(known)) else {
            item.fault("gen", Problem::ImpossibleGeneration { text }, reports);
            return None;
        };
        if known > generation {
            let (least, most) = (Generation::Gen1.to_string(), generation.to_string());
            item.fault("gen", Common::OutOfRange { text: known.to_string(), least, most }, reports);
        }
        found.0 = known;
    }
    if let Some(text) = said_width {
        let Some(known) = width_of(&text) else {
            item.fault("width", Problem::ImpossibleWidth { text }, reports);
            return None;
        };
        if known > width {
            let (least, most) = (Width::X1.to_string(), width.to_string());
            item.fault("width", Common::OutOfRange { text: known.to_string(), least, most }, reports);
        }
        found.1 = known;
    }
    Some(Some(found).filter(|found| *found != (generation, width)))
}

fn at(item: &mut Fields<'_>, reports: &mut Reports) -> Option<Instant> {
    let at = values::time(item.one("at", reports)?.value);
    if at > LATEST {
        item.fault("at", out_of_range(at, Span::ZERO, LATEST), reports);
        return None;
    }
    Some(Instant::ZERO + at)
}

fn lasts(item: &mut Fields<'_>, least: Span, reports: &mut Reports) -> Option<Span> {
    if item.written("for").is_none() {
        item.fault(
            "for",
            Common::Missing {
                key: "for".into(),
                about: "for how long, or for PCIe `by:`, what takes it down".into(),
            },
            reports,
        );
        return None;
    }
    let lasts = values::time(item.one("for", reports)?.value);
    if lasts < least || lasts > LONGEST {
        item.fault("for", out_of_range(lasts, least, LONGEST), reports);
        return None;
    }
    Some(lasts)
}

/// Checks that each outage begins after the end of the one before, and that their sum is below the limit.
fn in_order(items: &mut [Fields<'_>], read: &[Option<Down>], reports: &mut Reports) {
    let mut all = Span::ZERO;
    let mut end = Instant::ZERO;
    for (item, down) in items.iter().zip(read) {
        let Some(Down { at, lasts, .. }) = *down else { continue };
        all += lasts;
        if all > LONGEST {
            item.fault("for", out_of_range(lasts, Span::from_ps(1), LONGEST), reports);
        }
        if at < end {
            let problem = Problem::Outages {
                at: written(at.since(Instant::ZERO)),
                until: written(end.since(Instant::ZERO)),
            };
            item.fault("at", problem, reports);
        }
        end = end.max(at + lasts);
    }
}

fn written(time: Span) -> String {
    quantity::written(Value::Time(time))
}
