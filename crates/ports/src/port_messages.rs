//! Messages that the ports of links send on their own account, as TLPs: of errors, of power for a slot.
//!
//! | What happens | Who sends | What | Where to |
//! |---|---|---|---|
//! | a TLP arrives corrupted (Bad TLP) | the receiver | ERR_COR | the root complex |
//! | a TLP fails REPLAY_NUM times in a row (REPLAY_NUM Rollover) | the transmitter | ERR_COR | the root complex |
//! | a link to a device is up again | the port above | Set_Slot_Power_Limit, 1 DW of data | the device's port |
//!
//! (PCIe Base, sections 2.2.8, 6.2 and 6.9.) A root port notes its own errors inside the root complex, and no link
//! carries anything of that.

use crate::message::{Attributes, Tlps};
use crate::route::lead;
use crate::wiring::Wiring;
use lanetwin_pcie::link::{Attach, EgressId, EndpointId, LinkError};
use lanetwin_pcie::spec::header::{MessageCode, MessageRouting};
use lanetwin_pcie::spec::tlp::TlpKind;
use lanetwin_units::Span;

/// Time from an error, or from a link coming up, until the message is eligible for the wire (assumed: it is not
/// published for any port).
pub(crate) const DELAY: Span = Span::from_ns(100);
/// The payload of Set_Slot_Power_Limit \[B\].
const SLOT_POWER_BYTES: u16 = 4;

/// Why a port wakes to send, beside the egress that it is about.
const BAD_TLP: u32 = 1 << 16;
const REPLAY_NUM_ROLLOVER: u32 = 2 << 16;
const SLOT_POWER: u32 = 3 << 16;
const CAUSE: u32 = !0xffff;

/// A message, and the egress whose transmitting port sends it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PortMessage {
    pub egress: EgressId,
    pub tlps: Tlps,
}

/// Messages of ports, for each egress.
#[derive(Default)]
pub(crate) struct PortMessages {
    /// Error messages: of the receiver for a corrupted TLP, and of the transmitter for one replayed too often.
    errors: Vec<[Option<PortMessage>; 2]>,
    /// Set_Slot_Power_Limit messages of the transmitter when the link comes up.
    slot_power: Vec<Option<PortMessage>>,
}

impl PortMessages {
    /// Messages of the links below these root ports.
    pub fn new(wiring: &Wiring, roots: &[EndpointId]) -> Self {
        let about = |e: usize| {
            let [from, to] = wiring.ends(EgressId(e as u16));
            let error = |port: Attach, own: usize| error(wiring, roots, port, own);
            ([error(to, e ^ 1), error(from, e)], slot_power(wiring, roots, e, [from, to]))
        };
        let (errors, slot_power) = (0..2 * wiring.links.len()).map(about).unzip();
        Self { errors, slot_power }
    }
    /// The wake token for a port that has noticed an error. Returns `None` if it sends no message.
    pub fn of_error(&self, egress: EgressId, error: LinkError) -> Option<u32> {
        let (place, cause) = match error {
            LinkError::BadTlp => (0, BAD_TLP),
            LinkError::ReplayNumRollover => (1, REPLAY_NUM_ROLLOVER),
        };
        self.errors.get(egress.index())?[place].map(|_| cause | u32::from(egress.0))
    }
    /// The wake tokens of a link's ports when it comes up again.
    pub fn of_link_up(&self, link: usize) -> impl Iterator<Item = u32> {
        let is_sent = |e: &usize| self.slot_power.get(*e).is_some_and(Option::is_some);
        [2 * link, 2 * link + 1].into_iter().filter(is_sent).map(|e| SLOT_POWER | e as u32)
    }
    /// The message of a wake token. Returns `None` if the token is for something else, or if ports send no messages
    /// any more.
    pub fn of_wake(&self, token: u32) -> Option<PortMessage> {
        let e = usize::from(token as u16);
        match token & CAUSE {
            BAD_TLP => self.errors.get(e)?[0],
            REPLAY_NUM_ROLLOVER => self.errors.get(e)?[1],
            SLOT_POWER => *self.slot_power.get(e)?,
            _ => None,
        }
    }
}

/// ERR_COR of a port, which transmits on the egress `own`: to the root port above, if that is another.
fn error(wiring: &Wiring, roots: &[EndpointId], port: Attach, own: usize) -> Option<PortMessage> {
    let to_root = |&root: &EndpointId| {
        let mut way = Vec::new();
        let leads = port != Attach::Endpoint(root) && lead(wiring, port, Attach::Endpoint(root), &mut way);
        leads.then(|| (way[0], root))
    };
    let (egress, root) = roots.iter().find_map(to_root)?;
    let from = wiring.port_name(own);
    Some(PortMessage { egress, tlps: message(from, root, MessageCode::ERR_COR) })
}

/// Set_Slot_Power_Limit of the port above a device.
fn slot_power(
    wiring: &Wiring,
    roots: &[EndpointId],
    e: usize,
    [from, to]: [Attach; 2],
) -> Option<PortMessage> {
    let is_root = |end: Attach| roots.iter().any(|&root| end == Attach::Endpoint(root));
    let Attach::Endpoint(device) = to else { return None };
    let is_slot = !is_root(to) && (is_root(from) || matches!(from, Attach::Switch(_)));
    let tlps = Tlps {
        kind: TlpKind::MsgD,
        bytes: SLOT_POWER_BYTES,
        ..message(wiring.port_name(e), device, MessageCode::SET_SLOT_POWER_LIMIT)
    };
    is_slot.then_some(PortMessage { egress: EgressId(e as u16), tlps })
}

/// A message: its address is its code.
fn message(from: EndpointId, to: EndpointId, code: MessageCode) -> Tlps {
    Tlps {
        kind: TlpKind::Msg,
        attributes: Attributes::NONE,
        count: 1,
        bytes: 0,
        from,
        to,
        handle: 0,
        address: code.0.into(),
    }
}

/// Code and routing of a message TLP.
#[must_use]
pub fn said(tlps: &Tlps) -> (MessageCode, MessageRouting) {
    let code = MessageCode(tlps.address as u8);
    let routing = match code {
        MessageCode::SET_SLOT_POWER_LIMIT => MessageRouting::LOCAL,
        _ => MessageRouting::TO_ROOT_COMPLEX,
    };
    (code, routing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wiring::WiredLink;
    use lanetwin_pcie::link::{Direction, Drain, EndpointSpec, SwitchId};
    use lanetwin_units::{Generation, LinkRate, Width};

    const ROOT: EndpointId = EndpointId(0);
    const DEVICE: EndpointId = EndpointId(1);

    /// root port 0 ─ 0, 1 ─ switch ─ 2, 3 ─ device 1
    fn behind_a_switch() -> PortMessages {
        let direction = Direction::bare(LinkRate::pcie(Generation::Gen4, Width::X4));
        let link = |a, b| WiredLink { name: String::new(), ends: [a, b], directions: [direction; 2] };
        let switch = Attach::Switch(SwitchId(0));
        let drain = Drain::ByLink { latency: Span::ZERO, per_tlp: Span::ZERO, payload_rate: None };
        let links = vec![link(Attach::Endpoint(ROOT), switch), link(switch, Attach::Endpoint(DEVICE))];
        let endpoints = vec![EndpointSpec { lookahead: Span::ZERO, drain }; 2];
        PortMessages::new(&Wiring { endpoints, links, ..Wiring::default() }, &[ROOT])
    }

    fn sent(messages: &PortMessages, token: Option<u32>) -> Option<(u16, u16, u16, MessageCode)> {
        let PortMessage { egress, tlps } = messages.of_wake(token?)?;
        Some((egress.0, tlps.from.0, tlps.to.0, said(&tlps).0))
    }

    #[test]
    fn who_notices_an_error_tells_the_root_port_above() {
        let messages = behind_a_switch();
        let error = |e, what| sent(&messages, messages.of_error(EgressId(e), what));
        // egress, from (ports of switches: 2 + egress), to
        let told = |egress, from| Some((egress, from, 0, MessageCode::ERR_COR));
        let receivers = [0, 1, 2, 3].map(|e| error(e, LinkError::BadTlp));
        assert_eq!(receivers, [told(1, 3), None, told(3, 1), told(1, 4)]);
        let transmitters = [0, 1, 2, 3].map(|e| error(e, LinkError::ReplayNumRollover));
        assert_eq!(transmitters, [None, told(1, 3), told(1, 4), told(3, 1)]);
    }

    #[test]
    fn a_device_is_told_of_its_power_when_its_link_is_up() {
        let messages = behind_a_switch();
        let of =
            |link| messages.of_link_up(link).map(|token| sent(&messages, Some(token))).collect::<Vec<_>>();
        assert_eq!(of(1), [Some((2, 4, 1, MessageCode::SET_SLOT_POWER_LIMIT))]);
        assert_eq!(of(0), [], "the other end is a switch");
        assert_eq!(messages.of_wake(2), None, "a wake of an egress");
    }
}
