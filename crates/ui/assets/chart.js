// @ts-check
// Lines over time on a canvas. Several charts share a stretch of time and a cursor.

import { onTheme } from "./theme.js";

/** Points of a series that are kept: more than the server keeps. */
const MOST = 2 ** 18;

/**
 * Numbers over time that grow at the end; of very many the latest are kept.
 */
export class Series {
  /**
   * @param {string} name
   * @param {string} colour a variable of the style sheet
   * @param {{ step?: boolean, dash?: number[], points?: boolean, shape?: string, far?: boolean }} [look] `far`: the scale is not made for it
   */
  constructor(name, colour, look = {}) {
    this.name = name;
    this.colour = colour;
    this.look = look;
    /** Its last value holds until then, if it is a step. */
    this.holdsUntil = 0;
    this.length = 0;
    this.times = new Float64Array(1024);
    this.values = new Float64Array(1024);
    /** @type {string[]} */
    this.words = [];
  }
  /** Adds a point, or replaces the last if it has the same time. @param {number} time @param {number | null} value @param {string} [word] */
  put(time, value, word) {
    if (value === null || !Number.isFinite(value)) return;
    if (this.length > 0 && !this.look.points && this.times[this.length - 1] >= time) {
      this.values[this.length - 1] = value;
      return;
    }
    if (this.length === MOST) this.forget(MOST / 2);
    if (this.length === this.times.length) {
      for (const key of /** @type {const} */ (["times", "values"])) {
        const longer = new Float64Array(2 * this.length);
        longer.set(this[key]);
        this[key] = longer;
      }
    }
    this.times[this.length] = time;
    this.values[this.length] = value;
    if (this.look.points) this.words[this.length] = word ?? "";
    this.length += 1;
  }
  /** No value holds from a time on: the line has a gap. @param {number} time */
  gap(time) {
    if (this.length === 0 || Number.isNaN(this.values[this.length - 1])) return;
    this.put(time, 0);
    this.values[this.length - 1] = NaN;
  }
  /** The last value. @returns {number | null} */
  get latest() {
    return this.length > 0 ? this.values[this.length - 1] : null;
  }
  /** Forgets what is at a time and later. @param {number} time */
  forgetFrom(time) {
    this.length = this.from(time);
  }
  /** Forgets all points. */
  clear() {
    this.length = 0;
    this.words.length = 0;
  }
  /** Forgets the first points. @param {number} count */
  forget(count) {
    for (const list of [this.times, this.values]) list.copyWithin(0, count, this.length);
    this.words.splice(0, count);
    this.length -= count;
  }
  /** The first place at or behind a time. @param {number} time */
  from(time) {
    let low = 0, high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] < time) low = middle + 1; else high = middle;
    }
    return low;
  }
  /** The highest value between two times, and of the line into them. @param {number} from @param {number} until */
  most(from, until) {
    let most = -Infinity;
    const last = Math.min(this.length, this.from(until) + 1);
    for (let place = Math.max(0, this.from(from) - 1); place < last; place++) if (this.values[place] > most) most = this.values[place];
    return most;
  }
  /** The value that holds at a time. @param {number} time */
  at(time) {
    const place = this.from(time + 1e-9) - 1;
    return place < 0 || Number.isNaN(this.values[place]) ? null : this.values[place];
  }
}

const LEFT = 66, RIGHT = 10, TOP = 8, BOTTOM = 20;

/** Round steps of an axis. @param {number} span @param {number} most */
const step = (span, most) => {
  const raw = span / most, power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map((it) => it * power).find((it) => it >= raw) ?? 10 * power;
};

/** Round steps of an axis of time, seconds. @param {number} span @param {number} most */
const timeStep = (span, most) => {
  if (span / most < 50) return step(span, most);
  const whole = [1, 2, 5, 10, 20, 30, 60, 120, 180, 360, 720].map((it) => it * 60).find((it) => it >= span / most);
  return whole ?? Math.ceil(span / most / 86_400) * 86_400;
};

/** @type {Map<string, string>} */
const colours = new Map();
onTheme(() => colours.clear());

/** The colour that a variable of the style sheet means now. @param {string} name */
const colour = (name) => {
  let found = colours.get(name);
  if (!found) {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.color = `var(--${name})`;
    found = getComputedStyle(probe).color;
    probe.remove();
    colours.set(name, found);
  }
  return found;
};

/** The stretch of time that charts show, and who is told when it changes. */
export class Stretch {
  constructor() {
    this.from = 0;
    this.until = 1;
    /** The time that the reader points at, or where playing is. @type {number | null} */
    this.cursor = null;
    /** @type {Chart[]} */
    this.charts = [];
    /** @type {(() => void)[]} */
    this.heard = [];
  }
  /** @param {number} from @param {number} until */
  show(from, until) {
    this.from = from;
    this.until = Math.max(until, from + 1e-3);
    this.draw();
  }
  draw() {
    for (const chart of this.charts) chart.dirty = true;
  }
  changed() {
    for (const tell of this.heard) tell();
  }
}

/** Between two drawings, milliseconds: 30 a second, and a little for frames that come early. */
const DRAWN_EVERY = 25;
/** Between two frames of a screen, milliseconds. */
const FRAME = 17;
/** A frame that is later, milliseconds, counts as so late: the first ones of a page take very long. */
const LATEST = 40;

/**
 * When to draw what goes on: 30 times a second where there is time for it. Where frames are late
 * the machine is busy, maybe with the trial that is shown: then drawing takes a quarter of the time,
 * but goes on seven times a second, which is nearly as often as there is news.
 */
export class Pace {
  constructor() {
    this.next = 0;
    this.late = 0;
    /** The frame that was drawn in, until the next one tells how long it took. @type {number | null} */
    this.drawn = null;
  }
  /** Whether to draw in the frame that begins. @param {number} moment */
  isDue(moment) {
    if (this.drawn !== null) {
      const late = Math.min(LATEST, Math.max(0, moment - this.drawn - FRAME));
      this.late += (late - this.late) / 2;
      this.drawn = null;
    }
    if (moment < this.next) return false;
    this.drawn = moment;
    this.next = moment + DRAWN_EVERY + 3 * this.late;
    return true;
  }
}

/** What the key of a series shows: what is drawn of it. @param {Series["look"]} look */
const sampleOf = ({ points, shape, dash }) => points ? (shape === "cross" ? "cross" : "point") : dash ? "dashed" : "line";

/** One chart. */
export class Chart {
  /**
   * @param {Stretch} stretch
   * @param {string} title
   * @param {(value: number) => string} words
   * @param {Series[]} series
   * @param {{ height?: number, least?: number, until?: () => number, most?: () => number }} [options] `most`: where its scale ends at least
   */
  constructor(stretch, title, words, series, options = {}) {
    this.stretch = stretch;
    this.title = title;
    this.words = words;
    this.series = series;
    this.options = options;
    this.dirty = true;
    this.toldAt = -Infinity;
    /** Where a time and a value are, pixels. */
    this.placed = { x: (/** @type {number} */ _) => 0, y: (/** @type {number} */ _) => 0 };
    this.element = document.createElement("figure");
    this.element.className = "live-chart";
    const caption = this.element.appendChild(document.createElement("figcaption"));
    caption.appendChild(document.createElement("b")).textContent = title;
    this.keys = series.map((one) => {
      const key = caption.appendChild(document.createElement("span"));
      key.className = "key";
      const sample = key.appendChild(document.createElement("i"));
      sample.className = `${sampleOf(one.look)} ${one.colour}`;
      key.appendChild(document.createTextNode(one.name));
      const value = key.appendChild(document.createElement("output"));
      return { key, value };
    });
    this.canvas = this.element.appendChild(document.createElement("canvas"));
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", `${title} over time. Arrow keys move, plus and minus zoom.`);
    this.canvas.height = options.height ?? 170;
    this.listen();
    onTheme(() => { this.dirty = true; });
    this.width = 0;
    new ResizeObserver(() => {
      this.width = this.element.clientWidth;
      this.dirty = true;
    }).observe(this.element);
    stretch.charts.push(this);
  }

  /** @param {MouseEvent} event */
  time(event) {
    const box = this.canvas.getBoundingClientRect(), { from, until } = this.stretch;
    const share = (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
    return from + Math.min(1, Math.max(0, share)) * (until - from);
  }

  /** The time of the point below the pointer. @param {MouseEvent} event */
  near(event) {
    const box = this.canvas.getBoundingClientRect(), { from, until } = this.stretch;
    const [left, up] = [event.clientX - box.left, event.clientY - box.top];
    const reach = (8 / (box.width - LEFT - RIGHT)) * (until - from), time = this.time(event);
    let nearest = 8, found = null;
    for (const one of this.series) {
      if (!one.look.points) continue;
      for (let place = one.from(time - reach); place < one.length && one.times[place] <= time + reach; place++) {
        const { x, y } = this.placed;
        const far = Math.hypot(x(one.times[place]) - left, y(one.values[place]) - up);
        if (far < nearest) [nearest, found] = [far, one.times[place]];
      }
    }
    return found;
  }

  listen() {
    const { canvas, stretch } = this;
    /** @type {number | null} */
    let began = null;
    canvas.addEventListener("pointerdown", (event) => {
      began = this.time(event);
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      stretch.cursor = this.near(event) ?? this.time(event);
      stretch.draw();
      stretch.changed();
    });
    canvas.addEventListener("pointerup", (event) => {
      const ended = this.time(event);
      if (began !== null && Math.abs(ended - began) > (stretch.until - stretch.from) / 100) {
        this.zoom(Math.min(began, ended), Math.max(began, ended));
      } else if (began !== null) canvas.dispatchEvent(new CustomEvent("picked", { bubbles: true }));
      began = null;
    });
    canvas.addEventListener("dblclick", () => stretch.heard.length && canvas.dispatchEvent(new CustomEvent("whole", { bubbles: true })));
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.scale(event.deltaY > 0 ? 1.25 : 0.8, this.time(event));
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const span = stretch.until - stretch.from, middle = (stretch.from + stretch.until) / 2;
      if (event.key === "ArrowLeft") this.zoom(stretch.from - span / 5, stretch.until - span / 5);
      else if (event.key === "ArrowRight") this.zoom(stretch.from + span / 5, stretch.until + span / 5);
      else if (event.key === "+" || event.key === "=") this.scale(0.8, stretch.cursor ?? middle);
      else if (event.key === "-") this.scale(1.25, stretch.cursor ?? middle);
      else return;
      event.preventDefault();
    });
  }

  /** @param {number} factor @param {number} around */
  scale(factor, around) {
    const { from, until } = this.stretch;
    this.zoom(around - (around - from) * factor, around + (until - around) * factor);
  }

  /** The reader chose this stretch. @param {number} from @param {number} until */
  zoom(from, until) {
    this.canvas.dispatchEvent(new CustomEvent("zoomed", { bubbles: true }));
    this.stretch.show(Math.max(0, from), until);
    this.stretch.changed();
  }

  draw() {
    if (!this.dirty) return;
    this.dirty = false;
    const { canvas, stretch } = this, ratio = devicePixelRatio || 1;
    const width = this.width, height = this.options.height ?? 170;
    if (width === 0) return;
    if (canvas.width !== Math.round(width * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    const { from, until } = stretch, top = TOP, bottom = height - BOTTOM;
    const x = (/** @type {number} */ time) => LEFT + ((time - from) / (until - from)) * (width - LEFT - RIGHT);
    let most = Math.max(this.options.least ?? 0, this.options.most?.() ?? 0);
    let lowest = Infinity;
    for (const one of this.series) {
      if (one.look.far) continue;
      const first = Math.max(0, one.from(from) - 1), last = Math.min(one.length, one.from(until) + 1);
      for (let place = first; place < last; place++) {
        // A gap is neither.
        if (one.values[place] > most) most = one.values[place];
        if (one.values[place] < lowest) lowest = one.values[place];
      }
    }
    // A stream's numbers are far from zero; other quantities are seen from zero.
    const floor = this.options.until ? Math.max(0, Math.min(lowest, most)) : 0;
    if (!(most > floor)) most = floor + 1;
    const y = (/** @type {number} */ value) => bottom - ((value - floor) / (most - floor)) * (bottom - top);
    this.placed = { x, y };
    this.axes(context, { x, y, width, top, bottom, floor, most });
    context.save();
    context.beginPath();
    context.rect(LEFT, 0, width - LEFT - RIGHT, height);
    context.clip();
    for (const one of this.series) this.line(context, one, x, y);
    if (stretch.cursor !== null) {
      context.strokeStyle = colour("muted");
      context.beginPath();
      context.moveTo(x(stretch.cursor), 0);
      context.lineTo(x(stretch.cursor), bottom);
      context.stroke();
    }
    context.restore();
    this.told(stretch.cursor ?? until);
  }

  /** The values at a time, a few times a second: a text that changes has the page laid out again. @param {number} time */
  told(time) {
    if (performance.now() - this.toldAt < 150) {
      // What is skipped is made up for.
      this.dirty = true;
      return;
    }
    this.toldAt = performance.now();
    this.series.forEach((one, place) => {
      const value = one.look.points ? null : one.at(time);
      const text = value === null ? "" : this.words(value), { value: shown } = this.keys[place];
      if (shown.textContent !== text) shown.textContent = text;
    });
  }

  /** @param {CanvasRenderingContext2D} context @param {any} frame */
  axes(context, { x, y, width, top, bottom, floor, most }) {
    const { from, until } = this.stretch;
    context.font = "11.5px system-ui, sans-serif";
    context.fillStyle = colour("muted");
    context.strokeStyle = colour("plot-grid");
    context.lineWidth = 1;
    context.textAlign = "right";
    context.textBaseline = "middle";
    const high = step(most - floor, 4);
    for (let value = Math.ceil(floor / high) * high; value <= most; value += high) {
      context.beginPath();
      context.moveTo(LEFT, Math.round(y(value)) + 0.5);
      context.lineTo(width - RIGHT, Math.round(y(value)) + 0.5);
      context.stroke();
      if (y(value) > top) context.fillText(this.words(value), LEFT - 6, y(value));
    }
    context.textAlign = "center";
    context.textBaseline = "top";
    const wide = timeStep(until - from, Math.max(2, width / 110));
    for (let time = Math.ceil(from / wide) * wide; time <= until; time += wide) {
      const label = wide < 60 ? `${Number(time.toFixed(6))} s` : `${Math.floor(time / 3600)}:${String(Math.round(time / 60) % 60).padStart(2, "0")} h`;
      if (x(time) < width - RIGHT - 14) context.fillText(label, x(time), bottom + 5);
    }
  }

  /** @param {CanvasRenderingContext2D} context @param {Series} one @param {(it: number) => number} x @param {(it: number) => number} y */
  line(context, one, x, y) {
    const { from, until } = this.stretch;
    const first = Math.max(0, one.from(from) - 1), last = Math.min(one.length, one.from(until) + 1);
    context.strokeStyle = context.fillStyle = colour(one.colour);
    context.lineWidth = 1.6;
    context.setLineDash(one.look.dash ?? []);
    if (one.look.points) {
      for (let place = first; place < last; place++) {
        const [left, up] = [x(one.times[place]), y(one.values[place])];
        if (one.look.shape === "cross") {
          context.beginPath();
          context.moveTo(left - 4, up - 4);
          context.lineTo(left + 4, up + 4);
          context.moveTo(left + 4, up - 4);
          context.lineTo(left - 4, up + 4);
          context.stroke();
        } else context.fillRect(left - 2, up - 2, 4, 4);
      }
      return;
    }
    context.beginPath();
    let before = NaN, column = -1, low = 0, high = 0;
    for (let place = first; place < last; place++) {
      const left = x(one.times[place]), up = y(one.values[place]);
      if (Number.isNaN(up)) {
        if (one.look.step && !Number.isNaN(before)) context.lineTo(left, before);
        [before, column] = [NaN, -1];
        continue;
      }
      // Of many in a column of pixels the lowest and the highest are drawn.
      if (Math.floor(left) === column) {
        low = Math.min(low, up);
        high = Math.max(high, up);
        before = up;
        if (place + 1 < last && Math.floor(x(one.times[place + 1])) === column) continue;
        context.lineTo(left, low);
        context.lineTo(left, high);
        context.lineTo(left, up);
        continue;
      }
      if (Number.isNaN(before)) context.moveTo(left, up);
      else {
        if (one.look.step) context.lineTo(left, before);
        context.lineTo(left, up);
      }
      [before, column, low, high] = [up, Math.floor(left), up, up];
    }
    const end = Math.max(one.times[one.length - 1] + 0.01, one.holdsUntil);
    if (one.look.step && !Number.isNaN(before)) context.lineTo(x(Math.min(until, end)), before);
    context.stroke();
    context.setLineDash([]);
  }
}
