//! Controller initialization by a driver, from reset to I/O queues (Base 2.0 §3.5.1).
//!
//! ```text
//!  CAP ─► CC.EN = 0 ─► CSTS.RDY = 0 ─► AQA, ASQ, ACQ ─► CC ─► CSTS.RDY = 1
//!      ─► Identify Controller ─► active namespaces ─► Identify Namespace, each
//!      ─► Number of Queues ─► features ─► doorbell buffers ─► Create CQ, Create SQ, each
//! ```
//!
//! [`Bringup::next`] takes the answer to the last [`Action`] and returns the next. The caller has the registers, the
//! admin [`QueuePair`](super::QueuePair) and the memory.

use super::commands;
use crate::spec::admin::{IdentifyStructure, QueuePriority};
use crate::spec::feature::{Arbitration, Feature, InterruptCoalescing, NumberOfQueues};
use crate::spec::identify::{IDENTIFY_BYTES, IdentifyController, IdentifyNamespace, LBA_FORMATS_OFFSET};
use crate::spec::registers::{
    ACQ, AQA, ASQ, ArbitrationMechanism, CAP, CC, CSTS, Capabilities, Configuration, ControllerStatus,
};
use crate::spec::{AdminOpcode, Command, CqId, Nsid, SqId, Status};
use core::fmt;

/// An I/O queue pair to be created. The number of both queues is their position in the list, from 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IoQueue {
    /// Number of entries of each queue.
    pub entries: u32,
    /// Address of the submission queue.
    pub sq_address: u64,
    /// Address of the completion queue.
    pub cq_address: u64,
    /// Interrupt vector; `None` if the queue is polled.
    pub vector: Option<u16>,
    /// Priority under weighted round robin.
    pub priority: QueuePriority,
}

/// Configuration of a controller by its host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BringupConfig {
    /// Number of entries of each admin queue, 2 to 4096.
    pub admin_entries: u32,
    /// Address of the admin submission queue, a multiple of 4096.
    pub admin_sq_address: u64,
    /// Address of the admin completion queue, a multiple of 4096.
    pub admin_cq_address: u64,
    /// Address of 4096 B of memory for Identify data, a multiple of 4096.
    pub buffer: u64,
    /// Memory page size \[log2 of bytes\], 12 or more.
    pub page_log2: u8,
    /// I/O queue pairs.
    pub queues: Vec<IoQueue>,
    /// Weights of weighted round robin; `None` for round robin.
    pub weighted: Option<Arbitration>,
    /// Interrupt coalescing.
    pub coalescing: Option<InterruptCoalescing>,
    /// Addresses of the shadow doorbells and of EventIdx, one page each.
    pub doorbell_buffers: Option<(u64, u64)>,
}

/// Next action of a driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Read a dword of the registers; the answer is [`Answer::Register`].
    Read {
        /// Offset of the register.
        offset: u32,
    },
    /// Write a dword of the registers; the answer is [`Answer::Done`].
    Write {
        /// Offset of the register.
        offset: u32,
        /// Value to write.
        value: u32,
    },
    /// Submit an admin command, and wait for it; the answer is [`Answer::Completed`].
    Submit {
        /// The command.
        command: Command,
    },
    /// The controller is ready, and the queues are created.
    Ready,
}

/// The answer to an [`Action`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer<'a> {
    /// There was no action before.
    Start,
    /// The dword read.
    Register(u32),
    /// The dword has been written.
    Done,
    /// Result of the command, and content of the buffer; Identify needs all 4096 B of it.
    Completed {
        /// Its status.
        status: Status,
        /// Dword 0 of its completion.
        dw0: u32,
        /// The buffer, from its beginning.
        buffer: &'a [u8],
    },
}

/// A namespace that a driver has found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FoundNamespace {
    /// Its number.
    pub nsid: Nsid,
    /// Number of blocks.
    pub blocks: u64,
    /// Block size \[log2 of bytes\].
    pub block_log2: u8,
}

/// Information that a driver has read from the controller.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Found {
    /// CAP.
    pub capabilities: u64,
    /// Maximum transfer size \[B\]; `None` for no limit.
    pub longest_transfer: Option<u64>,
    /// Controller ID.
    pub controller: u16,
    /// Its active namespaces.
    pub namespaces: Vec<FoundNamespace>,
}

/// Reason why a controller could not be initialized.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BringupFault {
    /// CSTS.CFS is set.
    Fatal,
    /// The controller does not support the configuration.
    Unsupported(&'static str),
    /// An admin command has failed.
    Refused {
        /// Its opcode.
        opcode: AdminOpcode,
        /// Its status.
        status: Status,
    },
    /// The answer does not match the last action, or is too short.
    WrongAnswer,
}

impl fmt::Display for BringupFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fatal => f.write_str("the controller has failed (CSTS.CFS)"),
            Self::Unsupported(what) => write!(f, "the controller does not have {what}"),
            Self::Refused { opcode, status } => write!(f, "{opcode} ended with {status}"),
            Self::WrongAnswer => f.write_str("the answer does not belong to the last action"),
        }
    }
}
impl core::error::Error for BringupFault {}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Step {
    CapLow,
    CapHigh,
    Disable,
    WaitDisabled,
    /// Admin queue registers, by number.
    AdminQueue(usize),
    Enable,
    WaitEnabled,
    Identify,
    ListNamespaces,
    IdentifyNamespace(usize),
    NumberOfQueues,
    Coalescing,
    Weights,
    DoorbellBuffers,
    CreateCq(usize),
    CreateSq(usize),
    Ready,
}

/// The initialization of a controller.
#[derive(Clone, Debug)]
pub struct Bringup {
    config: BringupConfig,
    step: Step,
    found: Found,
}

impl Bringup {
    /// An initialization that has not started.
    #[must_use]
    pub fn new(config: BringupConfig) -> Self {
        Self { config, step: Step::CapLow, found: Found::default() }
    }
    /// Information read so far.
    #[must_use]
    pub const fn found(&self) -> &Found {
        &self.found
    }

    /// Takes the answer to the last action, [`Answer::Start`] at first, and returns the next action. Status registers
    /// are polled; the caller decides how often and for how long.
    ///
    /// # Errors
    /// The reason why initialization failed.
    pub fn next(&mut self, answer: Answer<'_>) -> Result<Action, BringupFault> {
        if answer != Answer::Start {
            self.step = self.follow(answer)?;
        }
        Ok(self.action())
    }

    /// The step after this one, according to the answer.
    fn follow(&mut self, answer: Answer<'_>) -> Result<Step, BringupFault> {
        match (self.step, answer) {
            (Step::CapLow, Answer::Register(value)) => {
                self.found.capabilities = value.into();
                Ok(Step::CapHigh)
            }
            (Step::CapHigh, Answer::Register(value)) => {
                self.found.capabilities |= u64::from(value) << 32;
                self.check_capabilities()?;
                Ok(Step::Disable)
            }
            (Step::Disable, Answer::Done) => Ok(Step::WaitDisabled),
            (Step::WaitDisabled, Answer::Register(value)) => {
                let ready = ControllerStatus::from_raw(value).ready();
                Ok(if ready { Step::WaitDisabled } else { Step::AdminQueue(0) })
            }
            (Step::AdminQueue(register), Answer::Done) => {
                Ok(if register < 4 { Step::AdminQueue(register + 1) } else { Step::Enable })
            }
            (Step::Enable, Answer::Done) => Ok(Step::WaitEnabled),
            (Step::WaitEnabled, Answer::Register(value)) => {
                let status = ControllerStatus::from_raw(value);
                if status.fatal() {
                    return Err(BringupFault::Fatal);
                }
                Ok(if status.ready() { Step::Identify } else { Step::WaitEnabled })
            }
            (step, Answer::Completed { status, dw0, buffer }) => {
                if !status.is_success() {
                    return Err(BringupFault::Refused { opcode: self.opcode(), status });
                }
                self.completed(step, dw0, buffer)
            }
            _ => Err(BringupFault::WrongAnswer),
        }
    }
    fn check_capabilities(&self) -> Result<(), BringupFault> {
        let capabilities = Capabilities::from_raw(self.found.capabilities);
        let page = self.config.page_log2.wrapping_sub(12);
        if page < capabilities.least_page() || page > capabilities.largest_page() {
            return Err(BringupFault::Unsupported("memory pages of this size (CAP.MPSMIN, CAP.MPSMAX)"));
        }
        if self.config.weighted.is_some() && !capabilities.weighted_round_robin() {
            return Err(BringupFault::Unsupported("weighted round robin (CAP.AMS)"));
        }
        let longest = u32::from(capabilities.queue_entries_less_1()) + 1;
        if self.config.queues.iter().any(|queue| queue.entries > longest) {
            return Err(BringupFault::Unsupported("queues of so many entries (CAP.MQES)"));
        }
        Ok(())
    }
    fn completed(&mut self, step: Step, dw0: u32, buffer: &[u8]) -> Result<Step, BringupFault> {
        match step {
            Step::Identify => {
                let told = IdentifyController::from_bytes(*page(buffer)?);
                let least = 4096 << Capabilities::from_raw(self.found.capabilities).least_page();
                self.found.longest_transfer = match told.transfer_log2() {
                    0 => None,
                    log2 => 1_u64.checked_shl(log2.into()).map(|pages| pages * least),
                };
                self.found.controller = told.controller();
                Ok(Step::ListNamespaces)
            }
            Step::ListNamespaces => {
                let ids = page(buffer)?.as_chunks::<4>().0.iter().map(|id| u32::from_le_bytes(*id));
                let found = ids.take_while(|&id| id != 0);
                self.found.namespaces =
                    found.map(|id| FoundNamespace { nsid: Nsid(id), blocks: 0, block_log2: 0 }).collect();
                Ok(self.namespace_or_queues(0))
            }
            Step::IdentifyNamespace(at) => {
                let told = IdentifyNamespace::from_bytes(*page(buffer)?);
                let size = told.formatted_size();
                let format = usize::from(size.format_low() | size.format_high() << 4);
                let namespace = &mut self.found.namespaces[at];
                namespace.blocks = told.size();
                namespace.block_log2 = told.as_bytes()[LBA_FORMATS_OFFSET + 4 * format + 2];
                Ok(self.namespace_or_queues(at + 1))
            }
            Step::NumberOfQueues => {
                let granted = NumberOfQueues::from_raw(dw0);
                let both = granted.submission_less_1().min(granted.completion_less_1());
                if usize::from(both) + 1 < self.config.queues.len() {
                    return Err(BringupFault::Unsupported("so many I/O queues"));
                }
                Ok(self.first_wanted(&[Step::Coalescing, Step::Weights, Step::DoorbellBuffers]))
            }
            Step::Coalescing => Ok(self.first_wanted(&[Step::Weights, Step::DoorbellBuffers])),
            Step::Weights => Ok(self.first_wanted(&[Step::DoorbellBuffers])),
            Step::DoorbellBuffers => Ok(self.first_wanted(&[])),
            Step::CreateCq(queue) => Ok(Step::CreateSq(queue)),
            Step::CreateSq(queue) if queue + 1 < self.config.queues.len() => Ok(Step::CreateCq(queue + 1)),
            Step::CreateSq(_) => Ok(Step::Ready),
            _ => Err(BringupFault::WrongAnswer),
        }
    }
    fn namespace_or_queues(&self, at: usize) -> Step {
        if at < self.found.namespaces.len() {
            Step::IdentifyNamespace(at)
        } else if self.config.queues.is_empty() {
            Step::Ready
        } else {
            Step::NumberOfQueues
        }
    }
    /// The first of these steps that the configuration includes; otherwise that of the first queue.
    fn first_wanted(&self, steps: &[Step]) -> Step {
        let wanted = |step: &&Step| match step {
            Step::Coalescing => self.config.coalescing.is_some(),
            Step::Weights => self.config.weighted.is_some(),
            _ => self.config.doorbell_buffers.is_some(),
        };
        steps.iter().find(wanted).copied().unwrap_or(Step::CreateCq(0))
    }
    /// The opcode of the command of this step.
    fn opcode(&self) -> AdminOpcode {
        match self.action() {
            Action::Submit { command } => AdminOpcode(command.dword0().opcode()),
            _ => AdminOpcode::IDENTIFY,
        }
    }

    /// The action of this step.
    fn action(&self) -> Action {
        let config = &self.config;
        let submit = |command| Action::Submit { command };
        let identify = |structure, nsid| {
            let mut command = commands::identify(structure, nsid);
            command.set_prp1(config.buffer);
            submit(command)
        };
        match self.step {
            Step::CapLow => Action::Read { offset: CAP },
            Step::CapHigh => Action::Read { offset: CAP + 4 },
            Step::Disable => Action::Write { offset: CC, value: 0 },
            Step::WaitDisabled | Step::WaitEnabled => Action::Read { offset: CSTS },
            Step::AdminQueue(register) => self.admin_queue(register),
            Step::Enable => Action::Write { offset: CC, value: self.configuration().raw() },
            Step::Identify => identify(IdentifyStructure::CONTROLLER, Nsid::NONE),
            Step::ListNamespaces => identify(IdentifyStructure::ACTIVE_NAMESPACES, Nsid::NONE),
            Step::IdentifyNamespace(at) => {
                identify(IdentifyStructure::NAMESPACE, self.found.namespaces[at].nsid)
            }
            Step::NumberOfQueues => {
                let less_1 = config.queues.len() as u32 - 1;
                submit(commands::set_features(Feature::NUMBER_OF_QUEUES, less_1 | less_1 << 16))
            }
            Step::Coalescing => {
                let value = config.coalescing.unwrap_or_default().raw();
                submit(commands::set_features(Feature::INTERRUPT_COALESCING, value))
            }
            Step::Weights => {
                let value = config.weighted.unwrap_or_default().raw();
                submit(commands::set_features(Feature::ARBITRATION, value))
            }
            Step::DoorbellBuffers => {
                let mut command = commands::command(AdminOpcode::DOORBELL_BUFFER_CONFIG.0, Nsid::NONE);
                let (shadow, event_index) = config.doorbell_buffers.unwrap_or_default();
                command.set_prp1(shadow);
                command.set_prp2(event_index);
                submit(command)
            }
            Step::CreateCq(at) => {
                let (queue, id) = (&config.queues[at], CqId(at as u16 + 1));
                submit(commands::create_cq(id, queue.entries, queue.cq_address, queue.vector))
            }
            Step::CreateSq(at) => {
                let (queue, id) = (&config.queues[at], at as u16 + 1);
                let (entries, address) = (queue.entries, queue.sq_address);
                submit(commands::create_sq(SqId(id), entries, address, CqId(id), queue.priority))
            }
            Step::Ready => Action::Ready,
        }
    }
    /// Writes one of the registers of the admin queues, in the order of their offsets.
    fn admin_queue(&self, register: usize) -> Action {
        let size = self.config.admin_entries - 1;
        let (sq, cq) = (self.config.admin_sq_address, self.config.admin_cq_address);
        let (offset, value) = match register {
            0 => (AQA, size | size << 16),
            1 => (ASQ, sq as u32),
            2 => (ASQ + 4, (sq >> 32) as u32),
            3 => (ACQ, cq as u32),
            _ => (ACQ + 4, (cq >> 32) as u32),
        };
        Action::Write { offset, value }
    }
    fn configuration(&self) -> Configuration {
        let arbitration = match self.config.weighted {
            Some(_) => ArbitrationMechanism::WEIGHTED_ROUND_ROBIN,
            None => ArbitrationMechanism::ROUND_ROBIN,
        };
        let built = || {
            Configuration::ZERO
                .with_enable(true)?
                .with_page(self.config.page_log2 - 12)?
                .with_arbitration(arbitration)?
                .with_sq_entry(6)?
                .with_cq_entry(4)
        };
        built().expect("the page size was compared with CAP")
    }
}

/// The first page of a buffer.
fn page(buffer: &[u8]) -> Result<&[u8; IDENTIFY_BYTES], BringupFault> {
    buffer.first_chunk().ok_or(BringupFault::WrongAnswer)
}
