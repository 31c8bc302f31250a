"use strict";
// The graphs of one trial share their stretch of time: zooming one zooms all. A graph over sequence
// numbers is a group by itself.

// Seconds or bytes across the plane; times are drawn to 10 µs.
const SHORTEST = { time: 0.002, sequence: 1000 };

class Group {
  constructor(element) {
    this.element = element;
    this.graphs = [...element.querySelectorAll(".graph")].map((svg) => new Graph(svg));
    this.whole = this.graphs[0].x;
    this.shortest = this.graphs[0].bySequence ? SHORTEST.sequence : SHORTEST.time;
    [this.from, this.until] = this.whole;
    this.tools = element.querySelector(".tools");
    this.limits = element.querySelector(".limits svg"); // only traces have it
    this.limitsWidth = this.limits?.viewBox.baseVal.width;
    this.tools.hidden = false;
    this.pointers = new Map();
    this.drag = null;
    for (const graph of this.graphs) this.listen(graph);
    this.tools.addEventListener("click", (event) => this.press(event.target.closest("button")));
    // In the next frame: laying out inside the observer would change what it observes.
    new ResizeObserver(() => requestAnimationFrame(() => this.resize())).observe(element);
  }

  resize() {
    const width = Math.round(this.graphs[0].figure.clientWidth);
    if (width < 50) return; // folded away
    for (const graph of this.graphs) graph.layout(width);
    if (this.limits) {
      this.limits.style.marginLeft = `${this.graphs[0].left}px`;
      this.limits.style.width = `${this.graphs[0].across}px`;
    }
    this.draw();
  }

  get zoomed() { return this.until - this.from < (this.whole[1] - this.whole[0]) * 0.999; }

  /** Shows a stretch of time, kept inside the whole. */
  show(from, until) {
    const all = this.whole[1] - this.whole[0];
    const span = Math.min(all, Math.max(Math.min(this.shortest, all), until - from));
    const centre = (from + until) / 2;
    this.from = Math.min(Math.max(centre - span / 2, this.whole[0]), this.whole[1] - span);
    this.until = this.from + span;
    this.later();
  }

  reset() {
    for (const graph of this.graphs) graph.chosenY = null;
    this.show(...this.whole);
  }

  zoom(factor, around = (this.from + this.until) / 2) {
    const from = around - (around - this.from) * factor;
    this.show(from, from + (this.until - this.from) * factor);
  }

  move(share) {
    const by = (this.until - this.from) * share;
    const allowed = Math.min(Math.max(by, this.whole[0] - this.from), this.whole[1] - this.until);
    this.show(this.from + allowed, this.until + allowed);
  }

  /** Draws once per frame, however many events there were. */
  later() {
    this.frame ??= requestAnimationFrame(() => { this.frame = null; this.draw(); });
  }

  /** What both ends' data need upwards when zoomed: the same at both, to be compared. */
  range() {
    if (!this.zoomed) return null;
    const sequences = this.graphs.filter((graph) => graph.sequence);
    const needs = sequences.map((graph) => graph.needs(this.from, this.until)).filter(([low, high]) => low <= high);
    if (needs.length === 0) return null;
    const low = Math.min(...needs.map((range) => range[0])), high = Math.max(...needs.map((range) => range[1]));
    const room = Math.max((high - low) * 0.08, 500);
    return [low - room, high + room];
  }

  draw() {
    const range = this.range();
    for (const graph of this.graphs) graph.draw(this.from, this.until, graph.sequence ? range : null);
    if (this.limits) {
      const share = (time) => (this.limitsWidth * (time - this.whole[0])) / (this.whole[1] - this.whole[0]);
      const from = share(this.from);
      this.limits.setAttribute("viewBox", `${from} 0 ${Math.max(share(this.until) - from, 1e-6)} 22`);
    }
    for (const button of this.tools.querySelectorAll("[data-from], [data-reset]")) {
      const shown = "reset" in button.dataset
        ? !this.zoomed
        : Math.abs(this.from - button.dataset.from) < 1e-3 && Math.abs(this.until - button.dataset.until) < 1e-3;
      button.setAttribute("aria-pressed", shown);
    }
  }

  press(button) {
    if (!button) return;
    if ("reset" in button.dataset) this.reset();
    else if (button.dataset.zoom) this.zoom(Number(button.dataset.zoom));
    else this.stretch(button);
  }

  /** Shows the stretch that a button names. */
  stretch(button) {
    for (const graph of this.graphs) graph.chosenY = null;
    this.show(Number(button.dataset.from), Number(button.dataset.until));
  }

  /** The pointer's place in the graph's own pixels. */
  place(graph, event) {
    const box = graph.svg.getBoundingClientRect();
    const scale = graph.width / box.width;
    return { x: (event.clientX - box.left) * scale, y: (event.clientY - box.top) * scale };
  }

  listen(graph) {
    const { svg } = graph;
    svg.addEventListener("wheel", (event) => this.wheel(graph, event), { passive: false });
    svg.addEventListener("pointerdown", (event) => this.down(graph, event));
    svg.addEventListener("pointermove", (event) => this.pointing(graph, event));
    for (const name of ["pointerup", "pointercancel"]) svg.addEventListener(name, (event) => this.up(graph, event));
    svg.addEventListener("pointerleave", (event) => { if (!this.drag && event.pointerType !== "touch") for (const other of this.graphs) other.leave(); });
    svg.addEventListener("dblclick", (event) => this.zoom(event.shiftKey ? 3 : 1 / 3, graph.xToTime(this.place(graph, event).x)));
    svg.addEventListener("keydown", (event) => this.key(event));
  }

  /** The page keeps its wheel until a graph was clicked, or Ctrl says otherwise. */
  wheel(graph, event) {
    const meant = event.ctrlKey || event.metaKey || event.shiftKey || document.activeElement === graph.svg;
    if (!meant) return;
    event.preventDefault();
    const turned = event.deltaY || event.deltaX; // Shift turns the axis on some systems
    if (!event.shiftKey && Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.move(event.deltaX / graph.across);
      return;
    }
    const factor = Math.exp(Math.max(-80, Math.min(80, turned)) * (event.ctrlKey ? 0.01 : 0.003));
    const { x, y } = this.place(graph, event);
    if (event.shiftKey) {
      const value = graph.yToValue(y);
      const { low, high } = graph.view;
      const next = [value - (value - low) * factor, value + (high - value) * factor];
      const least = (graph.y[1] - graph.y[0]) / 2000;
      if (next[1] - next[0] > least) graph.chosenY = [Math.max(next[0], graph.y[0]), Math.min(next[1], graph.y[1])];
      this.later();
    } else {
      this.zoom(factor, graph.xToTime(x));
    }
  }

  down(graph, event) {
    if (event.button !== 0) return;
    const place = this.place(graph, event);
    this.pointers.set(event.pointerId, place);
    svgFocus(graph.svg);
    graph.svg.setPointerCapture(event.pointerId);
    if (this.pointers.size === 2) {
      this.drag = { kind: "pinch", graph, ...this.pinch(graph), from: this.from, until: this.until };
      graph.choose(0, 0);
      return;
    }
    const moves = event.pointerType === "touch" || (this.zoomed && !event.shiftKey);
    this.touched(graph, place);
    this.drag = { kind: moves ? "move" : "choose", graph, start: place, view: { ...graph.view }, from: this.from, until: this.until };
    graph.svg.classList.toggle("moving", moves && this.zoomed);
  }

  pinch(graph) {
    const [a, b] = [...this.pointers.values()];
    return { apart: Math.max(20, Math.abs(a.x - b.x)), around: graph.xToTime((a.x + b.x) / 2) };
  }

  pointing(graph, event) {
    const place = this.place(graph, event);
    if (this.pointers.has(event.pointerId)) this.pointers.set(event.pointerId, place);
    const { drag } = this;
    if (drag?.kind === "pinch" && this.pointers.size === 2) {
      const [a, b] = [...this.pointers.values()];
      const factor = drag.apart / Math.max(20, Math.abs(a.x - b.x));
      const from = drag.around - (drag.around - drag.from) * factor;
      this.show(from, from + (drag.until - drag.from) * factor);
    } else if (drag?.kind === "move") {
      const by = ((drag.start.x - place.x) / graph.across) * (drag.until - drag.from);
      const allowed = Math.min(Math.max(by, this.whole[0] - drag.from), this.whole[1] - drag.until);
      this.show(drag.from + allowed, drag.until + allowed);
      if (graph.chosenY) {
        const up = ((place.y - drag.start.y) / graph.height) * (drag.view.high - drag.view.low);
        const most = Math.min(Math.max(up, graph.y[0] - drag.view.low), graph.y[1] - drag.view.high);
        graph.chosenY = [drag.view.low + most, drag.view.high + most];
      }
    } else if (drag?.kind === "choose") {
      graph.choose(drag.start.x, place.x);
    }
    this.touched(graph, place);
  }

  /** Reads out what is at a place, and what was at that time in the other graphs. */
  touched(graph, place) {
    if (!graph.view) return; // not drawn yet
    const time = graph.xToTime(place.x);
    for (const other of this.graphs) other.point(time, other === graph ? place.y : null);
  }

  up(graph, event) {
    this.pointers.delete(event.pointerId);
    const { drag } = this;
    this.drag = null;
    graph.svg.classList.remove("moving");
    if (drag?.kind !== "choose") return;
    graph.choose(0, 0);
    const [a, b] = [drag.start.x, this.place(graph, event).x].sort((p, q) => p - q);
    if (event.type === "pointerup" && b - a > 6) this.show(graph.xToTime(a), graph.xToTime(b));
  }

  key(event) {
    const keys = {
      ArrowLeft: () => this.move(-0.2), ArrowRight: () => this.move(0.2),
      "+": () => this.zoom(0.5), "=": () => this.zoom(0.5), "-": () => this.zoom(2),
      0: () => this.reset(), Home: () => this.reset(), Escape: () => event.target.blur(),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  }
}

/** Takes the keys and the wheel without scrolling the page there. */
function svgFocus(svg) { svg.focus({ preventScroll: true }); }
