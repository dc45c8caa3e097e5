//! What a component is: something with ports, that is told of messages and of the times it asked to be woken at.

use crate::context::Context;
use crate::ids::Port;
use crate::report::Report;
use lanetwin_units::Instant;
use std::any::Any;

/// What a digest says of a message.
pub trait Content {
    /// The meaning of the message as 64 bits. It must not depend on where the message is stored.
    fn content(&self) -> u64;
}

/// A way to see a component as what it can do: as a trait object.
pub struct Role<T: ?Sized + 'static>(pub fn(&mut dyn Any) -> Option<&mut T>);

/// A component as what it can do; none if it cannot.
pub fn role_of<M, T: ?Sized + 'static>(component: &mut dyn Component<M>) -> Option<&mut T> {
    let Role(see) = component.roles().iter().find_map(|role| role.downcast_ref::<Role<T>>())?;
    see(component.as_any()?)
}

/// Says in an `impl Component` which traits a component can be asked for by [`Kernel::role`](crate::Kernel::role).
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

/// Numbers the stages of requests that a component marks, and lists their names for
/// [`Component::stages`](crate::Component::stages). With a list of others before them, theirs come first.
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
        /// The names of its own stages.
        pub(crate) const STAGES: &[&str] = &[$($text),+];
        $crate::stages! { @number ($others.len() as u16); $($name)+ }
    };
    (@number ($number:expr); $name:ident $($rest:ident)*) => {
        pub(crate) const $name: $crate::Stage = $crate::Stage($number);
        $crate::stages! { @number ($number + 1); $($rest)* }
    };
    (@number ($number:expr);) => {};
}

/// A device, a load, a set of links: whatever has ports.
pub trait Component<M> {
    /// Called once, before the first event.
    fn start(&mut self, _cx: &mut Context<'_, M>) {}

    /// A message has arrived.
    fn receive(&mut self, port: Port, message: M, cx: &mut Context<'_, M>);

    /// A message will arrive at `at`, not before now. Only components that were added as *foreseeing* are asked;
    /// knowing early what will come is what gives a link its lookahead.
    fn expect(&mut self, _at: Instant, _port: Port, _message: &M, _cx: &mut Context<'_, M>) {
        unreachable!("a component that foresees implements `expect`")
    }

    /// The time has come that the component asked for with [`Context::wake_at`].
    fn wake(&mut self, _token: u32, _cx: &mut Context<'_, M>) {}

    /// Shows the state by name, for people.
    fn inspect(&self, _see: &mut dyn FnMut(&str, String)) {}

    /// Says what was used up to `now`, the present, of everything that the component has a finite supply of, what it
    /// has counted, and how things stand. It may catch up with what it has put off, and changes nothing else.
    fn report(&mut self, _now: Instant, _report: &mut Report) {}

    /// The stages of requests that the component [marks](Context::mark), by name (`queue for an engine`), each at the
    /// place of its number; always the same.
    fn stages(&self) -> Vec<String> {
        Vec::new()
    }

    /// What the component has done so far, beyond the messages it was sent, as 64 bits; part of the kernel's digest.
    fn digest(&self) -> u64 {
        0
    }

    /// As [`digest`](Self::digest), at `now`, the present: for a component that makes up for what it has done when
    /// somebody asks.
    fn digest_up_to(&self, _now: Instant) -> u64 {
        self.digest()
    }

    /// What it can be asked to do beyond messages, by whoever knows none but the traits: [`roles!`](crate::roles)
    /// writes this.
    fn roles(&self) -> &'static [&'static dyn Any] {
        &[]
    }

    /// The component itself, for the code that built it and reads its results after a run.
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        None
    }
}
