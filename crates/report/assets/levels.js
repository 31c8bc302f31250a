"use strict";
// Levels of detail: a graph of very many packets draws, of each layer, the level whose columns are
// about a pixel wide, and of that the tiles that are seen. Tiles are unpacked when first needed;
// until then the level above stands for them.

const KEPT = 96; // unpacked tiles
const WIDE = { data: 2, drop: 2.4, fast: 3.2, fills: 3.2, other: 3.2, timeout: 5.5, sack: 1.6, dsack: 4.5, triple: 6, acks: 1.2, edge: 1.2 };
const WIDE_DOTS = { data: 3, drop: 3, rtt: 3, "rtt-repaired": 3, "rtt-again": 3, "rtt-sack": 3, fast: 4.5, fills: 4.5, other: 4.5, timeout: 5.5 };

class Levels {
  /** `changed` is called when more of what was asked for is there. */
  constructor(layers, changed) {
    this.layers = layers;
    this.changed = changed;
    this.tiles = new Map();
    for (const layer of layers) for (const tile of layer.levels.at(-1).tiles) this.open(layer, tile);
  }

  /** The strokes of a tile; nothing yet if it is still packed. */
  open(layer, tile) {
    const known = this.tiles.get(tile);
    if (known) {
      this.tiles.delete(tile); // the last used is the last to go
      this.tiles.set(tile, known);
      return known.strokes;
    }
    const entry = { strokes: null };
    this.tiles.set(tile, entry);
    entry.done = unpacked(tile[3]).then((bytes) => {
      entry.strokes = readTile(new Uint8Array(bytes), tile[2], layer.line);
      for (const [old] of this.tiles) {
        if (this.tiles.size <= KEPT) break;
        if (old !== tile && !layer.levels.at(-1).tiles.includes(old)) this.tiles.delete(old);
      }
      this.changed();
    });
    return null;
  }

  /** The index of the coarsest level whose columns are no wider than `micros`, else the finest. */
  static fit(layer, micros) {
    for (let i = layer.levels.length - 1; i > 0; i--) if (layer.levels[i].column <= micros) return i;
    return 0;
  }

  /** Calls `each(strokes, level)` for the tiles between two times, microseconds. */
  seen(layer, from, until, micros, each) {
    for (let i = Levels.fit(layer, micros); i < layer.levels.length; i++) {
      const level = layer.levels[i];
      const tiles = level.tiles.filter(([first, last]) => (last + 1) * level.column >= from && first * level.column <= until);
      const opened = tiles.map((tile) => this.open(layer, tile));
      // A level that is not all there yet is drawn from the one above; the coarsest as far as it is.
      if (opened.every(Boolean) || i === layer.levels.length - 1) {
        for (const strokes of opened) if (strokes) each(strokes, level);
        return i;
      }
    }
    return -1;
  }

  /** Whether all that was asked for is there. */
  settled() { return Promise.all([...this.tiles.values()].map((entry) => entry.done)); }
}

/** Columns, lows and highs of a tile as the plot crate writes it. */
function readTile(bytes, count, isLine) {
  const x = new Float64Array(count), low = new Float64Array(count), high = isLine ? low : new Float64Array(count);
  let at = 0, place = 0, end = 0;
  const number = () => {
    let value = 0, unit = 1, byte;
    do { byte = bytes[at++]; value += (byte & 127) * unit; unit *= 128; } while (byte & 128);
    return value;
  };
  for (let i = 0; i < count; i++) {
    x[i] = place += number();
    const way = number();
    low[i] = end += way % 2 ? -(way + 1) / 2 : way / 2;
    if (!isLine) high[i] = end += number();
  }
  return { x, low, high };
}

/** Draws the levels of a graph on a canvas below its axes. */
class LevelCanvas {
  constructor(graph, layers) {
    this.graph = graph;
    const holder = document.createElement("div");
    holder.className = "leveled";
    graph.svg.replaceWith(holder);
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("aria-hidden", "true");
    holder.append(this.canvas, graph.svg);
    this.levels = new Levels(layers, () => this.later());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.later());
    new MutationObserver(() => this.later()).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  later() { this.frame ??= requestAnimationFrame(() => { this.frame = null; this.draw(); }); }

  /** Places of the view on the canvas. */
  view() {
    const { graph } = this;
    if (!graph.view) return null;
    const { from, until, low, high } = graph.view, start = graph.x[0];
    const across = graph.across, height = graph.height;
    const [perSecond, perValue] = graph.fineness;
    const perMicro = across / ((until - from) * perSecond), perByte = height / ((high - low) * perValue);
    return { from: (from - start) * perSecond, until: (until - start) * perSecond, low: low * perValue, high: high * perValue, perMicro, perByte, across, height };
  }

  draw() {
    const view = this.view();
    if (!view) return;
    const began = performance.now();
    const { canvas, graph } = this, sharp = Math.min(2, devicePixelRatio || 1);
    const size = [Math.ceil(view.across * sharp), Math.ceil(view.height * sharp)];
    if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
    Object.assign(canvas.style, { left: `${graph.left}px`, top: `${graph.top}px`, width: `${view.across}px`, height: `${view.height}px` });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.setTransform(sharp, 0, 0, sharp, 0, 0);
    context.clearRect(0, 0, view.across, view.height);
    this.drawn = {};
    for (const layer of this.levels.layers) {
      const path = graph.plane.querySelector(`path.${layer.class}`);
      if (!path || path.classList.contains("off")) continue;
      context.fillStyle = context.strokeStyle = getComputedStyle(path).stroke;
      this.drawn[layer.class] = this.layer(context, layer, view);
    }
    this.took = performance.now() - began;
  }

  /** One layer; how many strokes were drawn. */
  layer(context, layer, view) {
    const { points } = this.graph;
    const wide = (points ? WIDE_DOTS : WIDE)[layer.class] ?? 2;
    let count = 0;
    this.levels.seen(layer, view.from, view.until, 1 / view.perMicro, (strokes, level) => {
      const first = Math.max(0, above(strokes.x, view.from / level.column - 2) - 1);
      const last = above(strokes.x, view.until / level.column + 1);
      const place = (i) => (strokes.x[i] * level.column - view.from) * view.perMicro;
      const value = (bytes) => (view.high - bytes) * view.perByte;
      if (layer.line) {
        context.lineWidth = wide;
        context.beginPath();
        for (let i = first; i < Math.min(last + 1, strokes.x.length); i++) {
          const x = place(i), y = value(strokes.low[i]);
          if (i > first) context.lineTo(x, value(strokes.low[i - 1]));
          if (i > first) context.lineTo(x, y); else context.moveTo(x, y);
        }
        context.stroke();
        count += last - first;
        return;
      }
      const across = Math.max(wide, level.column > 1 ? level.column * view.perMicro : 0);
      const aside = level.column > 1 ? Math.max(0, (wide - level.column * view.perMicro) / 2) : wide / 2;
      for (let i = first; i < last; i++) {
        const tall = Math.max(wide, (strokes.high[i] - strokes.low[i]) * view.perByte);
        const top = value(strokes.high[i]) - (points ? wide / 2 : 0); // a dot is around its place
        if (top > view.height || top + tall < 0) continue;
        context.fillRect(place(i) - aside, top, across, tall);
        count++;
      }
    });
    return count;
  }

  /** What the pointer is at, where each packet is drawn for itself; of points also where several are. */
  nearest(x, y) {
    const view = this.view(), { graph } = this;
    let best = null, least = REACH;
    for (const layer of this.levels.layers) {
      const path = graph.plane.querySelector(`path.${layer.class}`);
      if (layer.line || !path || path.classList.contains("off") || (!graph.points && Levels.fit(layer, 1 / view.perMicro) > 0)) continue;
      const at = view.from + (x - graph.left) / view.perMicro, reach = REACH / view.perMicro;
      this.levels.seen(layer, at - reach, at + reach, 1 / view.perMicro, (strokes, level) => {
        const isJoined = level.column > 1;
        if (isJoined && !graph.points) return;
        for (let i = above(strokes.x, (at - reach) / level.column); i < strokes.x.length && strokes.x[i] * level.column <= at + reach; i++) {
          const [low, high] = [strokes.low[i] / graph.fineness[1], strokes.high[i] / graph.fineness[1]];
          const time = graph.x[0] + ((strokes.x[i] + (isJoined ? 0.5 : 0)) * level.column) / graph.fineness[0];
          const away = Math.max(0, graph.valueToY(high) - y, y - graph.valueToY(low));
          const distance = Math.hypot(graph.timeToX(time) - x, away);
          if (distance > least) continue;
          least = distance;
          best = { time: isJoined ? graph.xToTime(x) : time, x: graph.timeToX(time), y: graph.valueToY((low + high) / 2), text: graph.named(layer.class, low, high) };
        }
      });
    }
    return best;
  }

  /** The view's strokes as an SVG group, for the picture to be saved. */
  picture() {
    const view = this.view(), { graph } = this;
    const ns = graph.svg.namespaceURI, all = document.createElementNS(ns, "g");
    for (const layer of this.levels.layers) {
      const path = graph.plane.querySelector(`path.${layer.class}`);
      if (!path || path.classList.contains("off")) continue;
      let d = "";
      const recorder = { beginPath() {}, stroke() {}, lineWidth: 0,
        moveTo: (x, y) => { d += `M${x.toFixed(1)} ${y.toFixed(1)}`; },
        lineTo: (x, y) => { d += `L${x.toFixed(1)} ${y.toFixed(1)}`; },
        fillRect: (x, y, w, h) => { d += `M${x.toFixed(1)} ${y.toFixed(1)}h${w.toFixed(1)}v${h.toFixed(1)}h${(-w).toFixed(1)}z`; } };
      this.layer(recorder, layer, view);
      const drawn = document.createElementNS(ns, "path"), colour = getComputedStyle(path).stroke;
      drawn.setAttribute("d", d);
      drawn.setAttribute("style", layer.line ? `fill:none;stroke:${colour};stroke-width:1.2` : `fill:${colour};stroke:none`);
      all.append(drawn);
    }
    all.setAttribute("transform", `translate(${graph.left} ${graph.top})`);
    return all;
  }
}
