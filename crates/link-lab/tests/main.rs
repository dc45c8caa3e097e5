//! What the laboratory of links is held to, in one program: each of these files as one of its own would link all of it
//! again.

mod link_neighbours;
mod link_pages;
mod links;
mod one_verdict;
mod stability;
