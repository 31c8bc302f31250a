//! What a page shows of one trial.

pub(crate) mod calls;
pub(crate) mod datagrams;
pub(crate) mod ends;
pub(crate) mod episode;
pub(crate) mod flows;
pub(crate) mod graphs;
pub(crate) mod interruption;
pub(crate) mod limits;
pub(crate) mod load;
pub(crate) mod packets;
pub(crate) mod queues;
pub(crate) mod stalls;
pub(crate) mod transfer;
pub(crate) mod view;
pub(crate) mod warnings;
