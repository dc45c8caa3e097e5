//! Control messages between the software of hosts and targets beside I/O: connection requests and their acceptance,
//! changes of the state of Asymmetric Namespace Access (ANA) and the ANA log, shutdown of a controller, and the end
//! of a connection.
//!
//! ```text
//!  host ── Connect ─► target      host ◄─ Event ── target      host ── ReadLog ─► target
//!  host ◄─ Accept ─── target                                   host ◄─── Log ──── target
//!
//!  host ── Shutdown ───► target   host ── ReadStatus ─► target   host ── Disconnect (DREQ), or Finish ──► target
//!  host ◄─ SetProperty ─ target   host ◄─── Status ──── target   host ◄─ Disconnected (DREP), or Finish ─ target
//! ```
//!
//! Connect and Accept use the connection that they make; Disconnect and Disconnected go between the connection
//! managers as datagrams; Finish uses its connection. The others use the first I/O queue of an association instead of
//! its admin queue, for which a simulated network has no connection. All have the sizes of the real messages.

use lanetwin_fabric::roce::logic::packet::Operation;
use lanetwin_nvme::spec::Nsid;
use lanetwin_nvme::spec::command::COMMAND_BYTES;
use lanetwin_nvme::spec::completion::COMPLETION_ENTRY_BYTES;
use lanetwin_nvmeof::logic::host::ana::{AnaLog, Group};
use lanetwin_nvmeof::spec::ana::AnaState;
use lanetwin_ports::WorkRequest;

/// Handles of such messages, which are not followed.
const MESSAGES: u64 = 1 << 35;

/// Bytes of a connection's stream that FIN takes: one sequence number (RFC 9293, §3.4).
const FINISH_BYTES: u32 = 1;
/// A message of the connection manager \[B\]: a management datagram (InfiniBand Architecture Specification, volume 1,
/// §13.4.2, §12.6).
const DATAGRAM_BYTES: u32 = 256;
/// ICReq and ICResp \[B\] (TCP Transport 1.0, §3.6.2.2).
const INITIALIZE_BYTES: u32 = 128;
/// The header of the data unit of a command, of a response, and of data \[B\] (TCP Transport 1.0, §3.6.2).
const COMMAND_UNIT_BYTES: u32 = 8;
const RESPONSE_UNIT_BYTES: u32 = 8;
const DATA_UNIT_BYTES: u32 = 24;

/// Access to namespaces through a controller: the states of Asymmetric Namespace Access (NVM Express Base
/// Specification 2.0, §8.1) by which software chooses paths.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Access {
    /// ANA Optimized state.
    Optimized,
    /// ANA Non-Optimized state: taken where nothing else is left.
    NonOptimized,
    /// ANA Inaccessible state: commands end with an error of the path.
    Inaccessible,
}

/// A message beside I/O.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Control {
    /// A host's request for a connection.
    Connect,
    /// The target has made it, and reaches namespaces so.
    Accept(Access),
    /// Asynchronous Event Request completes: Asymmetric Namespace Access Change.
    Event,
    /// Get Log Page, Asymmetric Namespace Access.
    ReadLog,
    /// The log.
    Log(Vec<u8>),
    /// Property Set: CC.SHN.
    Shutdown,
    /// The response to it.
    SetProperty,
    /// Property Get: CSTS.
    ReadStatus,
    /// The response to it: CSTS.SHST is complete.
    Status,
    /// DREQ: the connection with this end at the target is to end.
    Disconnect(u32),
    /// DREP: it has ended.
    Disconnected(u32),
    /// By TCP: FIN.
    Finish,
}

impl Control {
    /// The ANA log with this state for all namespaces of a subsystem.
    pub(crate) fn log(access: Access, namespaces: u32, changes: u64) -> Self {
        let state = match access {
            Access::Optimized => AnaState::OPTIMIZED,
            Access::NonOptimized => AnaState::NON_OPTIMIZED,
            Access::Inaccessible => AnaState::INACCESSIBLE,
        };
        let namespaces = (1..=namespaces).map(Nsid).collect();
        Self::Log(
            AnaLog { changes, groups: vec![Group { number: 1, state, changes, namespaces }] }.to_bytes(),
        )
    }
    /// The state of a namespace in an ANA log. Returns `None` if the log does not name it or is invalid.
    pub(crate) fn access(log: &[u8], nsid: u32) -> Option<Access> {
        Some(match AnaLog::read(log).ok()?.state(Nsid(nsid))? {
            AnaState::OPTIMIZED => Access::Optimized,
            AnaState::NON_OPTIMIZED => Access::NonOptimized,
            _ => Access::Inaccessible,
        })
    }

    /// Its length by RDMA \[B\].
    fn by_rdma(&self) -> u32 {
        match self {
            Self::Connect | Self::Accept(_) | Self::Disconnect(_) | Self::Disconnected(_) => DATAGRAM_BYTES,
            Self::Event | Self::SetProperty | Self::Status => COMPLETION_ENTRY_BYTES,
            Self::ReadLog | Self::Shutdown | Self::ReadStatus => COMMAND_BYTES,
            Self::Finish => 0,
            Self::Log(log) => log.len() as u32 + COMPLETION_ENTRY_BYTES,
        }
    }
    /// Its length by TCP \[B\].
    pub(crate) fn by_tcp(&self) -> u64 {
        u64::from(match self {
            Self::Connect | Self::Accept(_) => INITIALIZE_BYTES,
            Self::Event | Self::SetProperty | Self::Status => RESPONSE_UNIT_BYTES + COMPLETION_ENTRY_BYTES,
            Self::ReadLog | Self::Shutdown | Self::ReadStatus => COMMAND_UNIT_BYTES + COMMAND_BYTES,
            Self::Disconnect(_) | Self::Disconnected(_) => 0,
            Self::Finish => FINISH_BYTES,
            Self::Log(log) => {
                DATA_UNIT_BYTES + log.len() as u32 + RESPONSE_UNIT_BYTES + COMPLETION_ENTRY_BYTES
            }
        })
    }
    /// The SEND of it.
    pub(crate) fn work(&self) -> WorkRequest {
        WorkRequest {
            id: 0,
            operation: Operation::Send { invalidate: false },
            bytes: self.by_rdma(),
            local: MESSAGES,
            remote: 0,
            signalled: false,
            inline: false,
            registers: 0,
            content: Some(self.to_bytes()[..].into()),
        }
    }
    fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Connect => vec![0xf0],
            Self::Accept(access) => vec![0xf1, *access as u8],
            Self::Event => vec![0xf2],
            Self::ReadLog => vec![0xf3],
            Self::Log(log) => [&[0xf4][..], log].concat(),
            Self::Shutdown => vec![0xf5],
            Self::SetProperty => vec![0xf6],
            Self::ReadStatus => vec![0xf7],
            Self::Status => vec![0xf8],
            Self::Disconnect(of) => [&[0xf9][..], &of.to_le_bytes()].concat(),
            Self::Disconnected(of) => [&[0xfa][..], &of.to_le_bytes()].concat(),
            Self::Finish => vec![0xfb],
        }
    }
    /// The message with this content. Returns `None` for a capsule.
    pub(crate) fn of(content: &[u8]) -> Option<Self> {
        // no response of 16 B is taken for one, and no command begins like this: its opcode would be a vendor's
        if content.len() as u32 == COMPLETION_ENTRY_BYTES {
            return None;
        }
        Some(match content {
            [0xf0] => Self::Connect,
            [0xf1, access] => Self::Accept(match access {
                0 => Access::Optimized,
                1 => Access::NonOptimized,
                _ => Access::Inaccessible,
            }),
            [0xf2] => Self::Event,
            [0xf3] => Self::ReadLog,
            [0xf4, log @ ..] => Self::Log(log.to_vec()),
            [0xf5] => Self::Shutdown,
            [0xf6] => Self::SetProperty,
            [0xf7] => Self::ReadStatus,
            [0xf8] => Self::Status,
            [0xf9, of @ ..] => Self::Disconnect(u32::from_le_bytes(of.try_into().ok()?)),
            [0xfa, of @ ..] => Self::Disconnected(u32::from_le_bytes(of.try_into().ok()?)),
            [0xfb] => Self::Finish,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Access; 3] = [Access::Optimized, Access::NonOptimized, Access::Inaccessible];

    #[test]
    fn messages_are_what_they_were_made_of_and_no_capsules() {
        let accepts = ALL.map(Control::Accept);
        let logs = [1, 2, 3, 5].map(|namespaces| Control::log(Access::Optimized, namespaces, 1));
        let others = [Control::Connect, Control::Event, Control::ReadLog];
        let ends = [Control::Shutdown, Control::SetProperty, Control::ReadStatus, Control::Status];
        let last = [Control::Disconnect(7), Control::Disconnected(1 << 20), Control::Finish];
        for control in accepts.into_iter().chain(logs).chain(others).chain(ends).chain(last) {
            let work = control.work();
            assert_eq!(Control::of(&work.content.expect("it says what it is")), Some(control));
        }
        assert_eq!(Control::of(&[0xf2; 16]), None);
        assert_eq!([16, 64, 80].map(|bytes| Control::of(&vec![9; bytes])), [None, None, None]);
    }

    #[test]
    fn a_log_says_how_each_namespace_is_reached() {
        for access in ALL {
            let Control::Log(log) = Control::log(access, 2, 7) else { panic!("a log") };
            assert_eq!([1, 2, 3].map(|nsid| Control::access(&log, nsid)), [Some(access), Some(access), None]);
            assert_eq!(log.len(), 16 + 32 + 2 * 4);
        }
        assert_eq!(Control::access(&[1, 2], 1), None);
    }
}
