//! Components: they have ports, receive messages, and are woken at the times that they have requested.

use crate::context::Context;
use crate::ids::Port;
use crate::report::Report;
use lanetwin_units::Instant;
use std::any::Any;

/// The content of a message for the digest.
pub trait Content {
    /// The content of the message as 64 bits. It must not depend on where the message is stored.
    fn content(&self) -> u64;
}

/// A conversion of a component to one of its traits, as a trait object.
pub struct Role<T: ?Sized + 'static>(pub fn(&mut dyn Any) -> Option<&mut T>);

/// A component as a trait object; `None` if it does not declare the trait.
pub fn role_of<M, T: ?Sized + 'static>(component: &mut dyn Component<M>) -> Option<&mut T> {
    let Role(see) = component.roles().iter().find_map(|role| role.downcast_ref::<Role<T>>())?;
    see(component.as_any()?)
}

/// Declares in an `impl Component` the traits that [`Kernel::role`](crate::Kernel::role) can return.
///
/// ```
/// use lanetwin_kernel::{Builder, Component, Content, Context, Port, roles};
///
/// trait Counts { fn count(&self) -> u64; }
/// struct Clicker(u64);
/// impl Counts for Clicker { fn count(&self) -> u64 { self.0 } }
/// # #[derive(Clone, Copy)] struct Click;
/// # impl Content for Click { fn content(&self) -> u64 { 0 } }
/// impl Component<Click> for Clicker {
///     fn receive(&mut self, _: Port, _: Click, _: &mut Context<'_, Click>) { self.0 += 1; }
///     fn as_any(&mut self) -> Option<&mut dyn std::any::Any> { Some(self) }
///     roles! { dyn Counts }
/// }
/// let mut builder = Builder::new();
/// let clicker = builder.add("clicker", Box::new(Clicker(7)));
/// let mut kernel = builder.seal();
/// assert_eq!(kernel.role::<dyn Counts>(clicker).map(|counts| counts.count()), Some(7));
/// ```
#[macro_export]
macro_rules! roles {
    ($($role:ty),+ $(,)?) => {
        fn roles(&self) -> &'static [&'static dyn ::std::any::Any] {
            const {
                &[$(&$crate::Role::<$role>(|any| any.downcast_mut::<Self>().map(|own| own as &mut $role))),+]
            }
        }
    };
}

/// Numbers the stages that a component marks on requests, and lists their names for
/// [`Component::stages`](crate::Component::stages). After `after`, a list of stages that come before them.
///
/// ```
/// use lanetwin_kernel::{Stage, stages};
/// const OTHERS: &[&str] = &["issue"];
/// stages! { after OTHERS; WAIT = "queue for a worker", WORK = "work" }
/// assert_eq!((WORK, STAGES), (Stage(2), &["queue for a worker", "work"][..]));
/// ```
#[macro_export]
macro_rules! stages {
    ($($name:ident = $text:literal),+ $(,)?) => {
        const NO_OTHER_STAGES: &[&str] = &[];
        $crate::stages! { after NO_OTHER_STAGES; $($name = $text),+ }
    };
    (after $others:path; $($name:ident = $text:literal),+ $(,)?) => {
        /// The names of the component's stages.
        pub(crate) const STAGES: &[&str] = &[$($text),+];
        $crate::stages! { @number ($others.len() as u16); $($name)+ }
    };
    (@number ($number:expr); $name:ident $($rest:ident)*) => {
        pub(crate) const $name: $crate::Stage = $crate::Stage($number);
        $crate::stages! { @number ($number + 1); $($rest)* }
    };
    (@number ($number:expr);) => {};
}

/// A component: a device, a load, a set of links, or anything else with ports.
pub trait Component<M> {
    /// Called once, before the first event.
    fn start(&mut self, _cx: &mut Context<'_, M>) {}

    /// Handles a message that has arrived.
    fn receive(&mut self, port: Port, message: M, cx: &mut Context<'_, M>);

    /// Announces a message that will arrive at `at`, now or later. Called only for components that were added as
    /// *foreseeing*: early knowledge of messages gives a link its lookahead.
    fn expect(&mut self, _at: Instant, _port: Port, _message: &M, _cx: &mut Context<'_, M>) {
        unreachable!("a component that foresees implements `expect`")
    }

    /// Called at the time that the component requested with [`Context::wake_at`].
    fn wake(&mut self, _token: u32, _cx: &mut Context<'_, M>) {}

    /// Shows the state by name, for debugging.
    fn inspect(&self, _see: &mut dyn FnMut(&str, String)) {}

    /// Reports the use of the component's finite supplies up to `now`, the present, its counters and its levels. It may
    /// do deferred work, and must change nothing else.
    fn report(&mut self, _now: Instant, _report: &mut Report) {}

    /// The names of the stages that the component [marks](Context::mark) on requests (`queue for an engine`), each at
    /// the index of its number; always the same.
    fn stages(&self) -> Vec<String> {
        Vec::new()
    }

    /// State of the component beyond the messages that it was sent, as 64 bits; part of the kernel's digest.
    fn digest(&self) -> u64 {
        0
    }

    /// As [`digest`](Self::digest), at `now`, the present: for a component that does deferred work only when it is
    /// asked.
    fn digest_up_to(&self, _now: Instant) -> u64 {
        self.digest()
    }

    /// The traits by which code that does not know the component's type can call it; written by
    /// [`roles!`](crate::roles).
    fn roles(&self) -> &'static [&'static dyn Any] {
        &[]
    }

    /// The component as its own type, for the code that built it and reads its results after a run.
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        None
    }
}
