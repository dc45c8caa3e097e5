//! Scheduled commands, as an administrator sends them while programs read and write: logs, Format NVM, Sanitize; and
//! commands on blocks that no load uses.
//!
//! ```text
//!  at ─ controller ready? ─► submit ─► doorbell ═ … ═ completion entry ─► interrupt or poll ─► complete     Answer::ended
//!  sanitize:  Asynchronous Event Request, Sanitize ─► … ─► event ─► Get Log Page 81h ─► how it ended        Answer::finished
//! ```
//!
//! Admin commands go to the admin queue, the others to the queue of the first load, and cost the CPU time of its core.
//! A command whose path is lost is answered with [`Answer::lost`] and not retried.

use super::buffers::{Lists, ONE_LIST};
use super::queue::Ring;
use super::schedule::{AFTERWARDS, EVENT, NAMES, Scheduled};
use super::{NvmeDriver, Place, Task};
use crate::roles::nvme::{Answer, Blocks, ScheduledCommand};
use lanetwin_nvme::logic::host::{Completed, commands};
use lanetwin_nvme::spec::admin::{FormatDword10, SanitizeDword10};
use lanetwin_nvme::spec::io::DatasetRange;
use lanetwin_nvme::spec::log::{EventResult, IoEvent, LogPage, SanitizeLog};
use lanetwin_nvme::spec::{AdminOpcode, Command, IoOpcode, Nsid, Status};
use lanetwin_ports::{Context, HostMemory};
use lanetwin_units::{Instant, Span};

/// A queue without room is tried again after this.
const AGAIN: Span = Span::from_us(1);
/// Number of bytes of the Error Information log that are read: 64 entries of 64 B, one page.
const ERROR_LOG_BYTES: u32 = 4096;
/// So much of the Telemetry Host-Initiated log is read: a page, which has the header and, of the drives here, data
/// areas 1 and 2.
const TELEMETRY_LOG_BYTES: u32 = 4096;
/// Create Telemetry Host-Initiated Data, in dword 10 of Get Log Page (NVM Express Base 2.0 §5.16.1.8).
const CREATE_TELEMETRY: u32 = 1 << 8;
/// A range of Dataset Management \[B\] (NVM Command Set 1.0 §3.2.3).
const RANGE_BYTES: u32 = 16;
/// The SMART / Health Information log and the Sanitize Status log \[B\] (NVM Express Base 2.0 §5.16.1).
const LOG_BYTES: u32 = 512;

impl NvmeDriver {
    /// Schedules a command; returns the number of its answer in [`NvmeDriver::answers`]. To be called before the run
    /// starts.
    pub fn schedule_command(&mut self, at: Instant, what: ScheduledCommand) -> usize {
        let (submitted, ended, status, finished) = (None, None, None, None);
        let answer = Answer { at, submitted, ended, status, lost: false, finished, content: Vec::new() };
        self.scheduled.push(Scheduled { what, answer, buffer: 0, lists: Lists::default() });
        self.scheduled.len() - 1
    }
    /// The answer to each scheduled command, in the order of scheduling.
    #[must_use]
    pub fn answers(&self) -> Vec<Answer> {
        self.scheduled.iter().map(|one| one.answer.clone()).collect()
    }
    /// Whether a scheduled command has not been answered, or has begun an operation that has not ended.
    #[must_use]
    pub fn has_scheduled(&self) -> bool {
        self.scheduled.iter().any(|Scheduled { what, answer, .. }| {
            let begins =
                matches!(what, ScheduledCommand::Sanitize(_)) && answer.status == Some(Status::SUCCESS);
            !answer.lost && (answer.status.is_none() || begins && answer.finished.is_none())
        })
    }

    /// Puts each scheduled command on the agenda.
    pub(super) fn arm_scheduled(&mut self, cx: &mut Context<'_>) {
        for number in 0..self.scheduled.len() {
            self.agenda.put(self.scheduled[number].answer.at, Task::ScheduledCommand(number as u32), cx);
        }
    }
    /// The controller is ready: submits the commands that waited for that.
    pub(super) fn submit_waiting(&mut self, cx: &mut Context<'_>) {
        let waits = |one: &Scheduled| {
            one.answer.submitted.is_none() && one.answer.status.is_none() && one.answer.at <= cx.now()
        };
        let waiting: Vec<usize> =
            (0..self.scheduled.len()).filter(|number| waits(&self.scheduled[*number])).collect();
        waiting.into_iter().for_each(|number| self.submit_scheduled(number as u32, cx));
    }

    /// Submits a scheduled command, if the controller is ready.
    pub(super) fn submit_scheduled(&mut self, number: u32, cx: &mut Context<'_>) {
        let ready = self.place.as_ref().is_some_and(|place| place.start.is_ready());
        let place = number as usize;
        if !ready
            || self.path.as_ref().is_some_and(|path| path.lost)
            || self.scheduled[place].answer.submitted.is_some()
        {
            return;
        }
        let what = self.scheduled[place].what;
        let Some(command) = self.command_of(place) else {
            // no block of the namespace is so large: nothing was sent
            self.scheduled[place].answer.status = Some(Status::INVALID_FIELD);
            return;
        };
        let name = NAMES + u64::from(number);
        let sent = match what {
            ScheduledCommand::Compare(_)
            | ScheduledCommand::WriteZeroes(_)
            | ScheduledCommand::Deallocate(_)
            | ScheduledCommand::Flush(_) => self.send_io(command, name, cx),
            _ => {
                if let ScheduledCommand::Sanitize(_) = what {
                    self.request_event(cx);
                }
                self.send_admin(command, name, cx)
            }
        };
        if sent {
            self.scheduled[place].answer.submitted = Some(cx.now());
        } else {
            self.agenda.put(cx.now() + AGAIN, Task::ScheduledCommand(number), cx);
        }
    }

    /// The command, with its buffer. Returns `None` if it cannot be expressed in blocks of the namespace.
    fn command_of(&mut self, number: usize) -> Option<Command> {
        let Place { memory, start, .. } = self.place.as_ref()?;
        let one = &mut self.scheduled[number];
        let bytes = buffer_bytes(one.what)?;
        let mut memory = memory.change();
        if bytes > 0 && one.buffer == 0 {
            one.buffer = memory.allocate(bytes.into());
        }
        let in_blocks = |range: &Blocks| {
            let block = u64::from(start.limits.block(u16::try_from(range.nsid.0.checked_sub(1)?).ok()?)?);
            let whole = range.first.is_multiple_of(block) && range.bytes.is_multiple_of(block);
            let count = u32::try_from(range.bytes / block).ok().filter(|count| whole && *count > 0)?;
            Some((range.first / block, count))
        };
        let of_blocks = |opcode, range: &Blocks| {
            let (slba, count) = in_blocks(range)?;
            (count <= 1 << 16).then(|| commands::blocks(opcode, range.nsid, slba, count))
        };
        let mut command = match one.what {
            ScheduledCommand::SmartLog => commands::get_log_page(LogPage::SMART, 0, bytes),
            ScheduledCommand::ErrorLog => commands::get_log_page(LogPage::ERROR, 0, bytes),
            ScheduledCommand::SanitizeLog => commands::get_log_page(LogPage::SANITIZE_STATUS, 0, bytes),
            ScheduledCommand::TelemetryLog => {
                let mut command = commands::get_log_page(LogPage::TELEMETRY_HOST, 0, bytes);
                command.set_cdw10(command.cdw10() | CREATE_TELEMETRY);
                command
            }
            ScheduledCommand::Format(nsid, erase) => {
                let mut command = commands::command(AdminOpcode::FORMAT_NVM.0, nsid);
                command.set_cdw10(FormatDword10::ZERO.with_secure_erase(erase).expect("three bits").raw());
                command
            }
            ScheduledCommand::Sanitize(action) => {
                let mut command = commands::command(AdminOpcode::SANITIZE.0, Nsid::NONE);
                let dword = SanitizeDword10::ZERO.with_action(action).and_then(|word| word.with_passes(1));
                command.set_cdw10(dword.expect("three bits and four").raw());
                command
            }
            ScheduledCommand::Compare(range) => of_blocks(IoOpcode::COMPARE, &range)?,
            ScheduledCommand::WriteZeroes(range) => of_blocks(IoOpcode::WRITE_ZEROES, &range)?,
            ScheduledCommand::Deallocate(range) => {
                let (slba, count) = in_blocks(&range)?;
                let range = DatasetRange::ZERO.with_blocks(count).and_then(|word| word.with_slba(slba));
                memory.write(one.buffer, &range.expect("fields of their width").raw().to_le_bytes());
                commands::deallocate(range_nsid(one.what), 1)
            }
            ScheduledCommand::Flush(nsid) => commands::flush(nsid),
        };
        // sanitize has no data: its buffer is for the log afterwards
        if bytes > 0 && !matches!(one.what, ScheduledCommand::Sanitize(_)) {
            let second = one.lists.second_pointer(0, one.buffer, bytes, ONE_LIST, &mut memory);
            command.set_prp1(one.buffer);
            command.set_prp2(second);
        }
        Some(command)
    }

    /// Puts a command into the admin queue; whether it had room.
    fn send_admin(&mut self, command: Command, name: u64, cx: &mut Context<'_>) -> bool {
        let Some(Place { memory, start, .. }) = &mut self.place else { return false };
        let Ok(submitted) = start.admin.submit(command, name) else { return false };
        memory.change().write(submitted.address, submitted.entry.as_bytes());
        if let Some((doorbell, value)) = submitted.ring {
            self.ring(&Ring { doorbell, value, at: cx.now() + self.software.submit }, cx);
        }
        true
    }
    /// Puts a command into the queue of the first load; whether it had room.
    fn send_io(&mut self, command: Command, name: u64, cx: &mut Context<'_>) -> bool {
        let (Some(Place { memory, .. }), Some(queue)) = (&self.place, self.queues.first_mut()) else {
            return false;
        };
        let Ok(submitted) = queue.pair.submit(command, name) else { return false };
        memory.change().write(submitted.address, submitted.entry.as_bytes());
        queue.in_flight.add(1, cx.now());
        let at = queue.core.serve(cx.now(), self.software.submit) + self.software.submit;
        queue.submitted = at;
        let ring = submitted.ring.or_else(|| queue.pair.flush_tail());
        if let Some((doorbell, value)) = ring {
            self.ring(&Ring { doorbell, value, at }, cx);
        }
        true
    }
    /// Sends an Asynchronous Event Request.
    fn request_event(&mut self, cx: &mut Context<'_>) {
        let command = commands::command(AdminOpcode::ASYNCHRONOUS_EVENT_REQUEST.0, Nsid::NONE);
        self.send_admin(command, EVENT, cx);
    }

    /// A command of these has ended; its program knows at `at`.
    pub(super) fn asked_ended(&mut self, completed: &Completed, at: Instant, cx: &mut Context<'_>) {
        if completed.name == EVENT {
            return self.event(completed, cx);
        }
        let number = (completed.name & (AFTERWARDS - 1) & !NAMES) as usize;
        let memory = self.place.as_ref().map(|place| place.memory.clone());
        let Some(one) = self.scheduled.get_mut(number) else { return };
        let bytes = buffer_bytes(one.what).unwrap_or(LOG_BYTES);
        let read = |memory: &HostMemory| memory.read(one.buffer, bytes as usize).map(<[u8]>::to_vec);
        let content = memory.and_then(|memory| read(&memory.reader())).unwrap_or_default();
        if completed.name & AFTERWARDS > 0 {
            let log = <[u8; LOG_BYTES as usize]>::try_from(content).map(SanitizeLog::from_bytes).ok();
            let good = log.is_some_and(|log| is_sanitized(&log));
            one.answer.finished = Some((at, completed.status.is_success() && good));
            return;
        }
        one.answer.ended = Some(at);
        one.answer.status = Some(completed.status);
        if completed.status.is_success()
            && matches!(
                one.what,
                ScheduledCommand::SmartLog
                    | ScheduledCommand::ErrorLog
                    | ScheduledCommand::SanitizeLog
                    | ScheduledCommand::TelemetryLog
            )
        {
            one.answer.content = content;
        }
    }

    /// Handles an asynchronous event.
    fn event(&mut self, completed: &Completed, cx: &mut Context<'_>) {
        let event = EventResult::from_raw(completed.dw0);
        let under_way = |one: &Scheduled| {
            matches!(one.what, ScheduledCommand::Sanitize(_))
                && one.answer.submitted.is_some()
                && one.answer.finished.is_none()
                && one.answer.status.is_none_or(Status::is_success)
                && !one.answer.lost
        };
        let sanitizing = self.scheduled.iter().position(under_way);
        let has_ended =
            event.log() == LogPage::SANITIZE_STATUS && event.information() == IoEvent::SANITIZE_COMPLETED.0;
        match sanitizing {
            Some(number) if completed.status.is_success() && has_ended => {
                let mut command = commands::get_log_page(LogPage::SANITIZE_STATUS, 0, LOG_BYTES);
                command.set_prp1(self.scheduled[number].buffer);
                self.send_admin(command, NAMES + AFTERWARDS + number as u64, cx);
            }
            Some(_) if completed.status.is_success() => self.request_event(cx),
            _ => {}
        }
    }

    /// Handles the loss of the path: commands without a completion will not get one.
    pub(super) fn lose_scheduled(&mut self) {
        for Scheduled { answer, what, .. } in &mut self.scheduled {
            let open = answer.submitted.is_some() && answer.status.is_none();
            let operation = matches!(what, ScheduledCommand::Sanitize(_))
                && answer.submitted.is_some()
                && answer.finished.is_none();
            answer.lost |= open || operation && answer.status == Some(Status::SUCCESS);
        }
    }
}

fn is_sanitized(log: &SanitizeLog) -> bool {
    use lanetwin_nvme::spec::log::SanitizeState;
    [SanitizeState::COMPLETED, SanitizeState::COMPLETED_NO_DEALLOCATE].contains(&log.status().state())
}

/// The size of a command's buffer \[B\]. Returns `None` if it needs more than one list of pages.
fn buffer_bytes(what: ScheduledCommand) -> Option<u32> {
    Some(match what {
        ScheduledCommand::ErrorLog => ERROR_LOG_BYTES,
        ScheduledCommand::TelemetryLog => TELEMETRY_LOG_BYTES,
        ScheduledCommand::SmartLog | ScheduledCommand::SanitizeLog | ScheduledCommand::Sanitize(_) => {
            LOG_BYTES
        }
        ScheduledCommand::Compare(Blocks { bytes, .. }) => {
            u32::try_from(bytes).ok().filter(|bytes| *bytes <= ONE_LIST)?
        }
        ScheduledCommand::Deallocate(_) => RANGE_BYTES,
        ScheduledCommand::Format(..) | ScheduledCommand::WriteZeroes(_) | ScheduledCommand::Flush(_) => 0,
    })
}

/// The namespace of a range.
const fn range_nsid(what: ScheduledCommand) -> Nsid {
    match what {
        ScheduledCommand::Compare(range)
        | ScheduledCommand::WriteZeroes(range)
        | ScheduledCommand::Deallocate(range) => range.nsid,
        ScheduledCommand::Format(nsid, _) | ScheduledCommand::Flush(nsid) => nsid,
        ScheduledCommand::SmartLog
        | ScheduledCommand::ErrorLog
        | ScheduledCommand::SanitizeLog
        | ScheduledCommand::TelemetryLog
        | ScheduledCommand::Sanitize(_) => Nsid::NONE,
    }
}
