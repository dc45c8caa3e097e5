//! Checks declarations: outages, switches and their ports, and the two directions of a link.

use super::super::declare::{BuildError, Outage, PACES_MAX, PHASES_MAX, Pace, SWITCH_PORTS_MAX};
use super::super::spec::{Core, Direction, DllpMode, LinkId, OutputBuffer, SwitchId};
use super::Wiring;
use lanetwin_units::Ticks;

impl Wiring {
    /// The first mistake, if there is one.
    pub(super) fn check(&self) -> Result<(), BuildError> {
        for (i, (.., there, back)) in self.parts.links.iter().enumerate() {
            check_directions(LinkId(i as u16), there, back)?;
        }
        for i in 0..self.parts.switches.len() {
            self.check_switch(SwitchId(i as u16))?;
        }
        for pair in &self.parts.latencies {
            self.check_port(pair.switch, pair.from)?;
            self.check_port(pair.switch, pair.to)?;
        }
        for weight in &self.parts.weights {
            self.check_port(weight.switch, weight.link)?;
        }
        for (i, one) in self.parts.outages.iter().enumerate() {
            let before = self.parts.outages[..i].iter().rfind(|other| other.link == one.link);
            if one.link.index() >= self.parts.links.len()
                || one.until <= one.from
                || before.is_some_and(|before| before.until > one.from)
            {
                return Err(BuildError::Outages(one.link));
            }
            self.check_pace(one, before.and_then(|before| before.then))?;
        }
        Ok(())
    }

    /// The pace after an outage is at most the declared one, and the lumped DLLPs of the previous pace have been
    /// sent.
    fn check_pace(&self, outage: &Outage, before: Option<Pace>) -> Result<(), BuildError> {
        let (.., there, _) = &self.parts.links[outage.link.index()];
        let is_faster = outage.then.is_some_and(|pace| pace.rate > there.rate);
        let lumps = there.skp.filter(|_| there.dllps.mode == DllpMode::Lump);
        let least = lumps.filter(|_| outage.then != before).map_or(0, |skp| 2 * skp.period);
        let is_short = Ticks::from(outage.until).0 - Ticks::from(outage.from).0 < least;
        let mut paces: Vec<Pace> = Vec::new();
        for pace in self.parts.outages.iter().filter(|one| one.link == outage.link).filter_map(|one| one.then)
        {
            if !paces.contains(&pace) {
                paces.push(pace);
            }
        }
        let possible = !is_faster && !is_short && paces.len() <= PACES_MAX;
        if possible { Ok(()) } else { Err(BuildError::Pace(outage.link)) }
    }

    fn check_switch(&self, id: SwitchId) -> Result<(), BuildError> {
        let leaving = self.leaving(id);
        if leaving.len() > SWITCH_PORTS_MAX {
            return Err(BuildError::SwitchPorts(id));
        }
        let largest = leaving.iter().map(|&e| u32::from(self.direction(e).payload_max)).max().unwrap_or(0);
        let holds = |output: OutputBuffer| output.tlps > 0 && output.data >= largest.div_ceil(16);
        let possible = match self.parts.switches[id.index()].core {
            None => true,
            Some(Core::Crossbar { speed_up, output } | Core::SharedBus { speed_up, output }) => {
                speed_up > 0 && holds(output)
            }
            Some(Core::SharedMemory { speed_up }) => speed_up > 0,
        };
        if !possible {
            return Err(BuildError::Core(id));
        }
        let weights: Vec<u32> = leaving.iter().map(|&port| self.weight(id, port)).collect();
        if weights.contains(&0) || weights.iter().sum::<u32>() > PHASES_MAX {
            return Err(BuildError::Weights(id));
        }
        Ok(())
    }

    fn check_port(&self, switch: SwitchId, link: LinkId) -> Result<(), BuildError> {
        let joined = self.leaving(switch).iter().any(|&e| e / 2 == link.index());
        if joined { Ok(()) } else { Err(BuildError::NotThere(switch, link)) }
    }
}

/// Both directions of a link have to agree in rate, SKP period, DLLP mode and Recoveries.
fn check_directions(link: LinkId, there: &Direction, back: &Direction) -> Result<(), BuildError> {
    if there.rate != back.rate {
        return Err(BuildError::Rates(link));
    }
    let lump_without_period = there.dllps.mode == DllpMode::Lump && there.skp.is_none();
    if there.skp.map(|s| s.period) != back.skp.map(|s| s.period)
        || there.dllps.mode != back.dllps.mode
        || lump_without_period
    {
        return Err(BuildError::SkpPeriod(link));
    }
    if there.errors.recoveries != back.errors.recoveries {
        return Err(BuildError::Recoveries(link));
    }
    Ok(())
}
