// @ts-check
// A rate over the latest intervals, which is zero where nothing passes.

/** Over so many intervals a rate is taken. */
const SMOOTHED = 10;

/** A curve of it, that grows at its end. */
export class MovingRate {
  /** @param {import("./chart.js").Series} curve */
  constructor(curve) {
    this.curve = curve;
    /** Seconds. */
    this.interval = 0;
    /** The intervals that still count, with their bytes. @type {[number, number][]} */
    this.recent = [];
  }
  /** So many bytes passed in an interval: the last one, as far as it is known, or a later one. @param {number} place @param {number} bytes @param {number} interval seconds */
  put(place, bytes, interval) {
    this.interval = interval;
    const last = this.recent.at(-1);
    if (last?.[0] === place) last[1] = bytes;
    else {
      this.rest(place - 1);
      this.recent.push([place, bytes]);
    }
    while (this.recent[0][0] <= place - SMOOTHED) this.recent.shift();
    this.point(place);
  }
  /** Nothing has passed since the last interval until the end of this one, as far as is known. @param {number} until */
  rest(until) {
    const last = this.recent.at(-1)?.[0] ?? until;
    for (let place = last + 1; place < Math.min(until, last + SMOOTHED); place++) this.point(place);
    if (last < until) {
      this.point(Math.min(until, last + SMOOTHED));
      this.point(until);
    }
  }
  /** Nothing passes any more; its end is not before that of an interval. @param {number} until */
  end(until) {
    const last = this.recent.at(-1)?.[0] ?? until;
    this.rest(Math.max(until, last + SMOOTHED));
  }
  /** The rate at the end of an interval, behind which nothing is known. @param {number} place */
  point(place) {
    const time = (place + 1) * this.interval;
    this.curve.forgetFrom(time);
    const sum = this.recent.reduce((all, [at, bytes]) => at > place - SMOOTHED ? all + bytes : all, 0);
    this.curve.put(time, (sum * 8) / (SMOOTHED * this.interval));
  }
}
