//! Noise and jitter for judging eyes: those with which a channel that uses the whole budget just meets the mask.
//!
//! | element of that channel | loss |
//! |---|---|
//! | package of a root port | its own |
//! | board of low loss | what the others leave of the budget, so that the sum is the budget |
//! | CEM connector | its own |
//! | card of low loss | the add-in card's share without the package |
//! | package of an endpoint | its own |
//!
//! This channel has the reflections between its elements, and no neighbours, since no source gives the share of the
//! mask that the standard leaves to them. Neighbours in a description come on top of the calibrated noise, so that
//! verdicts are on the safe side.

use super::budget::{TERMINATION_OHM, share_db};
use super::calibrations::calibration;
use super::description::Channel;
use lanetwin_phy::DataRate;
use lanetwin_phy::budget::{Chain, Item, Share};
use lanetwin_phy::element::{Axis, Corner, Element, Family, Length};
use lanetwin_phy::eye::{Aggressor, Calibration, Channel as Path, Ffe, Opening, PRESETS, Receiver, Stress};
use lanetwin_phy::network::Grid;
use lanetwin_units::Generation;

/// Frequency step \[Hz\].
const STEP_HZ: f64 = 10e6;
/// Setting of neighbours' transmitters: P4.
const NEIGHBOUR: Ffe = PRESETS[4];
/// The board of the compliance channel.
const BOARD: &str = "low-loss";

/// A receiver with the noise and jitter for judging it.
pub(super) struct Bench {
    pub receiver: Receiver,
    pub stress: Stress,
    /// Loss and eye of the compliance channel, if it was used.
    pub compliance: Option<(f64, Opening)>,
    /// Why it was not used, if it should have been.
    pub said: Option<String>,
    /// The frequency axis of channels.
    pub axis: Axis,
}

impl Bench {
    /// The bench for a rate; `None` if there is no eye for it.
    pub(super) fn of(channel: &Channel, rate: DataRate) -> Option<Self> {
        let generation = generation(rate)?;
        let receiver = Receiver::new(generation, &channel.constants)?;
        let grid = Grid::new(STEP_HZ, 2.0 * rate.baud()).expect("a step above 0 Hz and some thousand points");
        let axis = Axis::new(grid);
        let mut bench = Self { stress: receiver.stress(), receiver, compliance: None, said: None, axis };
        if channel.calibrated {
            match bench.calibrated(channel, rate, generation) {
                Ok((loss_db, found)) => {
                    bench.stress = found.stress;
                    bench.compliance = Some((loss_db, found.opening));
                }
                Err(said) => bench.said = Some(said),
            }
        }
        Some(bench)
    }
    fn calibrated(
        &self,
        channel: &Channel,
        rate: DataRate,
        generation: Generation,
    ) -> Result<(f64, Calibration), String> {
        let chain = compliance(channel, rate)?;
        let library = &channel.library;
        let margins = chain.margins(library, Corner::Nominal, rate).map_err(|found| found.message)?;
        let transfer = chain.transfer(0, library, Corner::Nominal, &self.axis, TERMINATION_OHM);
        let prepared = self
            .receiver
            .prepare(&Path::new(transfer.map_err(|found| found.message)?))
            .map_err(|error| error.to_string())?;
        let found = calibration(&self.receiver, channel.constants.of(generation), prepared)?;
        Ok((margins[0].loss_db, found))
    }
}

/// The generation of a rate, if eyes are computed for it.
fn generation(rate: DataRate) -> Option<Generation> {
    match rate {
        DataRate::Gen3 => Some(Generation::Gen3),
        DataRate::Gen4 => Some(Generation::Gen4),
        DataRate::Gen5 => Some(Generation::Gen5),
        _ => None,
    }
}

/// The channel that uses the whole budget.
fn compliance(channel: &Channel, rate: DataRate) -> Result<Chain, String> {
    let (root, slot, end) = match rate {
        DataRate::Gen3 => ("root-gen3", "cem-gen4", "endpoint-gen4"),
        DataRate::Gen4 => ("root-gen4", "cem-gen4", "endpoint-gen4"),
        _ => ("root-gen5", "cem", "endpoint-gen5"),
    };
    let library = &channel.library;
    let loss = |family: Family, name: &str, element: Element| {
        library.entry(family, name).map_err(|found| found.message)?;
        let alone = Chain::new(vec![Item::new("it", element)]).map_err(|found| found.message)?;
        let margins = alone.margins(library, Corner::Nominal, rate).map_err(|found| found.message)?;
        Ok::<f64, String>(margins[0].loss_db)
    };
    let metre = Length::metres(1.0).map_err(|found| found.message)?;
    let per_metre = loss(Family::Materials, BOARD, Element::Trace(BOARD.into(), metre))?;
    let [root_db, slot_db, end_db] = [
        loss(Family::Packages, root, Element::Package(root.into()))?,
        loss(Family::Connectors, slot, Element::Connector(slot.into()))?,
        loss(Family::Packages, end, Element::Package(end.into()))?,
    ];
    let total = library.budget(rate).map_err(|found| found.message)?.total_db();
    let card_db = share_db(channel, rate, Share::AddInCard).map_or(0.0, |share| (share - end_db).max(0.0));
    let board_db = total - root_db - slot_db - end_db - card_db;
    let trace = |db: f64| {
        let length = Length::metres(db / per_metre);
        length.map(|length| Element::Trace(BOARD.into(), length)).map_err(|found| found.message)
    };
    Chain::new(vec![
        Item::new("root", Element::Package(root.into())),
        Item::new("board", trace(board_db)?),
        Item::new("slot", Element::Connector(slot.into())),
        Item::new("card", trace(card_db)?),
        Item::new("endpoint", Element::Package(end.into())),
    ])
    .map_err(|found| found.message)
}

/// A segment on the frequency axis of the bench, with its neighbours. Their transmitters send without de-emphasis, as
/// preset P4 does: no other setting has more power at any frequency.
pub(super) fn path<'v>(
    channel: &Channel,
    variant: &'v super::Variant,
    segment: usize,
    bench: &Bench,
) -> Result<(Path, Vec<&'v super::Aggressor>), lanetwin_phy::Finding> {
    let (chain, library, corner) = (&variant.chain, &channel.library, variant.corner);
    let mut path = chain.channel(segment, library, corner, &bench.axis, TERMINATION_OHM)?;
    let mut neighbours = Vec::new();
    for neighbour in &variant.aggressors {
        let elements = (library, corner);
        let found = chain.coupled(segment, &neighbour.coupling, elements, &bench.axis, TERMINATION_OHM)?;
        if let Some(transfer) = found {
            path = path.with_aggressor(Aggressor { transfer, ffe: NEIGHBOUR });
            neighbours.push(neighbour);
        }
    }
    Ok((path, neighbours))
}
