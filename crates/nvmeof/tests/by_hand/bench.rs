//! A target that a test drives, over a connection whose far side reads what comes.

use lanetwin_nvme::logic::host::commands;
use lanetwin_nvme::logic::subsystem::CommandInfo;
use lanetwin_nvme::logic::{Direction, HostEffect, Place, Token};
use lanetwin_nvme::spec::pointer::SglDescriptor;
use lanetwin_nvme::spec::{
    Cid, Command, CommandDword0, CompletionEntry, ControllerId, DataTransfer, IoOpcode, Nsid, SqId, Status,
};
use lanetwin_nvmeof::logic::Data;
use lanetwin_nvmeof::logic::target::{
    Asked, ConnectionId, Effect, OfferedSubsystem, PortConfig, RdmaConfig, SubsystemId, Target, TargetConfig,
    TcpConfig, Transport,
};
use lanetwin_nvmeof::logic::tcp::{Framing, Pdu, Reader, Side, Stream};
use lanetwin_nvmeof::spec::discovery::AddressFamily;
use lanetwin_nvmeof::spec::fabrics::{
    Connect, ConnectAttributes, ConnectData, FabricsType, Property, name_field,
};
use lanetwin_nvmeof::spec::tcp::DigestTypes;
use lanetwin_units::Instant;
use std::collections::BTreeMap;

pub const NQN: &str = "nqn.2026-01.test:one";
pub const HOST: &str = "nqn.2026-01.test:host";
pub const ADMIN: ConnectionId = ConnectionId(1);
pub const IO: ConnectionId = ConnectionId(2);
pub const CONTROLLER: ControllerId = ControllerId(5);
/// Port 0 is TCP, port 1 RDMA.
pub const RDMA: usize = 1;

pub fn port(number: u16, transport: Transport) -> PortConfig {
    PortConfig {
        number,
        transport,
        family: AddressFamily::IPV4,
        address: "192.0.2.1".into(),
        service: "4420".into(),
        capsule_data: 4096,
    }
}
pub fn config(tcp: TcpConfig) -> TargetConfig {
    let offered = |nqn: &str, hosts| OfferedSubsystem { nqn: nqn.into(), hosts };
    TargetConfig {
        subsystems: vec![offered(NQN, None), offered("nqn.2026-01.test:two", Some(vec!["somebody".into()]))],
        ports: vec![port(1, Transport::Tcp(tcp)), port(2, Transport::Rdma(RdmaConfig::default()))],
        referrals: vec![],
    }
}

pub struct Bench {
    pub target: Target,
    readers: BTreeMap<ConnectionId, Reader>,
    pub framing: Framing,
}

/// What the target has done: data units, and everything else.
pub type Outcome = (Vec<Pdu>, Vec<Effect>);

impl Bench {
    pub fn new(tcp: TcpConfig) -> Self {
        Self {
            target: Target::new(config(tcp)).expect("a target"),
            readers: BTreeMap::new(),
            framing: Framing::default(),
        }
    }
    /// Takes effects apart.
    pub fn take(&mut self, effects: Vec<Effect>) -> Outcome {
        let (mut units, mut others) = (Vec::new(), Vec::new());
        for effect in effects {
            let Effect::Send { connection, stream } = effect else {
                others.push(effect);
                continue;
            };
            let reader = self.readers.entry(connection).or_insert_with(|| Reader::new(Side::Host));
            reader.push(stream);
            while let Some(read) = reader.read() {
                units.push(read.expect("a data unit").pdu);
            }
        }
        (units, others)
    }
    pub fn bytes(&mut self, connection: ConnectionId, stream: Stream) -> Outcome {
        let mut effects = Vec::new();
        self.target.receive(Instant::ZERO, connection, stream, &mut effects);
        self.take(effects)
    }
    pub fn send(&mut self, connection: ConnectionId, pdu: Pdu) -> Outcome {
        let mut stream = Stream::new();
        pdu.write(self.framing, &mut stream);
        self.bytes(connection, stream)
    }
    pub fn capsule(&mut self, connection: ConnectionId, command: Command, data: impl Into<Data>) -> Outcome {
        self.send(connection, Pdu::Command { command, data: data.into() })
    }
    /// A TCP connection with these digests; HPDA 0, MAXR2T of `r2ts`.
    pub fn initialize(&mut self, connection: ConnectionId, digests: u8, r2ts: u32) {
        self.target.accept(connection, 0);
        let (units, _) = self.send(connection, ic_req(0, 0, digests, r2ts - 1));
        let [Pdu::InitializeResponse { version: 0, alignment, digests, .. }] = units[..] else {
            panic!("{units:?}")
        };
        self.framing = Framing { digests, alignment };
        self.readers.get_mut(&connection).expect("it has sent").agree(digests, 0);
    }
    /// What a test answers for the controllers.
    pub fn answer(&mut self, act: impl FnOnce(&mut Target, &mut Vec<Effect>)) -> Outcome {
        let mut effects = Vec::new();
        act(&mut self.target, &mut effects);
        self.take(effects)
    }
    /// An admin queue and an I/O queue of 8, both connected.
    pub fn connected(tcp: TcpConfig, digests: u8, r2ts: u32, flow_control: bool) -> Self {
        let mut bench = Self::new(tcp);
        for (connection, queue) in [(ADMIN, 0), (IO, 1)] {
            bench.initialize(connection, digests, r2ts);
            let mut connect = connect(queue);
            connect.set_attributes(ConnectAttributes::from_raw(u8::from(!flow_control) << 2));
            let controller = if queue == 0 { 0xffff } else { CONTROLLER.0 };
            let (units, effects) = bench.connect(connection, connect, connect_data(controller));
            assert!(matches!(effects[..], [Effect::Connect { .. }]), "{units:?} {effects:?}");
            let (units, _) = bench.answer(|target, effects| {
                target.connected(connection, SubsystemId(0), Ok(CONTROLLER), effects);
            });
            let [Pdu::Response { entry }] = units[..] else { panic!("{units:?}") };
            assert_eq!((entry.status(), entry.dw0()), (Status::SUCCESS, CONTROLLER.0.into()));
            assert_eq!(entry.sq_head(), if flow_control { 1 } else { 0xffff });
        }
        bench
    }
    pub fn connect(&mut self, connection: ConnectionId, connect: Connect, data: ConnectData) -> Outcome {
        let command = with_data(Command::from_bytes(*connect.as_bytes()), SglDescriptor::in_capsule(0, 1024));
        self.capsule(connection, command, data.as_bytes().to_vec())
    }
    /// The controller asks for something of a command of the I/O queue.
    pub fn perform(&mut self, cid: u16, effect: HostEffect, data: impl Into<Data>) -> Outcome {
        let info =
            CommandInfo { controller: CONTROLLER, sqid: SqId(1), cid: Cid(cid), opcode: IoOpcode::READ.0 };
        let asked = Asked { effect, command: Some(info), data: data.into() };
        self.answer(|target, effects| target.perform(Instant::ZERO, SubsystemId(0), asked, effects))
    }
    /// It wants so many bytes of the host, from an offset on.
    pub fn wants(&mut self, cid: u16, offset: u32, bytes: u32) -> Outcome {
        let (token, at) = (token(offset.into()), Place::Transport { offset });
        self.perform(cid, HostEffect::Transfer { token, direction: Direction::FromHost, bytes, at }, vec![])
    }
    /// It gives the host these bytes.
    pub fn gives(&mut self, cid: u16, offset: u32, data: Vec<u8>) -> Outcome {
        let (token, at, bytes) = (token(offset.into()), Place::Transport { offset }, data.len() as u32);
        self.perform(cid, HostEffect::Transfer { token, direction: Direction::ToHost, bytes, at }, data)
    }
    /// It completes a command, having consumed so many entries.
    pub fn completes(&mut self, queue: u16, cid: u16, head: u16, status: Status) -> Outcome {
        let built = || {
            CompletionEntry::ZERO
                .with_cid_number(cid)?
                .with_sq_number(queue)?
                .with_sq_head(head)?
                .with_status(status)
        };
        let entry = built().expect("values of their width");
        let effect = HostEffect::Respond { controller: CONTROLLER, queue: SqId(queue), entry };
        self.perform(cid, effect, vec![])
    }
}

/// A token with a number of the test's.
pub fn token(number: u64) -> Token {
    Token::from_raw(number)
}
pub fn ic_req(version: u16, alignment: u8, digests: u8, r2ts_less_1: u32) -> Pdu {
    Pdu::InitializeRequest { version, alignment, digests: DigestTypes::from_raw(digests), r2ts_less_1 }
}
/// Connect of a queue of 8, with CID 1000.
pub fn connect(queue: u16) -> Connect {
    let mut connect = Connect::ZERO;
    connect.set_opcode(0x7f);
    connect.set_cid_number(1000);
    connect.set_kind(FabricsType::CONNECT);
    connect.set_queue(queue);
    connect.set_entries_less_1(7);
    connect
}
pub fn connect_data(controller: u16) -> ConnectData {
    let mut data = ConnectData::ZERO;
    data.set_host_id([9; 16]);
    data.set_controller(controller);
    data.set_subsystem(name_field(NQN));
    data.set_host(name_field(HOST));
    data
}
/// A command of another kind of the Fabrics opcode.
pub fn fabrics(kind: FabricsType, cid: u16) -> Command {
    let mut property = Property::ZERO;
    property.set_opcode(0x7f);
    property.set_kind(kind);
    property.set_cid_number(cid);
    Command::from_bytes(*property.as_bytes())
}
pub fn with_data(mut command: Command, descriptor: SglDescriptor) -> Command {
    let (low, high) = descriptor.to_halves();
    command.set_prp1(low);
    command.set_prp2(high);
    command
}
fn with_cid(mut command: Command, cid: u16) -> Command {
    let dword0 = CommandDword0::from_raw(command.dword0().raw() & 0xff | u32::from(cid) << 16);
    command.set_dword0(dword0.with_data_transfer(DataTransfer::SGL).expect("two bits"));
    command
}
pub fn read(cid: u16, bytes: u32) -> Command {
    with_data(with_cid(commands::read(Nsid(1), 0, bytes / 512), cid), SglDescriptor::by_transport(bytes))
}
pub fn write(cid: u16, bytes: u32) -> Command {
    with_data(with_cid(commands::write(Nsid(1), 0, bytes / 512), cid), SglDescriptor::by_transport(bytes))
}
/// The only response among data units.
pub fn response(units: &[Pdu]) -> CompletionEntry {
    let [Pdu::Response { entry }] = units else { panic!("{units:?} is not one response") };
    *entry
}
