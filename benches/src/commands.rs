//! How fast a world answers commands.

use crate::clock::cpu_seconds;
use lanetwin_plan::Plan;
use lanetwin_units::Span;
use lanetwin_world::World;

/// Commands per CPU-second, events for each, and simulated commands per second, of the first workload of a plan: behind
/// a tenth of as many commands that are not counted.
pub fn rates(plan: &Plan, commands: u64) -> [f64; 3] {
    let workload = &plan.variants[0].workloads[0];
    let mut world = World::new(&plan.variants[0], workload, &workload.cases[0], 1);
    let until = |world: &mut World, commands: u64| {
        while world.progress().1 < commands {
            let now = world.kernel.now();
            world.kernel.run_until(now + Span::from_us(200));
        }
        (world.progress().1, world.kernel.events(), world.kernel.now(), cpu_seconds())
    };
    let begin = until(&mut world, commands / 10);
    let end = until(&mut world, commands + commands / 10);
    let done = (end.0 - begin.0) as f64;
    let simulated = (end.2 - begin.2).as_ps() as f64 * 1e-12;
    [done / (end.3 - begin.3), (end.1 - begin.1) as f64 / done, done / simulated]
}
