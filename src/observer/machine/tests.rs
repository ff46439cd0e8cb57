//! Conversations with the machine: what happens, then what it asks for. `talk` plays the driver and the provider.

mod failures;
mod flow;
mod random;
mod talk;
