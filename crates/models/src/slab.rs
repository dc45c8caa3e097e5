//! Things in flight, by handle. A handle is free again when its thing has been taken out.

/// Things of type `T`, each with a handle.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    things: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Slab<T> {
    pub(crate) const fn new() -> Self {
        Self { things: Vec::new(), free: Vec::new() }
    }
    /// Puts a thing in; its handle.
    pub(crate) fn put(&mut self, thing: T) -> u32 {
        if let Some(handle) = self.free.pop() {
            self.things[handle as usize] = Some(thing);
            return handle;
        }
        self.things.push(Some(thing));
        u32::try_from(self.things.len() - 1).expect("fewer than 2³² things are in flight")
    }
    /// The thing with this handle, if there is one.
    pub(crate) fn get(&mut self, handle: u32) -> Option<&mut T> {
        self.things.get_mut(handle as usize)?.as_mut()
    }
    /// Everything that is in, by handle.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.things.iter().flatten()
    }
    /// The same, each with its handle.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (u32, &T)> {
        (0..).zip(&self.things).filter_map(|(handle, thing)| Some((handle, thing.as_ref()?)))
    }
    /// All entries, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.things.iter_mut().flatten()
    }
    /// Takes all entries.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = T> {
        self.free.clear();
        std::mem::take(&mut self.things).into_iter().flatten()
    }
    /// Takes the thing with this handle out, if there is one.
    pub(crate) fn take(&mut self, handle: u32) -> Option<T> {
        let thing = self.things.get_mut(handle as usize)?.take()?;
        self.free.push(handle);
        Some(thing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_names_one_thing_at_a_time() {
        let mut slab = Slab::new();
        let (a, b) = (slab.put('a'), slab.put('b'));
        assert_eq!((slab.take(a), slab.take(a)), (Some('a'), None));
        let c = slab.put('c');
        assert_eq!(c, a);
        assert_eq!((slab.get(b).copied(), slab.get(c).copied(), slab.get(9)), (Some('b'), Some('c'), None));
    }
}
