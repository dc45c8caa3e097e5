//! Identify: structures of the controller, of namespaces and of the subsystem (Base 2.0 §5.17).

use super::settings::{RECOMMENDED_BURST, WARNING_KELVIN};
use super::{Controller, Cx};
use crate::logic::access::group_of;
use crate::logic::connection::DataLocation;
use crate::logic::nvm::{Namespace, Nvm};
use crate::spec::admin::{IdentifyDword10, IdentifyStructure};
use crate::spec::identify::{
    AnaCapabilities, ControllerType, DeallocateFeatures, EntrySizes, FirmwareUpdates, FormatAttributes,
    FormatProgress, FormattedSize, IDENTIFY_BYTES, IdentifyController, IdentifyNamespace, LbaFormatWord,
    LogAttributes, MultiPath, NamespaceAttributes, NamespaceIdentifierType, OptionalAdminCommands,
    OptionalEvents, OptionalIoCommands, PowerStateDescriptor, SanitizeCapabilities, SglSupport, Sharing,
    WriteCacheAttributes, WriteProtectionCapabilities,
};
use crate::spec::registers::{VERSION, Version};
use crate::spec::{ControllerId, Nsid, Status};
use lanetwin_wire::DoesNotFit;

/// Critical Composite Temperature Threshold \[K\]. `assumed`: 85 °C.
const CRITICAL_KELVIN: u16 = 358;
/// ANA Transition Time \[s\]: maximum duration of the state Change. As Linux `nvmet`.
const TRANSITION_SECONDS: u8 = 10;
/// Maximum number of controllers in an identify structure (Base 2.0 §5.17.2.8).
const MOST_CONTROLLERS: usize = 2047;
/// Maximum number of namespaces in an identify structure (Base 2.0 §5.17.2.2).
const MOST_NAMESPACES: usize = 1024;

impl Controller {
    /// Identify.
    pub(super) fn identify(&mut self, number: u32, cx: &mut Cx<'_>) -> Result<(), Status> {
        let command = self.slots.at(number).command;
        let dword = IdentifyDword10::from_raw(command.cdw10());
        let nsid = command.nsid();
        let mut content = core::mem::take(&mut self.slots.at(number).content);
        content.clear();
        let made = self.fill(&mut content, dword, nsid, cx.nvm);
        self.slots.at(number).content = content;
        made?;
        self.give_content(number, IDENTIFY_BYTES as u32, cx)
    }
    fn fill(&self, out: &mut Vec<u8>, dword: IdentifyDword10, nsid: Nsid, nvm: &Nvm) -> Result<(), Status> {
        let listed = |nsid: Nsid| nsid.0 < Nsid::ALL.0 - 1;
        let from = ControllerId(dword.controller());
        match dword.structure() {
            IdentifyStructure::NAMESPACE => self.identify_namespace(out, nsid, true, nvm)?,
            IdentifyStructure::ALLOCATED_NAMESPACE => self.identify_namespace(out, nsid, false, nvm)?,
            IdentifyStructure::CONTROLLER => out.extend_from_slice(self.identity(nvm).as_bytes()),
            IdentifyStructure::ACTIVE_NAMESPACES if listed(nsid) => {
                list_namespaces(out, nvm.all_active(self.index), nsid);
            }
            IdentifyStructure::ALLOCATED_NAMESPACES if listed(nsid) => {
                list_namespaces(out, nvm.namespaces.iter(), nsid);
            }
            IdentifyStructure::ACTIVE_NAMESPACES | IdentifyStructure::ALLOCATED_NAMESPACES => {
                return Err(Status::INVALID_NAMESPACE_OR_FORMAT);
            }
            IdentifyStructure::NAMESPACE_DESCRIPTORS => {
                let namespace = nvm.active(nsid, self.index).ok_or(Status::INVALID_NAMESPACE_OR_FORMAT)?;
                out.extend_from_slice(&[NamespaceIdentifierType::NGUID.0, 16, 0, 0]);
                out.extend_from_slice(&nguid(namespace, nvm));
            }
            IdentifyStructure::ATTACHED_CONTROLLERS => {
                let place = nvm.place(nsid).ok_or(Status::INVALID_FIELD)?;
                let attached = nvm.namespaces[place].attached;
                list_controllers(out, nvm, from, |index| attached >> index & 1 == 1);
            }
            IdentifyStructure::CONTROLLERS => list_controllers(out, nvm, from, |_| true),
            _ => return Err(Status::INVALID_FIELD),
        }
        Ok(())
    }
    /// Writes Identify Namespace: zeroes for an inactive namespace, an error for one above the highest number.
    fn identify_namespace(
        &self,
        out: &mut Vec<u8>,
        nsid: Nsid,
        active: bool,
        nvm: &Nvm,
    ) -> Result<(), Status> {
        if nsid == Nsid::ALL && active {
            // the properties common to all namespaces: the formats
            let Some(first) = nvm.namespaces.first() else { return Ok(()) };
            let mut common = IdentifyNamespace::ZERO;
            set_formats(&mut common, first);
            out.extend_from_slice(common.as_bytes());
            return Ok(());
        }
        let highest = nvm.namespaces.last().map_or(0, |namespace| namespace.nsid.0);
        if nsid.0 == 0 || nsid.0 > highest {
            return Err(Status::INVALID_NAMESPACE_OR_FORMAT);
        }
        let place = nvm.place(nsid).filter(|_| !active || nvm.active(nsid, self.index).is_some());
        if let Some(place) = place {
            let told = namespace_identity(place, nvm).expect("values that fit");
            out.extend_from_slice(told.as_bytes());
        }
        Ok(())
    }

    fn identity(&self, nvm: &Nvm) -> IdentifyController {
        self.try_identity(nvm).expect("the configuration was checked")
    }
    fn try_identity(&self, nvm: &Nvm) -> Result<IdentifyController, DoesNotFit> {
        let config = &nvm.config;
        let several = config.controllers.len() > 1;
        let mut told = IdentifyController::ZERO;
        told.set_vid(config.vendor);
        told.set_ssvid(config.vendor);
        told.set_serial(ascii(&config.serial));
        told.set_model(ascii(&config.model));
        told.set_firmware(ascii(&config.firmware));
        told.set_recommended_burst(RECOMMENDED_BURST);
        let multi_path = MultiPath::ZERO.with_ports(several)?.with_controllers(several)?;
        told.set_multi_path(multi_path.with_asymmetric_access(nvm.access.is_reported())?);
        told.set_transfer_log2(self.config.transfer_log2);
        told.set_controller(self.config.id.0);
        told.set_version(Version::from_raw(VERSION));
        told.set_controller_type(ControllerType::IO);
        self.tell_optional(&mut told, nvm)?;
        told.set_abort_limit_less_1(3); // aborts are carried out at once; what is said is what drives say
        told.set_event_limit_less_1(self.config.event_requests - 1);
        told.set_error_entries_less_1(self.config.error_entries - 1);
        told.set_warning_temperature(WARNING_KELVIN);
        told.set_critical_temperature(CRITICAL_KELVIN);
        told.set_capacity(nvm.namespaces.iter().map(|namespace| u128::from(namespace.bytes)).sum());
        told.set_keep_alive(1);
        told.set_sq_entry(EntrySizes::ZERO.with_required(6)?.with_largest(6)?);
        told.set_cq_entry(EntrySizes::ZERO.with_required(4)?.with_largest(4)?);
        if self.is_message_based() {
            // hosts of a fabric limit the size of their queues to this (NVMe-oF 1.1 §4.1)
            told.set_outstanding(self.config.queue_entries.min(u16::MAX.into()) as u16);
        }
        told.set_namespaces(nvm.namespaces.last().map_or(0, |namespace| namespace.nsid.0));
        if nvm.access.is_reported() {
            tell_access(&mut told, nvm)?;
        }
        let cache = WriteCacheAttributes::ZERO.with_present(config.volatile_write_cache)?;
        told.set_write_cache(cache.with_broadcast(3)?);
        let atomic = (config.atomic_write_blocks - 1) as u16;
        told.set_atomic_normal_less_1(atomic);
        told.set_atomic_power_fail_less_1(atomic);
        let mut nqn = [0; 256];
        nqn[..config.nqn.len()].copy_from_slice(config.nqn.as_bytes());
        told.set_nqn(nqn);
        told.set_power_state_0(*PowerStateDescriptor::ZERO.as_bytes());
        Ok(told)
    }
    /// Sets the optional features of the controller.
    fn tell_optional(&self, told: &mut IdentifyController, nvm: &Nvm) -> Result<(), DoesNotFit> {
        let doorbell_buffers = self.config.doorbell_buffers && !self.is_message_based();
        let admin = OptionalAdminCommands::ZERO.with_format(true)?.with_doorbell_buffers(doorbell_buffers)?;
        told.set_admin_commands(admin);
        let io = OptionalIoCommands::ZERO.with_compare(true)?.with_dataset_management(true)?;
        told.set_io_commands(io.with_write_zeroes(true)?.with_save_and_select(true)?);
        told.set_events(events(nvm)?);
        told.set_firmware_updates(FirmwareUpdates::ZERO.with_first_slot_read_only(true)?.with_slots(1)?);
        let logs = LogAttributes::ZERO.with_command_effects(true)?.with_extended(true)?;
        told.set_log_attributes(logs.with_telemetry(true)?);
        told.set_format(FormatAttributes::ZERO.with_cryptographic(true)?);
        let sanitize = SanitizeCapabilities::ZERO.with_crypto_erase(true)?.with_block_erase(true)?;
        told.set_sanitize(sanitize.with_overwrite(true)?);
        let protection = WriteProtectionCapabilities::ZERO.with_basic(true)?.with_until_power_cycle(true)?;
        told.set_write_protection(protection.with_permanent(true)?);
        told.set_sgl(self.sgl_support()?);
        Ok(())
    }
    /// Supported SGL descriptors, which depend on the data location of the admin queue.
    fn sgl_support(&self) -> Result<SglSupport, DoesNotFit> {
        match self.submission_queues[0].data_location() {
            None | Some(DataLocation::Memory) => SglSupport::ZERO.with_supported(u8::from(self.config.sgl)),
            Some(DataLocation::Messages) => {
                SglSupport::ZERO.with_supported(1)?.with_offsets(true)?.with_transport(true)
            }
            Some(DataLocation::Keys) => {
                SglSupport::ZERO.with_supported(1)?.with_keyed(true)?.with_offsets(true)
            }
        }
    }
    /// Whether data are located by messages or keys, and not by address.
    fn is_message_based(&self) -> bool {
        matches!(self.submission_queues[0].data_location(), Some(DataLocation::Messages | DataLocation::Keys))
    }
}

fn events(nvm: &Nvm) -> Result<OptionalEvents, DoesNotFit> {
    let events = OptionalEvents::ZERO.with_namespace_attributes(true)?;
    events.with_asymmetric_access(nvm.access.is_reported())
}

/// Sets the ANA fields: each namespace is always a group of its own.
fn tell_access(told: &mut IdentifyController, nvm: &Nvm) -> Result<(), DoesNotFit> {
    let states = AnaCapabilities::ZERO.with_optimized(true)?.with_non_optimized(true)?;
    let states = states.with_inaccessible(true)?.with_persistent_loss(true)?.with_change(true)?;
    told.set_asymmetric_access(states.with_fixed_group(true)?);
    told.set_transition_seconds(TRANSITION_SECONDS);
    told.set_highest_access_group(nvm.namespaces.len() as u32);
    told.set_access_groups(nvm.namespaces.len() as u32);
    // hosts compute the length of the log from this (Base 2.0 §5.17.2.1, MNAN)
    told.set_most_namespaces(nvm.namespaces.len() as u32);
    Ok(())
}

fn namespace_identity(place: usize, nvm: &Nvm) -> Result<IdentifyNamespace, DoesNotFit> {
    let namespace = &nvm.namespaces[place];
    let mut told = IdentifyNamespace::ZERO;
    told.set_size(namespace.blocks);
    told.set_capacity(namespace.blocks);
    told.set_utilization(namespace.blocks);
    set_formats(&mut told, namespace);
    let (low, high) = (namespace.format & 0xf, namespace.format >> 4);
    told.set_formatted_size(FormattedSize::ZERO.with_format_low(low)?.with_format_high(high)?);
    told.set_sharing(Sharing::ZERO.with_shared(nvm.config.controllers.len() > 1)?);
    told.set_format_progress(
        FormatProgress::ZERO.with_supported(true)?.with_remaining(namespace.format_remaining.min(100))?,
    );
    let read = u8::from(namespace.zero_after_deallocate);
    told.set_deallocate(DeallocateFeatures::ZERO.with_read(read)?.with_write_zeroes(true)?);
    told.set_bytes(namespace.bytes.into());
    told.set_attributes(NamespaceAttributes::ZERO.with_write_protected(namespace.is_protected())?);
    told.set_nguid(nguid(namespace, nvm));
    if nvm.access.is_reported() {
        told.set_access_group(group_of(place));
    }
    Ok(told)
}

fn set_formats(told: &mut IdentifyNamespace, namespace: &Namespace) {
    let mut formats = [0; 256];
    for (word, format) in formats.as_chunks_mut::<4>().0.iter_mut().zip(&namespace.formats) {
        let built = LbaFormatWord::ZERO.with_data_size_log2(format.data_size_log2).expect("eight bits");
        *word = built.raw().to_le_bytes();
    }
    told.set_formats(formats);
    told.set_formats_less_1((namespace.formats.len() - 1) as u8);
}

/// Unique number of a namespace: a digest of the subsystem's name and serial number, and the namespace's number. It
/// does not contain the number of a registered vendor.
fn nguid(namespace: &Namespace, nvm: &Nvm) -> [u8; 16] {
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3); // FNV-1a
    let hash = nvm
        .config
        .nqn
        .as_bytes()
        .iter()
        .chain(nvm.config.serial.as_bytes())
        .fold(0xcbf2_9ce4_8422_2325, fold);
    let mut nguid = [0; 16];
    nguid[..8].copy_from_slice(&hash.to_be_bytes());
    nguid[12..].copy_from_slice(&namespace.nsid.0.to_be_bytes());
    nguid
}

fn list_namespaces<'a>(out: &mut Vec<u8>, all: impl Iterator<Item = &'a Namespace>, above: Nsid) {
    let above = all.filter(|namespace| namespace.nsid > above).take(MOST_NAMESPACES);
    above.for_each(|namespace| out.extend_from_slice(&namespace.nsid.0.to_le_bytes()));
}

fn list_controllers(out: &mut Vec<u8>, nvm: &Nvm, from: ControllerId, listed: impl Fn(usize) -> bool) {
    let controllers = nvm.config.controllers.iter().enumerate();
    let mut ids: Vec<u16> = controllers
        .filter(|&(index, controller)| controller.id >= from && listed(index))
        .map(|(_, controller)| controller.id.0)
        .collect();
    ids.sort_unstable();
    ids.truncate(MOST_CONTROLLERS);
    out.extend_from_slice(&(ids.len() as u16).to_le_bytes());
    ids.into_iter().for_each(|id| out.extend_from_slice(&id.to_le_bytes()));
}

/// Text padded with spaces.
fn ascii<const N: usize>(text: &str) -> [u8; N] {
    let mut field = [b' '; N];
    field[..text.len()].copy_from_slice(text.as_bytes());
    field
}
