//! Execution of a client's requests.

use super::function::Function;
use super::memory::MOST_MAPS;
use super::message::Message;
use super::wire::{
    Access, Code, DeviceFlags, DeviceInfo, IRQS, Irq, IrqFlags, IrqInfo, MAJOR, MINOR, MOST_DATA, MOST_FDS,
    MapBody, PAGE, REGIONS, Region, RegionFlags, RegionInfo, SetIrqs, UnmapBody, VersionBody,
};
use lanetwin_units::Instant;
use rustix::io::Errno;
use std::os::fd::{AsRawFd, OwnedFd};

/// The body of a reply, or the number of an error.
type Done = Result<Vec<u8>, Errno>;

/// Executes the request of a message.
pub(super) fn perform(now: Instant, message: Message, function: &mut Function) -> Done {
    let Message { header, body, files } = message;
    match header.code() {
        Code::VERSION => version(&body),
        Code::DMA_MAP => map(&body, files, function),
        Code::DMA_UNMAP => {
            let wanted = UnmapBody::from_bytes(*whole(&body)?);
            function.memory().unmap(&wanted)?;
            Ok(body)
        }
        Code::DEVICE_GET_INFO => device_info(&body),
        Code::DEVICE_GET_REGION_INFO => region_info(&body),
        Code::DEVICE_GET_IRQ_INFO => irq_info(&body, function),
        Code::DEVICE_SET_IRQS => set_irqs(&body, files, function),
        Code::REGION_READ => read(&body, function),
        Code::REGION_WRITE => write(now, &body, function),
        Code::DEVICE_RESET => {
            function.reset(now);
            Ok(Vec::new())
        }
        _ => Err(Errno::OPNOTSUPP),
    }
}

/// The body, if it has this length.
fn whole<const N: usize>(body: &[u8]) -> Result<&[u8; N], Errno> {
    body.try_into().map_err(|_| Errno::INVAL)
}

fn version(body: &[u8]) -> Done {
    let (head, text) = body.split_first_chunk().ok_or(Errno::INVAL)?;
    let wanted = VersionBody::from_bytes(*head);
    if wanted.major() != MAJOR {
        return Err(Errno::INVAL);
    }
    if let Some((end, json)) = text.split_last() {
        let is_sound = *end == 0 && serde_json::from_slice::<serde_json::Map<_, _>>(json).is_ok();
        is_sound.then_some(()).ok_or(Errno::INVAL)?;
    }
    let mut spoken = VersionBody::ZERO;
    spoken.set_major(MAJOR);
    spoken.set_minor(wanted.minor().min(MINOR));
    let limits = serde_json::json!({ "capabilities": {
        "max_msg_fds": MOST_FDS, "max_data_xfer_size": MOST_DATA, "max_dma_maps": MOST_MAPS, "pgsizes": PAGE,
    } });
    let mut reply = spoken.as_bytes().to_vec();
    reply.extend(limits.to_string().into_bytes());
    reply.push(0);
    Ok(reply)
}

fn map(body: &[u8], mut files: Vec<OwnedFd>, function: &mut Function) -> Done {
    let wanted = MapBody::from_bytes(*whole(body)?);
    let file = files.pop();
    if !files.is_empty() {
        return Err(Errno::INVAL);
    }
    function.memory().map(&wanted, file)?;
    Ok(Vec::new())
}

fn device_info(body: &[u8]) -> Done {
    let mut info = DeviceInfo::from_bytes(*whole(body)?);
    info.set_argsz(body.len() as u32);
    let flags = DeviceFlags::ZERO.with_pci(true).and_then(|flags| flags.with_reset(true));
    info.set_flags(flags.expect("bits"));
    info.set_regions(REGIONS);
    info.set_irqs(IRQS);
    Ok(info.as_bytes().to_vec())
}

fn region_info(body: &[u8]) -> Done {
    let wanted = RegionInfo::from_bytes(*whole(body)?);
    if wanted.index().0 >= REGIONS {
        return Err(Errno::INVAL);
    }
    let mut info = RegionInfo::ZERO;
    info.set_argsz(body.len() as u32);
    info.set_index(wanted.index());
    info.set_size(Function::region_bytes(wanted.index()));
    let is_there = info.size() > 0;
    let flags = RegionFlags::ZERO.with_read(is_there).and_then(|flags| flags.with_write(is_there));
    info.set_flags(flags.expect("bits"));
    Ok(info.as_bytes().to_vec())
}

fn irq_info(body: &[u8], function: &Function) -> Done {
    let wanted = IrqInfo::from_bytes(*whole(body)?);
    if wanted.index().0 >= IRQS {
        return Err(Errno::INVAL);
    }
    let mut info = IrqInfo::ZERO;
    info.set_argsz(body.len() as u32);
    info.set_index(wanted.index());
    if wanted.index() == Irq::MSIX {
        info.set_count(function.vectors());
        info.set_flags(IrqFlags::ZERO.with_eventfd(true).expect("a bit"));
    }
    Ok(info.as_bytes().to_vec())
}

fn set_irqs(body: &[u8], files: Vec<OwnedFd>, function: &mut Function) -> Done {
    let (head, bytes) = body.split_first_chunk().ok_or(Errno::INVAL)?;
    let wanted = SetIrqs::from_bytes(*head);
    let (flags, start, count) = (wanted.flags(), wanted.start(), wanted.count());
    let known = if wanted.index() == Irq::MSIX { function.vectors() } else { 0 };
    let end = start.checked_add(count).filter(|end| *end <= known && wanted.index().0 < IRQS);
    let end = end.ok_or(Errno::INVAL)?;
    let one_kind = [flags.none(), flags.bytes(), flags.eventfd()].into_iter().filter(|is| *is).count() == 1;
    // they can only be masked in the MSI-X table, by the client
    if !one_kind || !flags.trigger() || flags.mask() || flags.unmask() {
        return Err(Errno::INVAL);
    }
    let vectors = start as usize..end as usize;
    if flags.eventfd() {
        let is_sound = files.is_empty() || files.len() == vectors.len() && files.iter().all(is_eventfd);
        is_sound.then_some(()).ok_or(Errno::INVAL)?;
        let mut files = files.into_iter();
        vectors.for_each(|vector| function.set_vector(vector, files.next()));
    } else if flags.bytes() {
        let chosen = (bytes.len() == vectors.len()).then_some(bytes).ok_or(Errno::INVAL)?;
        let chosen = vectors.zip(chosen).filter(|(_, byte)| **byte != 0);
        chosen.for_each(|(vector, _)| function.signal(vector));
    } else if count == 0 {
        (0..known as usize).for_each(|vector| function.set_vector(vector, None));
    } else {
        vectors.for_each(|vector| function.signal(vector));
    }
    Ok(Vec::new())
}

/// Whether a file is an eventfd: writing to another kind of file might block.
fn is_eventfd(file: &OwnedFd) -> bool {
    let link = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
    link.is_ok_and(|link| link.as_os_str() == "anon_inode:[eventfd]")
}

/// Number of bytes of an access, if it is within its region.
fn range(access: &Access) -> Result<usize, Errno> {
    let end = access.offset().checked_add(access.count().into());
    let is_within = end.is_some_and(|end| end <= Function::region_bytes(access.region()));
    if is_within && access.count() <= MOST_DATA { Ok(access.count() as usize) } else { Err(Errno::INVAL) }
}

fn read(body: &[u8], function: &Function) -> Done {
    let access = Access::from_bytes(*whole(body)?);
    let mut data = vec![0; range(&access)?];
    if access.region() == Region::BAR0 || access.region() == Region::CONFIG {
        function.read(access.region(), access.offset(), &mut data);
    }
    let mut reply = body.to_vec();
    reply.extend(data);
    Ok(reply)
}

fn write(now: Instant, body: &[u8], function: &mut Function) -> Done {
    let (head, data) = body.split_first_chunk().ok_or(Errno::INVAL)?;
    let access = Access::from_bytes(*head);
    if range(&access)? != data.len() {
        return Err(Errno::INVAL);
    }
    if !data.is_empty() {
        function.write(now, access.region(), access.offset(), data);
    }
    Ok(head.to_vec())
}
