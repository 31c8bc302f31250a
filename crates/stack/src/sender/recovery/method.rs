//! The method that a stack uses.

use std::ops::{Deref, DerefMut};

use super::LossRecovery;
use super::duplicates::{NewReno, Reno, TimerOnly};
use super::rack::Rack;
use super::sack::Sack;
use crate::config::{self, Detection};

/// One of the methods; an enum, because RACK learns from every segment delivered.
#[derive(Debug)]
pub(crate) enum Method {
    TimerOnly(TimerOnly),
    Reno(Reno),
    NewReno(NewReno),
    Sack(Sack),
    Rack(Rack),
}

impl Method {
    /// What `config` asks for; without SACK, SACK and RACK fall back to NewReno.
    pub(crate) fn new(config: &config::Recovery, sack: bool) -> Method {
        let counts = config.counts_duplicates;
        match config.detection {
            Detection::TimerOnly => Method::TimerOnly(TimerOnly),
            Detection::Reno => Method::Reno(Reno),
            Detection::Sack if sack => {
                Method::Sack(Sack { duplicates: counts.then_some(config.dupthresh) })
            }
            Detection::Rack if sack => Method::Rack(Rack::default()),
            _ => Method::NewReno(NewReno),
        }
    }

    pub(crate) fn rack(&mut self) -> Option<&mut Rack> {
        match self {
            Method::Rack(rack) => Some(rack),
            _ => None,
        }
    }
}

impl Deref for Method {
    type Target = dyn LossRecovery;

    fn deref(&self) -> &Self::Target {
        match self {
            Method::TimerOnly(method) => method,
            Method::Reno(method) => method,
            Method::NewReno(method) => method,
            Method::Sack(method) => method,
            Method::Rack(method) => method,
        }
    }
}

impl DerefMut for Method {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Method::TimerOnly(method) => method,
            Method::Reno(method) => method,
            Method::NewReno(method) => method,
            Method::Sack(method) => method,
            Method::Rack(method) => method,
        }
    }
}
