//! Dumps of configuration spaces and journals of cycles: any text is answered, none makes a reader panic or a walk of
//! capabilities go on for ever, and the inventory of a machine is a tree. A dump that was read is written and read
//! alike, cycles on it end, and every register is put back.

use lanetwin_probe::cycle::CyclePlan;
use lanetwin_probe::drive::{cycle, dumped};
use lanetwin_probe::fake::{Behaviour, Fake, dump};
use lanetwin_probe::inventory::{Device, Inventory, Snapshot, diagnose};
use lanetwin_probe::journal;
use std::ops::ControlFlow;

crate::input::promise!(|text: &str| {
    let _ = journal::read(text);
    if let Ok(snapshot) = Snapshot::of_dump(text) {
        let inventory = Inventory::of(&snapshot);
        assert!(diagnose(&inventory).iter().all(|one| !one.evidence.is_empty()));
        let below = |device: &Device| device.parent.is_none_or(|above| above.bus < device.address.bus);
        assert!(inventory.devices.iter().all(below));
    }
    let Ok(spaces) = dump::read(text) else { return };
    assert_eq!(dump::read(&dump::write(&spaces)), Ok(spaces));
    let Ok((spaces, ends)) = dumped(text, None) else { return };
    for behaviour in [Behaviour::Inert, Behaviour::Obliging] {
        let mut machine = Fake::new(spaces.clone(), behaviour);
        let plan = CyclePlan { count: 1, power_count: 1, ..CyclePlan::default() };
        let go_on = &mut |_: &_| ControlFlow::Continue(());
        if let Ok((series, _)) = cycle(&mut machine, "fuzz", ends, &plan, None, &mut |_| Ok(()), go_on) {
            let lost = series.tests.iter().any(|test| test.stopped.is_some());
            assert!(series.not_restored.is_empty() || lost, "{:?}", series.not_restored);
        }
    }
});
