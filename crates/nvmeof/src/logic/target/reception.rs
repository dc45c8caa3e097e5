//! Reception of data units of TCP and of capsules of RDMA (TCP Transport 1.0, Connection Setup, Data Transfer, Error
//! Handling Model; RDMA Transport 1.0).
//!
//! | error in a data unit | FES | FEI |
//! |---|---|---|
//! | the first is not an ICReq, or a later one is | PDU Sequence Error | 0 |
//! | PFV is not 0, or HPDA above 31 | Unsupported Parameter | 8, 10 |
//! | H2CData without an R2T, or for another command than its R2T | Invalid PDU Header Field | 10, 8 |
//! | H2CData not at the next offset of the R2T, or past its end | Data Transfer Out of Range | 0 |
//! | LAST_PDU before the end of an R2T, or missing there | Invalid PDU Header Field | 1 |

use super::Target;
use super::config::{ConnectionId, Transport};
use super::connection::Link;
use super::effect::Effect;
use crate::logic::data::Data;
use crate::logic::tcp::{Fault, Framing, Pdu, Received, Stream};
use crate::spec::tcp::{ADMIN_CAPSULE_DATA, DigestTypes, FatalError, LARGEST_ALIGNMENT, MOST_TERMINATE_DATA};
use lanetwin_nvme::spec::{Cid, Command};
use lanetwin_units::Instant;

impl Target {
    /// Bytes have arrived on a TCP connection, in order.
    pub fn receive(
        &mut self,
        now: Instant,
        connection: ConnectionId,
        stream: Stream,
        effects: &mut Vec<Effect>,
    ) {
        let mut more = Some(stream);
        while let Some(known) = self.connections.get_mut(&connection) {
            let Link::Tcp(link) = &mut known.link else { return };
            more.take().into_iter().for_each(|stream| link.reader.push(stream));
            let handled = match link.reader.read() {
                Some(Ok(received)) => self.take_unit(now, connection, received, effects).map_err(|wrong| {
                    let reader = self.connections.get(&connection).and_then(|known| known.link.reader());
                    reader.map_or_else(|| wrong.alone(), |reader| reader.fault(wrong.0, wrong.1))
                }),
                Some(Err(fault)) => Err(fault),
                None => return,
            };
            if let Err(fault) = handled {
                self.terminate(connection, fault, effects);
            }
        }
    }
    /// A capsule has arrived on an RDMA connection: the receive of a SEND is complete.
    pub fn capsule(
        &mut self,
        now: Instant,
        connection: ConnectionId,
        (command, data): (Command, Data),
        effects: &mut Vec<Effect>,
    ) {
        let known = self.connections.get(&connection).filter(|known| !known.is_tcp());
        let Some(most) = known.map(|known| self.capsule_data(known)) else { return };
        if data.len() > most {
            // longer than the posted receive buffers: the queue pair fails
            return self.close(connection, effects);
        }
        self.command(now, connection, (command, data, true), effects);
    }

    fn take_unit(
        &mut self,
        now: Instant,
        id: ConnectionId,
        received: Received,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Wrong> {
        let Some(connection) = self.connections.get(&id) else { return Ok(()) };
        let initialized = matches!(&connection.link, Link::Tcp(link) if link.framing.is_some());
        match received.pdu {
            Pdu::Terminate { .. } => self.close(id, effects),
            Pdu::InitializeRequest { version, alignment, digests, r2ts_less_1 } if !initialized => {
                self.initialize(id, (version, alignment, digests, r2ts_less_1), effects)?;
            }
            Pdu::Command { command, data } if initialized => {
                self.command(now, id, (command, data, received.data_intact), effects);
            }
            Pdu::DataToController { cid, tag, offset, last, data } if initialized => {
                let part = Part { cid, tag, offset, last, data };
                self.take_data(now, id, part, received.data_intact, effects)?;
            }
            _ => return Err(Wrong(FatalError::PDU_SEQUENCE, 0)),
        }
        Ok(())
    }

    /// Handles ICReq, and responds with the parameters to be used (TCP Transport 1.0, ICReq and ICResp).
    fn initialize(
        &mut self,
        id: ConnectionId,
        (version, alignment, digests, r2ts_less_1): (u16, u8, DigestTypes, u32),
        effects: &mut Vec<Effect>,
    ) -> Result<(), Wrong> {
        if version != 0 {
            return Err(Wrong(FatalError::UNSUPPORTED_PARAMETER, 8));
        }
        if alignment > LARGEST_ALIGNMENT {
            return Err(Wrong(FatalError::UNSUPPORTED_PARAMETER, 10));
        }
        let Some(connection) = self.connections.get_mut(&id) else { return Ok(()) };
        let port = &self.config.ports[connection.port];
        let (Link::Tcp(link), Transport::Tcp(tcp)) = (&mut connection.link, &port.transport) else {
            return Ok(());
        };
        let granted = DigestTypes::from_raw(digests.raw() & tcp.digests.raw());
        link.framing = Some(Framing { digests: granted, alignment });
        link.r2ts = r2ts_less_1.saturating_add(1);
        link.reader.agree(granted, tcp.alignment);
        link.reader.limit(port.capsule_data.max(ADMIN_CAPSULE_DATA), tcp.most_data);
        let answer = Pdu::InitializeResponse {
            version: 0,
            alignment: tcp.alignment,
            digests: granted,
            most_data: tcp.most_data,
        };
        self.send(id, answer, effects);
        Ok(())
    }

    /// Handles H2CData, the next bytes of an R2T.
    fn take_data(
        &mut self,
        now: Instant,
        id: ConnectionId,
        part: Part,
        intact: bool,
        effects: &mut Vec<Effect>,
    ) -> Result<(), Wrong> {
        let Some(connection) = self.connections.get_mut(&id) else { return Ok(()) };
        let tag = u32::from(part.tag);
        let Some(request) = connection.requests.get_mut(&tag) else {
            return Err(Wrong(FatalError::INVALID_HEADER_FIELD, 10));
        };
        if request.cid != part.cid {
            return Err(Wrong(FatalError::INVALID_HEADER_FIELD, 8));
        }
        let bytes = part.data.len();
        if part.offset != request.next || bytes > request.missing {
            return Err(Wrong(FatalError::OUT_OF_RANGE, 0));
        }
        if part.last != (bytes == request.missing) {
            return Err(Wrong(FatalError::INVALID_HEADER_FIELD, 1));
        }
        request.next += bytes;
        request.missing -= bytes;
        let request = *request;
        if part.last {
            connection.requests.remove(&tag);
        }
        if let Some(pending) = connection.commands.get_mut(&part.cid.0) {
            pending.damaged |= !intact;
            pending.r2ts = pending.r2ts.saturating_sub(u32::from(part.last)); // the R2T may be of an earlier command
        }
        self.brought(now, id, request, (part.offset, part.data), effects);
        Ok(())
    }

    /// Ends a TCP connection with C2HTermReq.
    pub(super) fn terminate(&mut self, id: ConnectionId, fault: Fault, effects: &mut Vec<Effect>) {
        let Fault { status, information, mut header } = fault;
        header.truncate(MOST_TERMINATE_DATA);
        self.send(id, Pdu::Terminate { from_host: false, status, information, header }, effects);
        self.close(id, effects);
    }
    /// Sends a data unit.
    pub(super) fn send(&mut self, id: ConnectionId, pdu: Pdu, effects: &mut Vec<Effect>) {
        let Some(connection) = self.connections.get(&id) else { return };
        let Link::Tcp(link) = &connection.link else { return };
        let mut stream = Stream::new();
        pdu.write(link.framing.unwrap_or_default(), &mut stream);
        if let Some(Effect::Send { connection, stream: before }) = effects.last_mut()
            && *connection == id
        {
            before.append(stream);
        } else {
            effects.push(Effect::Send { connection: id, stream });
        }
    }
}

/// H2CData.
struct Part {
    cid: Cid,
    tag: u16,
    offset: u32,
    last: bool,
    data: Data,
}

/// An error in a data unit: FES and FEI.
struct Wrong(FatalError, u32);

impl Wrong {
    /// The fault of a connection that no longer exists.
    const fn alone(&self) -> Fault {
        Fault { status: self.0, information: self.1, header: Vec::new() }
    }
}
