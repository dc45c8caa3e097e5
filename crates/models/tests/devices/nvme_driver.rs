//! The NVMe driver, without a drive: what it does of its own accord.

use crate::rig::{DEVICE, params};
use lanetwin_kernel::Port;
use lanetwin_models::find;
use lanetwin_models::nvme_driver::NvmeDriver;
use lanetwin_ports::{Builder, Message, SharedMemory, Site};
use lanetwin_units::{Instant, Span};

const CPU: Port = Port(0);

/// A path whose controller never becomes ready is reset every 5 ms, each time with new rings; those before the last are
/// used again.
#[test]
fn a_path_that_is_reset_for_ever_takes_no_more_memory() {
    let model = find("nvme-driver").unwrap();
    for (engine, shadow) in [("libaio", "false"), ("spdk", "true")] {
        let memory = SharedMemory::new();
        let site = Site { target: Some(DEVICE), memory: Some(memory.clone()), ..Site::alone("driver", 1) };
        let said = [("ports", "3"), ("driver.engine", engine), ("driver.shadow-doorbells", shadow)];
        let mut driver = model.component(&params(model, &said), &site).unwrap();
        let path = driver.as_any().and_then(|any| any.downcast_mut::<NvmeDriver>()).unwrap();
        let at = |us| Instant::ZERO + Span::from_us(us);
        path.become_path(vec![lanetwin_models::roles::nvme::Outage { from: at(100), until: at(200) }]);
        let one_start = memory.reader().end();

        let mut builder = Builder::new();
        let driver = builder.add("driver", driver);
        let registers = builder.exit((driver, CPU));
        (1..=3).for_each(|port| {
            builder.exit((driver, Port(port)));
        });
        let mut kernel = builder.seal();
        kernel.run_until(at(1_000_000));
        let is_enable =
            |message: &Message| matches!(message, Message::Mmio { handle: 1.., address: 0x14, .. });
        let emitted: Vec<_> = kernel.take_out().filter(|emitted| emitted.exit == registers).collect();
        let enabled = emitted.iter().filter(|emitted| is_enable(&emitted.message)).count();
        assert!(enabled > 100, "it tries again: {enabled} times");
        let start = one_start - lanetwin_ports::HostMemory::FIRST;
        assert_eq!(memory.reader().end() - lanetwin_ports::HostMemory::FIRST, 2 * start, "{engine}");
    }
}
