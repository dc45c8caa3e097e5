mod by_hand;
mod laws;
