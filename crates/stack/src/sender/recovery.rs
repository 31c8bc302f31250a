//! The states of recovery: when each is entered and left (`tcp_fastretrans_alert`).

use tcplab_units::{Instant, Span};

use super::ack::Facts;
use super::alarm::Purpose;
use super::{Repeat, Sender, Stream, micros};
use crate::config::{Detection, Reduction, TimeoutAction};
use crate::congestion::{Event, State};

/// How long at least a peer that seems to have thrown SACKed data away is given to show that it
/// has not (`tcp_check_sack_reneging`).
const RENEGING: Span = Span::from_millis(10);

impl Sender {
    /// Whether time tells of losses.
    pub(super) fn is_rack(&self) -> bool {
        self.config.recovery.detection == Detection::Rack
    }

    /// Whether SACK is not listened to: all is being sent again from the first byte on.
    pub(super) fn is_going_back(&self) -> bool {
        self.window.state == State::Loss && self.config.timeout.action == TimeoutAction::GoBack
    }

    /// An acknowledgement that is not just progress. `duplicates`: how many it counts for.
    pub(super) fn fast_alert(
        &mut self,
        now: Instant,
        duplicates: u32,
        stream: &Stream,
        facts: &mut Facts,
    ) {
        let duplicates =
            if self.config.recovery.detection == Detection::TimerOnly { 0 } else { duplicates };
        if self.board.is_empty() {
            self.board.sacked_out = 0;
        }
        // Congestion is proven: nothing is taken back (RFC 3168 section 6.1.2).
        if facts.ece {
            self.undo.prior_ssthresh = 0;
        }
        if facts.reneging && facts.advanced {
            let half = Span::from_micros(self.trip.smoothed().unwrap_or(0) / 2);
            self.set_alarm(now, Purpose::Retransmit, half.max(RENEGING));
            facts.set_timer = false;
            return;
        }
        if self.window.state == State::Open {
            self.undo.stamp = None;
        } else if self.ends_here(now, facts) {
            return;
        }
        let first = match self.window.state {
            State::Recovery => match self.go_on_recovering(now, duplicates, facts) {
                Some(first) => first,
                None => return,
            },
            State::Loss => {
                self.process_loss(now, duplicates, stream, facts);
                self.identify_losses(now, facts);
                if self.window.state != State::Open && !facts.lost_repetition {
                    return;
                }
                match self.watch(now, duplicates, facts) {
                    Some(first) => first,
                    None => return,
                }
            }
            _ => match self.watch(now, duplicates, facts) {
                Some(first) => first,
                None => return,
            },
        };
        if !self.is_rack() {
            let progress = facts.sacked || facts.advanced;
            if duplicates > 0 || self.counts_duplicates() || progress && self.is_far_ahead() {
                self.mark_by_sack(first);
            }
        }
        self.repeating = Repeat::Lost;
    }

    /// Whether the state's window is acknowledged, and what then. `true`: nothing else is done.
    fn ends_here(&mut self, now: Instant, facts: &Facts) -> bool {
        let all = self.window.una >= self.high;
        // RFC 2581: the first acknowledgement of anything ends it.
        let reno = self.config.recovery.detection == Detection::Reno
            && self.window.state == State::Recovery
            && facts.advanced;
        match self.window.state {
            // Held until something above is acknowledged, for CWR to have arrived.
            State::Cwr if all && self.window.una != self.high => {
                self.end_reduction(now);
                self.set_state(now, State::Open);
            }
            State::Recovery if all => {
                if !self.sack {
                    self.board.sacked_out = 0;
                }
                if self.try_undo_recovery(now) {
                    return true;
                }
                self.end_reduction(now);
            }
            State::Recovery if reno => {
                self.board.sacked_out = 0;
                self.end_reduction(now);
                self.set_state(now, State::Open);
            }
            _ => {}
        }
        false
    }

    /// In fast recovery. `Some`: losses may be marked, `true` where a recovery just began; `None`:
    /// nothing is sent again on this acknowledgement.
    fn go_on_recovering(
        &mut self,
        now: Instant,
        duplicates: u32,
        facts: &mut Facts,
    ) -> Option<bool> {
        if !facts.advanced {
            if !self.sack {
                self.add_duplicates(duplicates);
            }
        } else if self.try_undo_partial(now, facts) {
            return None;
        }
        if self.try_undo_dsack(now) {
            self.try_to_open(now, facts);
        }
        self.identify_losses(now, facts);
        if self.window.state == State::Recovery {
            return Some(false);
        }
        if !self.is_time_to_recover() {
            return None;
        }
        self.enter_recovery(now, facts.ece);
        Some(false)
    }

    /// In all other states: looks whether there is a loss.
    fn watch(&mut self, now: Instant, duplicates: u32, facts: &mut Facts) -> Option<bool> {
        if !self.sack {
            if facts.advanced {
                self.board.sacked_out = 0;
            }
            self.add_duplicates(duplicates);
        }
        if self.window.state <= State::Disorder {
            self.try_undo_dsack(now);
        }
        self.identify_losses(now, facts);
        if !self.is_time_to_recover() {
            self.try_to_open(now, facts);
            return None;
        }
        self.enter_recovery(now, facts.ece);
        Some(true)
    }

    /// Fast recovery begins (`tcp_enter_recovery`).
    pub(super) fn enter_recovery(&mut self, now: Instant, ece: bool) {
        if self.config.recovery.reduction == Reduction::OneSegment && !self.sack {
            self.begin_again(now);
            return;
        }
        if !self.any_repeated() {
            self.undo.stamp = None;
        }
        self.undo.prior_ssthresh = 0;
        self.begin_undo();
        if !self.is_reducing() {
            if !ece {
                self.undo.prior_ssthresh = self.current_ssthresh();
            }
            self.begin_reduction(now);
        }
        self.set_state(now, State::Recovery);
    }

    /// Tahoe: from the first byte again, in slow start.
    fn begin_again(&mut self, now: Instant) {
        self.window.prior_cwnd = self.window.cwnd;
        self.window.ssthresh = self.ask_ssthresh(now);
        self.undo.marker = None;
        self.board.forget_sacks();
        for number in self.board.first()..self.board.behind() {
            self.mark_lost(number);
        }
        self.set_cwnd(1);
        self.window.count = 0;
        self.frto = false;
        self.high = self.window.nxt;
        self.probe.end();
        self.queue_cwr();
        self.set_state(now, State::Loss);
    }

    /// ECN demands a reduction (`tcp_enter_cwr`).
    fn enter_cwr(&mut self, now: Instant) {
        self.undo.prior_ssthresh = 0;
        if self.window.state < State::Cwr {
            self.undo.marker = None;
            self.begin_reduction(now);
            self.set_state(now, State::Cwr);
        }
    }

    /// No loss: back to normal, or nearly (`tcp_try_to_open`).
    fn try_to_open(&mut self, now: Instant, facts: &Facts) {
        if !self.any_repeated() {
            self.undo.stamp = None;
        }
        if facts.ece {
            self.enter_cwr(now);
        }
        if self.window.state != State::Cwr {
            self.try_keep_open(now);
        }
    }

    /// `tcp_try_keep_open`.
    pub(super) fn try_keep_open(&mut self, now: Instant) {
        let disorder = self.board.left_out() > 0 || self.any_repeated();
        let state = if disorder { State::Disorder } else { State::Open };
        if self.window.state != state {
            self.set_state(now, state);
            self.high = self.window.nxt;
        }
    }

    /// After a timeout (`tcp_process_loss`), with F-RTO (RFC 5682 section 3.1).
    fn process_loss(&mut self, now: Instant, duplicates: u32, stream: &Stream, facts: &mut Facts) {
        let recovered = self.window.una >= self.high;
        if facts.advanced && self.try_undo_loss(now, false) {
            return;
        }
        if self.frto {
            // Step 3.b: what was sent once arrived, so not all was lost.
            if facts.original && self.try_undo_loss(now, true) {
                return;
            }
            if self.window.nxt > self.high {
                if facts.sacked || duplicates > 0 {
                    self.frto = false;
                }
            } else if facts.advanced && !recovered {
                self.high = self.window.nxt;
                // Step 2.b: new data, where there is any and room for it.
                if stream.end > self.window.nxt && self.window_end() > self.window.nxt {
                    self.repeating = Repeat::NewFirst;
                    return;
                }
                self.frto = false;
            }
        }
        if recovered {
            self.try_undo_recovery(now);
            return;
        }
        if !self.sack {
            // A duplicate is the new data of step 2.b, delivered.
            if self.window.nxt > self.high && duplicates > 0 {
                self.add_duplicates(duplicates);
            } else if facts.advanced {
                self.board.sacked_out = 0;
            }
        }
        self.repeating = Repeat::Lost;
    }

    /// RACK's own timer ran out (`tcp_rack_reo_timeout`).
    pub(super) fn reordering_waited(&mut self, now: Instant) {
        let (in_flight, lost) = (self.board.in_flight(), self.window.lost);
        self.rack_detect(micros(now));
        if self.board.in_flight() != in_flight {
            if self.window.state != State::Recovery {
                self.enter_recovery(now, false);
                if !self.controls {
                    let lost = (self.window.lost - lost) as u32;
                    self.reduce(1, lost, &Facts::default());
                }
            }
            self.repeating = Repeat::Lost;
        }
        self.rearm(now, true);
    }

    /// Over into `state`.
    pub(super) fn set_state(&mut self, now: Instant, state: State) {
        self.refresh();
        self.congestion.enter(now, &mut self.window, state);
        self.window.state = state;
    }

    /// Tells the congestion control of an event.
    pub(super) fn tell_event(&mut self, now: Instant, event: Event) {
        self.refresh();
        self.congestion.event(now, &mut self.window, event);
    }

    /// Asks it for the threshold.
    pub(super) fn ask_ssthresh(&mut self, now: Instant) -> u32 {
        self.refresh();
        self.congestion.ssthresh(now, &mut self.window)
    }
}
