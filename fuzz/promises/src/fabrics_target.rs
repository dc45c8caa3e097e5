//! A target: whatever hosts send and controllers answer, by TCP and RDMA, nothing panics, and what a controller asks
//! for is reported once.

use crate::input::{All, Piece};
use arbitrary::{Arbitrary, Result, Unstructured};
use lanetwin_nvme::logic::subsystem::CommandInfo;
use lanetwin_nvme::logic::{Direction, HostEffect, Place, Token};
use lanetwin_nvme::spec::{Cid, Command, CompletionEntry, ControllerId, SqId};
use lanetwin_nvmeof::logic::Data;
use lanetwin_nvmeof::logic::target::{
    Asked, ConnectionId, Effect, OfferedSubsystem, PortConfig, RdmaConfig, SubsystemId, Target, TargetConfig,
    TcpConfig, Transport,
};
use lanetwin_nvmeof::logic::tcp::{Pdu, Stream};
use lanetwin_nvmeof::spec::discovery::AddressFamily;
use lanetwin_nvmeof::spec::fabrics::{ConnectData, FABRICS_OPCODE, name_field};
use lanetwin_nvmeof::spec::rdma::RequestPrivateData;
use lanetwin_nvmeof::spec::tcp::DigestTypes;
use lanetwin_units::Instant;
use std::collections::BTreeSet;

const NQN: &str = "nqn.2026-01.test:one";

/// What happens next.
#[derive(Debug)]
enum Step {
    Accept(u8),
    Request(u8, u16, u16),
    Initialize(u8, u8, u8),
    Bytes(u8, Piece),
    Capsule(u8, [u8; 32], u16, bool),
    Connect(u8, u16, u16, bool),
    Data(u8, u16, u16, u32, bool, u16),
    Transfer(u8, u16, bool, u16, u16, bool),
    Complete(u8, u16, u16),
    ReadDone(u8, u8, u16),
    Lost(u8),
    Wake(u32),
}

impl<'a> Arbitrary<'a> for Step {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let to = u8::arbitrary(u)?;
        Ok(match u.int_in_range(0..=11)? {
            0 => Self::Accept(to),
            1 => Self::Request(to, u.arbitrary()?, u.arbitrary()?),
            2 => Self::Initialize(to, u.arbitrary()?, u.arbitrary()?),
            3 => Self::Bytes(to, u.arbitrary()?),
            4 => Self::Capsule(to, u.arbitrary()?, u.arbitrary()?, u.arbitrary()?),
            5 => Self::Connect(to, u.arbitrary()?, u.arbitrary()?, u.arbitrary()?),
            6 => {
                let (cid, tag, offset) = u.arbitrary()?;
                Self::Data(to, cid, tag, offset, u.arbitrary()?, u.arbitrary()?)
            }
            7 => {
                let (cid, reads, offset) = u.arbitrary()?;
                Self::Transfer(to, cid, reads, offset, u.arbitrary()?, u.arbitrary()?)
            }
            8 => Self::Complete(to, u.arbitrary()?, u.arbitrary()?),
            9 => Self::ReadDone(to, u.arbitrary()?, u.arbitrary()?),
            10 => Self::Lost(to),
            _ => Self::Wake(u.arbitrary()?),
        })
    }
}

fn config() -> TargetConfig {
    let port = |number, transport| PortConfig {
        number,
        transport,
        family: AddressFamily::IPV4,
        address: "192.0.2.1".into(),
        service: "4420".into(),
        capsule_data: 1024,
    };
    let tcp = TcpConfig { r2t_bytes: Some(512), ..TcpConfig::default() };
    TargetConfig {
        subsystems: vec![OfferedSubsystem { nqn: NQN.into(), hosts: None }],
        ports: vec![port(1, Transport::Tcp(tcp)), port(2, Transport::Rdma(RdmaConfig::default()))],
        referrals: vec![],
    }
}
fn unit(pdu: Pdu) -> Stream {
    let mut stream = Stream::new();
    pdu.write(Default::default(), &mut stream);
    stream
}
fn connect(queue: u16, controller: u16, discovery: bool) -> (Command, Data) {
    let mut bytes = [0; 64];
    (bytes[0], bytes[4]) = (FABRICS_OPCODE, 1);
    bytes[2..4].copy_from_slice(&queue.to_le_bytes());
    bytes[32..36].copy_from_slice(&1024_u32.to_le_bytes());
    bytes[39] = 1;
    bytes[42..44].copy_from_slice(&(queue & 7).to_le_bytes());
    bytes[44] = 31;
    let mut data = ConnectData::ZERO;
    data.set_controller(controller);
    let nqn = if discovery { "nqn.2014-08.org.nvmexpress.discovery" } else { NQN };
    data.set_subsystem(name_field(nqn));
    data.set_host(name_field("host"));
    (Command::from_bytes(bytes), Data::from(data.as_bytes().to_vec()))
}

/// Takes what the target wants: queues are granted, and tokens come back once.
fn carry_out(target: &mut Target, effects: &mut Vec<Effect>, waiting: &mut BTreeSet<u64>) {
    while !effects.is_empty() {
        for effect in core::mem::take(effects) {
            match effect {
                Effect::Connect { connection, subsystem, .. } => {
                    target.connected(connection, subsystem, Ok(ControllerId(1)), effects);
                }
                Effect::GetProperty { connection, cid, .. } => {
                    target.property(connection, cid, Ok(1), effects)
                }
                Effect::SetProperty { connection, cid, .. } => {
                    target.property(connection, cid, Ok(0), effects)
                }
                Effect::Bring { token, .. } | Effect::Done { token, .. } | Effect::Failed { token, .. } => {
                    assert!(waiting.remove(&token.to_raw()), "it is reported once");
                }
                _ => {}
            }
        }
    }
}

crate::input::promise!(|steps: All<Step>| {
    let mut target = Target::new(config()).expect("a target");
    let (mut effects, mut waiting, mut tokens) = (Vec::new(), BTreeSet::new(), 0_u64);
    let mut now = Instant::ZERO;
    for step in steps.0 {
        let of = |connection: u8| ConnectionId(u32::from(connection & 3));
        match step {
            // connections 0 and 1 are TCP, 2 and 3 RDMA; one that is there is not opened again
            Step::Accept(to) => {
                target.lost(ConnectionId(u32::from(to & 1)), &mut effects);
                target.accept(ConnectionId(u32::from(to & 1)), 0);
            }
            Step::Request(to, queue, entries) => {
                let to = ConnectionId(2 + u32::from(to & 1));
                target.lost(to, &mut effects);
                let mut private = RequestPrivateData::ZERO;
                private.set_queue(queue & 7);
                private.set_receive_entries(entries);
                private.set_send_entries_less_1(entries);
                target.request(to, 1, private.as_bytes(), &mut effects);
            }
            Step::Initialize(to, alignment, digests) => {
                let digests = DigestTypes::from_raw(digests & 3);
                let pdu = Pdu::InitializeRequest { version: 0, alignment, digests, r2ts_less_1: 1 };
                target.receive(now, of(to), unit(pdu), &mut effects);
            }
            Step::Bytes(to, Piece(bytes)) => target.receive(now, of(to), Stream::from(bytes), &mut effects),
            Step::Capsule(to, half, data, blank) => {
                let mut bytes = [0; 64];
                bytes[..32].copy_from_slice(&half);
                bytes[32..].copy_from_slice(&half);
                let data = usize::from(data & 2047);
                let data = if blank { Data::Length(data as u32) } else { Data::from(vec![1; data]) };
                let command = Command::from_bytes(bytes);
                let pdu = Pdu::Command { command, data: data.clone() };
                target.receive(now, of(to), unit(pdu), &mut effects);
                target.capsule(now, of(to), (command, data), &mut effects);
            }
            Step::Connect(to, queue, controller, discovery) => {
                let (command, data) = connect(queue, controller, discovery);
                let pdu = Pdu::Command { command, data: data.clone() };
                target.receive(now, of(to), unit(pdu), &mut effects);
                target.capsule(now, of(to), (command, data), &mut effects);
            }
            Step::Data(to, cid, tag, offset, last, bytes) => {
                let data = vec![1; usize::from(bytes & 1023) + 1].into();
                let pdu = Pdu::DataToController { cid: Cid(cid), tag, offset, last, data };
                target.receive(now, of(to), unit(pdu), &mut effects);
            }
            Step::Transfer(queue, cid, reads, offset, bytes, keyed) => {
                tokens += 1;
                waiting.insert(tokens);
                let direction = if reads { Direction::ToHost } else { Direction::FromHost };
                let (offset, bytes) = (u32::from(offset), u32::from(bytes) + 1);
                let at = match keyed {
                    true => Place::Keyed { address: offset.into(), key: 1 },
                    false => Place::Transport { offset },
                };
                let effect = HostEffect::Transfer { token: Token::from_raw(tokens), direction, bytes, at };
                let sqid = SqId(u16::from(queue & 7));
                let command = CommandInfo { controller: ControllerId(1), sqid, cid: Cid(cid), opcode: 2 };
                let asked = Asked { effect, command: Some(command), data: Data::NONE };
                target.perform(now, SubsystemId(0), asked, &mut effects);
            }
            Step::Complete(queue, cid, status) => {
                let queue = SqId(u16::from(queue & 7));
                let raw = u128::from(cid) << 96 | u128::from(status) << 113;
                let entry = CompletionEntry::from_raw(raw);
                let effect = HostEffect::Respond { controller: ControllerId(1), queue, entry };
                let asked = Asked { effect, command: None, data: Data::NONE };
                target.perform(now, SubsystemId(0), asked, &mut effects);
            }
            Step::ReadDone(to, operation, bytes) => {
                let data = Data::Length(u32::from(bytes) + 1);
                target.read_done(now, of(to), operation.into(), data, &mut effects);
            }
            Step::Lost(to) => target.lost(of(to), &mut effects),
            Step::Wake(ps) => {
                now = Instant::from_ps(now.as_ps() + u64::from(ps) * 1_000_000);
                target.wake(now, &mut effects);
            }
        }
        carry_out(&mut target, &mut effects, &mut waiting);
    }
    // when every connection is gone, nothing waits any more
    (0..4).for_each(|id| target.lost(ConnectionId(id), &mut effects));
    carry_out(&mut target, &mut effects, &mut waiting);
    assert!(waiting.is_empty(), "{waiting:?} are never reported");
});
