//! Configuration of a subsystem: namespaces, controllers, limits. Checked once, in
//! [`Subsystem::new`](super::Subsystem::new).

use crate::spec::registers::Capabilities;
use crate::spec::{ControllerId, Nsid};
use core::fmt;
use lanetwin_units::Span;

/// A subsystem: its identity, namespaces and controllers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SubsystemConfig {
    /// NVM Subsystem NVMe Qualified Name (SUBNQN), at most 223 B.
    pub nqn: String,
    /// Serial Number (SN), at most 20 B of ASCII.
    pub serial: String,
    /// Model Number (MN), at most 40 B of ASCII.
    pub model: String,
    /// Firmware Revision (FR), at most 8 B of ASCII.
    pub firmware: String,
    /// PCI Vendor ID, and Subsystem Vendor ID.
    pub vendor: u16,
    /// Namespaces.
    pub namespaces: Vec<NamespaceConfig>,
    /// Controllers, one for each port (or function).
    pub controllers: Vec<ControllerConfig>,
    /// Whether there is a Volatile Write Cache (VWC), which Flush writes out.
    pub volatile_write_cache: bool,
    /// Atomic Write Unit Normal and Power Fail \[logical blocks\].
    pub atomic_write_blocks: u32,
    /// Number of ports at which each namespace has an ANA state (Asymmetric Namespace Access); 0 if access is
    /// symmetric, and ANA is not reported.
    pub access_ports: u16,
}

/// Block size of a namespace.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LbaFormat {
    /// LBA Data Size (LBADS): log2 of the block size in bytes, 9 to 31.
    pub data_size_log2: u8,
}

impl LbaFormat {
    /// 512 B.
    pub const B512: Self = Self { data_size_log2: 9 };
    /// 4096 B.
    pub const B4096: Self = Self { data_size_log2: 12 };

    /// Block size \[B\].
    #[must_use]
    pub const fn bytes(self) -> u64 {
        1 << self.data_size_log2
    }
}

/// A namespace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NamespaceConfig {
    /// Number of the namespace.
    pub nsid: Nsid,
    /// Size \[B\], a multiple of the largest block size of its formats.
    pub bytes: u64,
    /// Formats that Format NVM can select; 1 to 64.
    pub formats: Vec<LbaFormat>,
    /// Index of the current format.
    pub format: u8,
    /// Controllers to which it is attached.
    pub attached: Vec<ControllerId>,
    /// Whether deallocated blocks read as zero (DLFEAT); otherwise their content is not reported.
    pub zero_after_deallocate: bool,
}

/// A controller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ControllerConfig {
    /// Controller ID (CNTLID).
    pub id: ControllerId,
    /// Maximum size of a queue \[entries\], 2 to 65536 (CAP.MQES + 1).
    pub queue_entries: u32,
    /// Maximum number of I/O submission queues, and of I/O completion queues; 1 to 65534.
    pub io_queues: u16,
    /// Doorbell Stride (CAP.DSTRD): doorbells are `4 << stride` B apart; 0 to 15.
    pub doorbell_stride: u8,
    /// Maximum Data Transfer Size (MDTS) \[log2 of memory pages of the minimum size\]; 0 for no limit.
    pub transfer_log2: u8,
    /// Maximum memory page size \[log2 of bytes\], 12 to 27 (CAP.MPSMAX + 12); the minimum is 4 KiB.
    pub largest_page_log2: u8,
    /// Maximum number of commands in progress (fetched and not completed), 1 to 2^20.
    pub commands_in_progress: u32,
    /// Maximum number of commands in progress of one submission queue.
    pub commands_per_queue: u32,
    /// Maximum number of submission queue entries per fetch.
    pub fetch_burst: u16,
    /// Maximum number of outstanding fetches of submission queue entries.
    pub fetches: u16,
    /// Interrupt vectors (MSI-X table size), 1 to 2048.
    pub vectors: u16,
    /// Asynchronous Event Request Limit (AERL + 1).
    pub event_requests: u8,
    /// Error Log Page Entries (ELPE + 1).
    pub error_entries: u8,
    /// Whether weighted round robin with urgent priority class is supported (CAP.AMS).
    pub weighted_round_robin: bool,
    /// Whether SGLs are supported in I/O commands (SGLS).
    pub sgl: bool,
    /// Whether Doorbell Buffer Config is supported (OACS).
    pub doorbell_buffers: bool,
    /// Size of the parts of a command that are requested from the medium and the link \[B\]: a power of two, at least
    /// 4096;
    /// `None` for the whole command. Parts let the first data leave before the last are read.
    pub chunk_bytes: Option<u32>,
    /// Time from setting CC.EN to CSTS.RDY.
    pub ready_after: Span,
}

impl ControllerConfig {
    /// A controller of a data centre drive. All numbers are `assumed`, from those reported by drives of 2022: 128
    /// queues of 1024, 2 MiB per command, 1024 commands in progress.
    #[must_use]
    pub fn new(id: ControllerId) -> Self {
        Self {
            id,
            queue_entries: 1024,
            io_queues: 128,
            doorbell_stride: 0,
            transfer_log2: 9,
            largest_page_log2: 16,
            commands_in_progress: 1024,
            commands_per_queue: 1024,
            fetch_burst: 16,
            fetches: 4,
            vectors: 129,
            event_requests: 4,
            error_entries: 64,
            weighted_round_robin: true,
            sgl: true,
            doorbell_buffers: true,
            chunk_bytes: None,
            ready_after: Span::ZERO,
        }
    }
}

/// A field of a configuration that is out of its range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigFault {
    /// The field, such as `controllers[0].queue_entries`.
    pub field: String,
    /// Its permitted values.
    pub must: String,
}

impl fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} must be {}", self.field, self.must)
    }
}
impl core::error::Error for ConfigFault {}

/// Checks a field.
fn must(holds: bool, field: impl FnOnce() -> String, must: &str) -> Result<(), ConfigFault> {
    if holds { Ok(()) } else { Err(ConfigFault { field: field(), must: must.into() }) }
}

impl SubsystemConfig {
    /// Checks all fields.
    pub(super) fn check(&self) -> Result<(), ConfigFault> {
        let text = |text: &str, longest: usize| text.len() <= longest && text.is_ascii();
        must(text(&self.nqn, 223), || "nqn".into(), "at most 223 ASCII characters")?;
        must(text(&self.serial, 20), || "serial".into(), "at most 20 ASCII characters")?;
        must(text(&self.model, 40), || "model".into(), "at most 40 ASCII characters")?;
        must(text(&self.firmware, 8), || "firmware".into(), "at most 8 ASCII characters")?;
        let atomic = (1..=65_536).contains(&self.atomic_write_blocks);
        must(atomic, || "atomic_write_blocks".into(), "1 to 65536")?;
        must((1..=64).contains(&self.controllers.len()), || "controllers".into(), "1 to 64 controllers")?;
        for (index, controller) in self.controllers.iter().enumerate() {
            controller.check(&|field| format!("controllers[{index}].{field}"))?;
            let again = self.controllers[..index].iter().any(|other| other.id == controller.id);
            must(!again, || format!("controllers[{index}].id"), "one that no other controller has")?;
        }
        for (index, namespace) in self.namespaces.iter().enumerate() {
            let field = |field: &str| format!("namespaces[{index}].{field}");
            namespace.check(&field)?;
            let again = self.namespaces[..index].iter().any(|other| other.nsid == namespace.nsid);
            must(!again, || field("nsid"), "one that no other namespace has")?;
            let known = |id: &ControllerId| self.controllers.iter().any(|controller| controller.id == *id);
            must(namespace.attached.iter().all(known), || field("attached"), "controllers that exist")?;
        }
        Ok(())
    }
}

impl NamespaceConfig {
    fn check(&self, field: &impl Fn(&str) -> String) -> Result<(), ConfigFault> {
        must((1..Nsid::ALL.0 - 1).contains(&self.nsid.0), || field("nsid"), "1 to FFFFFFFDh")?;
        let sizes = || self.formats.iter().map(|format| format.data_size_log2);
        let formats = (1..=64).contains(&self.formats.len()) && sizes().all(|log2| (9..=31).contains(&log2));
        must(formats, || field("formats"), "1 to 64 formats of blocks of 512 B to 2 GiB")?;
        must(usize::from(self.format) < self.formats.len(), || field("format"), "one of the formats")?;
        let largest = sizes().max().unwrap_or(0);
        let whole = self.bytes > 0 && self.bytes.trailing_zeros() >= largest.into();
        must(whole, || field("bytes"), "a multiple of the largest block, and not 0")
    }
}

impl ControllerConfig {
    /// CAP, with the limits of the controller (Base 2.0 §3.1.3.1).
    pub(super) fn capabilities(&self) -> Capabilities {
        let largest_page = self.largest_page_log2.saturating_sub(12);
        let timeout = self.ready_after.as_ps().div_ceil(500_000_000_000).clamp(1, 255);
        let built = || {
            Capabilities::ZERO
                .with_queue_entries_less_1((self.queue_entries - 1) as u16)?
                .with_contiguous_queues(true)?
                .with_weighted_round_robin(self.weighted_round_robin)?
                .with_timeout(timeout as u8)?
                .with_doorbell_stride(self.doorbell_stride)?
                .with_subsystem_reset(true)?
                .with_command_sets(1)?
                .with_largest_page(largest_page)
        };
        built().expect("the configuration was checked")
    }
    fn check(&self, field: &impl Fn(&str) -> String) -> Result<(), ConfigFault> {
        let in_range = |value: u32, least: u32, most: u32, name: &str| {
            must((least..=most).contains(&value), || field(name), &format!("{least} to {most}"))
        };
        in_range(self.queue_entries, 2, 65_536, "queue_entries")?;
        in_range(self.io_queues.into(), 1, 65_534, "io_queues")?;
        in_range(self.doorbell_stride.into(), 0, 15, "doorbell_stride")?;
        in_range(self.transfer_log2.into(), 0, 15, "transfer_log2")?;
        in_range(self.largest_page_log2.into(), 12, 27, "largest_page_log2")?;
        in_range(self.commands_in_progress, 1, 1 << 20, "commands_in_progress")?;
        in_range(self.commands_per_queue, 1, 1 << 20, "commands_per_queue")?;
        in_range(self.fetch_burst.into(), 1, 1024, "fetch_burst")?;
        in_range(self.fetches.into(), 1, 1024, "fetches")?;
        in_range(self.vectors.into(), 1, 2048, "vectors")?;
        in_range(self.event_requests.into(), 1, 255, "event_requests")?;
        in_range(self.error_entries.into(), 1, 255, "error_entries")?;
        let chunk = self.chunk_bytes.is_none_or(|bytes| bytes >= 4096 && bytes.is_power_of_two());
        must(chunk, || field("chunk_bytes"), "a power of two of at least 4096")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> SubsystemConfig {
        SubsystemConfig {
            nqn: "nqn.2026-01.test:drive".into(),
            serial: "1".into(),
            model: "test".into(),
            firmware: "1.0".into(),
            vendor: 0x144d,
            namespaces: vec![NamespaceConfig {
                nsid: Nsid(1),
                bytes: 1 << 20,
                formats: vec![LbaFormat::B512, LbaFormat::B4096],
                format: 0,
                attached: vec![ControllerId(1)],
                zero_after_deallocate: true,
            }],
            controllers: vec![ControllerConfig::new(ControllerId(1))],
            volatile_write_cache: false,
            atomic_write_blocks: 1,
            access_ports: 0,
        }
    }

    #[test]
    fn what_is_out_of_range_is_named() {
        assert_eq!(config().check(), Ok(()));
        let fault = |change: &dyn Fn(&mut SubsystemConfig)| {
            let mut config = config();
            change(&mut config);
            config.check().unwrap_err().to_string()
        };
        assert_eq!(fault(&|c| c.serial = "x".repeat(21)), "serial must be at most 20 ASCII characters");
        assert_eq!(
            fault(&|c| c.controllers[0].queue_entries = 1),
            "controllers[0].queue_entries must be 2 to 65536"
        );
        assert_eq!(
            fault(&|c| c.namespaces[0].bytes = 512),
            "namespaces[0].bytes must be a multiple of the largest block, and not 0"
        );
        assert_eq!(
            fault(&|c| c.namespaces[0].attached = vec![ControllerId(2)]),
            "namespaces[0].attached must be controllers that exist"
        );
        assert_eq!(
            fault(&|c| c.controllers.push(c.controllers[0].clone())),
            "controllers[1].id must be one that no other controller has"
        );
    }
}
