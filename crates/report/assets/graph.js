"use strict";
// One graph: reads its layers back from their paths, shows a part of its plane, draws its axes.
// Places on the plane are whole units; `x` and `y` of the data attributes say what they mean.

/** The strokes of a path as written by tcplab: M, m, h, v, l with whole numbers. */
function decode(path) {
  const xs = [], ys = [];
  let x = 0, y = 0;
  for (const [, command, rest] of path.matchAll(/([Mmhvl])([^Mmhvl]*)/g)) {
    const numbers = (rest.match(/-?\d+/g) || []).map(Number);
    const pair = command !== "h" && command !== "v";
    for (let i = 0; i < numbers.length; i += pair ? 2 : 1) {
      if (command === "M") { x = numbers[i]; y = numbers[i + 1]; }
      else if (pair) { x += numbers[i]; y += numbers[i + 1]; }
      else if (command === "h") x += numbers[i];
      else y += numbers[i];
      xs.push(x);
      ys.push(y);
    }
  }
  return { xs, ys };
}

/** Marks at multiples of 1, 2 or 5 times a power of ten, as in the plot crate. */
function ticks(low, high, most) {
  const range = high - low;
  if (!(range > 0)) return { step: 1, decimals: 0, at: [low] };
  const rough = range / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((s) => s >= rough * 0.999999);
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const at = [];
  for (let n = Math.ceil(low / step - 1e-6); n <= Math.floor(high / step + 1e-6); n++) at.push(n * step);
  return { step, decimals, at };
}

function decimal(value, decimals) {
  const text = value.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return /^-[0.,]*$/.test(text) ? text.slice(1) : text;
}

/** The first index whose value is above `x`, in a rising list. */
function above(xs, x) {
  let low = 0, high = xs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (xs[middle] > x) high = middle; else low = middle + 1;
  }
  return low;
}

/** The unit for marks so many bytes apart, so that they need one decimal at most. */
function byteUnit(step) {
  return step >= 1e8 ? [1e9, "GB"] : step >= 1e5 ? [1e6, "MB"] : step >= 1e2 ? [1e3, "kB"] : [1, "B"];
}

const DATA_LAYERS = ["data", "drop", "fast", "fills", "timeout"];
const STROKE_LAYERS = ["sack", ...DATA_LAYERS, "dsack", "triple"];
const LINE_LAYERS = { acks: "ack", edge: "window edge" };
/** Layers of a chart that mark moments, each a stroke without length. */
const isMark = (name) => name.startsWith("drop-");
const LETTER = 6.2; // pixels of a letter, about
const REACH = 12; // pixels from the pointer within which something is meant

class Graph {
  constructor(svg) {
    this.svg = svg;
    this.plane = svg.querySelector(".plane");
    const pair = (text) => text.split(" ").map(Number);
    this.x = pair(svg.dataset.x);
    this.y = pair(svg.dataset.y);
    this.unit = svg.dataset.unit;
    this.rows = svg.dataset.rows?.split("|"); // named rows instead of values
    const right = /^(\S+) (.*)$/.exec(svg.dataset.right || "");
    this.right = right && { factor: Number(right[1]), unit: right[2] };
    const box = this.plane.viewBox.baseVal;
    this.units = [box.width, box.height];
    this.top = Number(this.plane.getAttribute("y"));
    this.height = Number(this.plane.getAttribute("height"));
    this.sequence = svg.classList.contains("time-sequence");
    this.points = svg.classList.contains("points");
    this.bySequence = svg.dataset.across === "sequence"; // not over time
    // Units of the levels of detail: microseconds for a second, bytes for a byte.
    this.fineness = [this.bySequence ? 1 : 1e6, this.unit === "ms" ? 1e3 : 1];
    this.figure = svg.closest("figure");
    this.readout = this.figure.querySelector(".readout");
    this.chosenY = null; // set once the reader zooms upwards
    this.layers = null;
    svg.querySelector("title")?.remove(); // its tooltip would cover the readout
    svg.classList.add("live");
    svg.setAttribute("tabindex", "0");
    this.cursor = this.extra("path", "cursor");
    this.found = this.extra("circle", "found");
    this.choice = this.extra("rect", "choice");
    const levels = this.figure.querySelector("script.levels");
    if (levels && "DecompressionStream" in window) this.canvas = new LevelCanvas(this, JSON.parse(levels.textContent));
    this.layout(1000);
  }

  extra(name, className) {
    const element = document.createElementNS(this.svg.namespaceURI, name);
    element.setAttribute("class", className);
    this.svg.append(element);
    return element;
  }

  /** Takes the width there is, so that letters keep their size. */
  layout(width) {
    const narrow = width < 620;
    this.width = width;
    this.left = narrow ? 42 : 56;
    this.across = Math.max(80, width - this.left - (this.right ? (narrow ? 40 : 52) : narrow ? 10 : 52));
    this.svg.setAttribute("viewBox", `0 0 ${width} ${this.top + this.height + 24}`);
    this.plane.setAttribute("x", this.left);
    this.plane.setAttribute("width", this.across);
  }

  read() {
    this.layers ??= [...this.plane.querySelectorAll("path:not(.band)")].map((path) => ({
      path,
      name: path.classList[0], // another may be `off`
      label: this.figure.querySelector(`[data-layer="${path.classList[0]}"]`)?.textContent ?? "",
      ...decode(path.getAttribute("d")),
    }));
    return this.layers;
  }

  toUnits(time) { return ((time - this.x[0]) / (this.x[1] - this.x[0])) * this.units[0]; }
  toValue(unitsDown) { return this.y[1] - (unitsDown / this.units[1]) * (this.y[1] - this.y[0]); }

  /** What the data of a stretch of time need upwards: row of the highest, of the lowest. */
  needs(from, until) {
    const [x0, x1] = [this.toUnits(from), this.toUnits(until)];
    let top = Infinity, bottom = -Infinity;
    for (const layer of this.read()) {
      if (!DATA_LAYERS.includes(layer.name) || layer.path.classList.contains("off")) continue;
      for (let i = above(layer.xs, x0 - 1), end = above(layer.xs, x1); i < end; i++) {
        top = Math.min(top, layer.ys[i]);
        bottom = Math.max(bottom, layer.ys[i]);
      }
    }
    return [this.toValue(bottom), this.toValue(top)];
  }

  /** What the points that are shown need upwards, if some kinds are hidden. */
  fitting() {
    if (!this.points || !this.plane.querySelector("path.off")) return null;
    let top = Infinity;
    for (const layer of this.read()) if (!layer.path.classList.contains("off")) for (const y of layer.ys) top = Math.min(top, y);
    const high = this.toValue(top);
    return high > this.y[0] ? [this.y[0], Math.min(this.y[1], high * 1.06)] : null;
  }

  /** Shows the stretch of time, and upwards what the reader chose, `range`, or all. */
  draw(from, until, range) {
    const [low, high] = this.chosenY ?? range ?? this.fitting() ?? this.y;
    this.view = { from, until, low, high };
    const x = this.toUnits(from);
    const y = ((this.y[1] - high) / (this.y[1] - this.y[0])) * this.units[1];
    const w = this.toUnits(until) - x;
    const h = ((high - low) / (this.y[1] - this.y[0])) * this.units[1];
    this.plane.setAttribute("viewBox", `${x} ${y} ${Math.max(w, 1e-6)} ${Math.max(h, 1e-6)}`);
    this.axes();
    this.canvas?.draw();
    this.cursor.setAttribute("d", "");
    this.found.setAttribute("r", 0);
  }

  timeToX(time) { return this.left + ((time - this.view.from) / (this.view.until - this.view.from)) * this.across; }
  valueToY(value) { return this.top + ((this.view.high - value) / (this.view.high - this.view.low)) * this.height; }
  xToTime(x) { return this.view.from + ((x - this.left) / this.across) * (this.view.until - this.view.from); }
  yToValue(y) { return this.view.high - ((y - this.top) / this.height) * (this.view.high - this.view.low); }

  axes() {
    const { from, until, low, high } = this.view;
    const bottom = this.top + this.height, right = this.left + this.across;
    let svg = "";
    const room = Math.max(2, Math.floor(this.across / (this.width < 620 ? 56 : 76)));
    const [across, second] = this.bySequence ? byteUnit(ticks(from, until, room).step) : [1, "s"];
    const times = ticks(from / across, until / across, room);
    for (const at of times.at) {
      const x = this.timeToX(at * across), text = `${decimal(at, times.decimals)} ${second}`;
      const inside = Math.min(x, this.width - (text.length * LETTER) / 2 - 3); // the last one may be at the edge
      svg += `<path d="M${x.toFixed(1)} ${this.top}V${bottom}"/><text class="time" x="${inside.toFixed(1)}" y="${bottom + 16}">${text}</text>`;
    }
    if (this.rows) {
      this.rows.forEach((name, i) => {
        const y = this.valueToY(this.rows.length - i);
        if (y < this.top - 1 || y + 14 > bottom) return;
        svg += `<path d="M${this.left} ${y.toFixed(1)}H${right}"/><text class="row" x="${this.left + 4}" y="${(y + 14).toFixed(1)}">${name.replace(/[&<]/g, (c) => `&#${c.charCodeAt(0)};`)}</text>`;
      });
      this.svg.querySelector(".ticks").innerHTML = svg;
      this.nameBands(0);
      return;
    }
    const most = Math.min(8, Math.max(2, Math.floor(this.height / 28)));
    const [size, unit] = this.unit === "bytes" ? byteUnit(ticks(low, high, most).step) : [1, this.unit];
    const values = ticks(low / size, high / size, most);
    for (const at of values.at) {
      const y = this.valueToY(at * size);
      svg += `<path d="M${this.left} ${y.toFixed(1)}H${right}"/><text class="value" x="${this.left - 8}" y="${(y + 4).toFixed(1)}">${decimal(at, values.decimals)}</text>`;
    }
    if (this.right) {
      const { factor } = this.right;
      const others = ticks(low * factor, high * factor, most);
      for (const at of others.at) {
        const y = this.valueToY(at / factor);
        svg += `<path d="M${right} ${y.toFixed(1)}h4"/><text class="other" x="${right + 8}" y="${(y + 4).toFixed(1)}">${decimal(at, others.decimals)}</text>`;
      }
    }
    this.svg.querySelector(".ticks").innerHTML = svg;
    this.svg.querySelector(".unit").textContent = unit;
    this.svg.querySelector(".far")?.setAttribute("x", right + 8);
    this.nameBands(unit.length * LETTER + 4);
  }

  /** Names of interruptions: the long ones if all have room, else the short ones that have. */
  nameBands(taken) {
    const seen = [];
    for (const label of this.svg.querySelectorAll(".band-label")) {
      const x = this.timeToX(Number(label.dataset.at));
      label.setAttribute("x", x.toFixed(1));
      const inside = x >= this.left && x <= this.left + this.across;
      label.classList.toggle("hidden", !inside);
      if (inside) seen.push({ label, x });
    }
    const half = (text) => (text.length * LETTER) / 2 + 3;
    const long = seen.every(({ label, x }, i) => {
      const from = i ? seen[i - 1].x + half(seen[i - 1].label.dataset.long) : taken;
      return x - half(label.dataset.long) >= from && x + half(label.dataset.long) <= this.width;
    });
    let free = taken;
    for (const { label, x } of seen) {
      label.textContent = long ? label.dataset.long : label.dataset.short;
      const fits = x - half(label.textContent) >= free;
      label.classList.toggle("hidden", !fits);
      if (fits) free = x + half(label.textContent);
    }
  }

  /** Shows the time of the pointer, here or in a neighbour, and what was then. */
  point(time, y) {
    const x = this.timeToX(time);
    const inside = x >= this.left && x <= this.left + this.across;
    if (!inside) { this.leave(); return; }
    const segment = (this.sequence || this.points) && y !== null ? this.nearest(x, y) : null;
    this.cursor.setAttribute("d", `M${x.toFixed(1)} ${this.top}V${this.top + this.height}`);
    this.found.setAttribute("r", segment ? 6 : 0);
    if (segment) {
      this.found.setAttribute("cx", segment.x);
      this.found.setAttribute("cy", segment.y);
    }
    const place = (at) => (this.bySequence ? `seq ${Math.round(at)}` : `${decimal(at, 4)} s`);
    const parts = segment ? [place(segment.time), segment.text] : [place(time)];
    this.readout.textContent = [...parts, ...this.valuesAt(time)].join(" · ");
  }

  /** The segment or report that the pointer is at, in the paper's notation. */
  nearest(x, y) {
    if (this.canvas) return this.canvas.nearest(x, y);
    if (this.sequence && this.units[1] !== this.y[1] - this.y[0]) return null; // a row is several bytes
    const perX = (this.x[1] - this.x[0]) / this.units[0];
    const perY = (this.y[1] - this.y[0]) / this.units[1];
    const reach = this.toUnits(this.xToTime(x + REACH)) - this.toUnits(this.xToTime(x));
    const at = this.toUnits(this.xToTime(x));
    const row = (this.y[1] - this.yToValue(y)) / perY;
    let best = null, nearest = REACH;
    for (const layer of this.read()) {
      if (!(this.points || STROKE_LAYERS.includes(layer.name)) || layer.path.classList.contains("off")) continue;
      for (let i = above(layer.xs, at - reach - 1); i < layer.xs.length && layer.xs[i] <= at + reach; i++) {
        if (i % 2) continue; // a stroke is two points: its lower end, its upper end
        const [bottom, top] = [layer.ys[i], layer.ys[i + 1]];
        const time = this.x[0] + layer.xs[i] * perX;
        const away = Math.max(0, row - bottom, top - row) * perY * (this.height / (this.view.high - this.view.low));
        const distance = Math.hypot(this.timeToX(time) - x, away);
        if (distance > nearest) continue;
        nearest = distance;
        const start = this.toValue(bottom), end = this.points ? start : this.toValue(top);
        best = { time, x: this.timeToX(time), y: this.valueToY((start + end) / 2), text: this.named(layer.name, start, end) };
      }
    }
    return best;
  }

  /** What a stroke says: a range of bytes, an acknowledgement, the value of a point. */
  named(layer, start, end) {
    const label = this.figure.querySelector(`[data-layer="${layer}"]`)?.textContent ?? "";
    if (this.points) {
      const values = [...new Set([start, end])].map((value) => decimal(value, this.unit === "bytes" ? 0 : 3)).join(" to ");
      return this.unit === "bytes" ? `${values} bytes, ${label}` : `${label} ${values} ${this.unit}`;
    }
    const range = start === end ? `ack ${start}` : layer.endsWith("sack") ? `SACK ${start}-${end}` : `${start}:${end}(${end - start})`;
    return `${range} ${label}`;
  }

  /** What was going on, where there are rows instead of values. */
  goingOn(x) {
    const row = (units) => this.rows[Math.floor((units / this.units[1]) * this.rows.length)];
    return this.read().flatMap((layer) => layer.path.classList.contains("off") ? [] :
      layer.xs.flatMap((from, i) => i % 2 || from > x || layer.xs[i + 1] < x ? [] : [row(layer.ys[i])]));
  }

  valuesAt(time) {
    const x = this.toUnits(time);
    if (this.points) return [];
    if (this.rows) return this.goingOn(x);
    const texts = [];
    for (const layer of this.read()) {
      if (layer.path.classList.contains("off") || (this.sequence && !LINE_LAYERS[layer.name])) continue;
      if (isMark(layer.name)) {
        const near = this.toUnits(this.xToTime(this.timeToX(time) + REACH / 2)) - x;
        const count = (above(layer.xs, x + near) - above(layer.xs, x - near)) / 2;
        if (count > 0) texts.push(`${count} ${layer.label.replace(/ \(.*/, "")}`);
        continue;
      }
      const i = above(layer.xs, x) - 1;
      if (i < 0) continue;
      const value = this.toValue(layer.ys[i]);
      const places = this.sequence ? 0 : value < 10 ? 2 : value < 100 ? 1 : 0;
      const name = LINE_LAYERS[layer.name] ?? layer.label.replace(/ \(.*/, "");
      texts.push(`${name} ${this.sequence ? Math.round(value) : decimal(value, places)}${this.sequence ? "" : ` ${this.unit}`}`);
    }
    return texts;
  }

  leave() {
    this.cursor.setAttribute("d", "");
    this.found.setAttribute("r", 0);
    this.readout.textContent = "";
  }

  choose(x0, x1) {
    const [a, b] = [Math.min(x0, x1), Math.max(x0, x1)];
    this.choice.setAttribute("x", a);
    this.choice.setAttribute("y", this.top);
    this.choice.setAttribute("width", Math.max(0, b - a));
    this.choice.setAttribute("height", this.height);
  }
}
