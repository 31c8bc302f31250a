"use strict";
// A small menu on each figure: the picture as SVG or PNG, the numbers in it as CSV.

/** Style properties that a standalone picture needs; colours are those of the light theme. */
const LOOKS = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity",
  "font-family", "font-size", "font-weight", "font-style", "text-anchor", "vector-effect", "paint-order", "display", "shape-rendering", "visibility"];

/** Pixels of the keys above a saved picture: of a row, of a sample, between samples and labels. */
const KEYS = { row: 18, sample: 28, gap: 7, apart: 16 };

/** What the legend of the picture's figure says of the layers that are shown. */
function keysOf(svg) {
  const figure = svg.closest("figure"), below = figure?.closest(".overviews")?.parentElement;
  const legend = figure?.querySelector(".legend") ?? below?.querySelector(":scope > p.legend");
  const shown = [...(legend?.querySelectorAll(".key") ?? [])].filter((key) => key.getAttribute("aria-pressed") !== "false" && !("off" in key.dataset));
  return shown.map((key) => {
    const looks = getComputedStyle(key, "::before"), dashed = looks.backgroundImage;
    const stops = [...new Set((dashed.match(/[\d.]+px/g) ?? []).map(parseFloat))];
    return {
      label: key.textContent.trim(),
      width: parseFloat(looks.width) || 0,
      height: parseFloat(looks.height) || 0,
      round: parseFloat(looks.borderRadius) || 0,
      colour: dashed === "none" ? looks.backgroundColor : dashed.match(/rgba?\([^)]*\)/)[0],
      dashes: stops.slice(1).map((stop, i) => stop - stops[i]).join(" "),
      font: getComputedStyle(key).fontFamily,
    };
  });
}

/** The picture with its keys in rows above it, as a picture of its own. */
function withKeys(copy, keys, [width, height]) {
  const make = (name, attributes, text) => {
    const part = document.createElementNS(copy.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) part.setAttribute(key, value);
    if (text) part.textContent = text;
    return part;
  };
  const pen = document.createElement("canvas").getContext("2d");
  const whole = make("svg", { xmlns: copy.namespaceURI });
  const drawn = [];
  let [x, row] = [0, 0];
  for (const key of keys) {
    pen.font = `12.5px ${key.font}`;
    const wide = KEYS.sample + KEYS.gap + pen.measureText(key.label).width;
    if (x > 0 && x + wide > width) [x, row] = [0, row + 1];
    const middle = (row + 0.5) * KEYS.row, left = x + (KEYS.sample - key.width) / 2;
    drawn.push(key.dashes
      ? make("path", { d: `M${left} ${middle}h${key.width}`, stroke: key.colour, "stroke-width": key.height, "stroke-dasharray": key.dashes })
      : make("rect", { x: left, y: middle - key.height / 2, width: key.width, height: key.height, rx: key.round, fill: key.colour }));
    drawn.push(make("text", { x: x + KEYS.sample + KEYS.gap, y: middle + 4, "font-family": key.font, "font-size": "12.5px", fill: "#4b5563" }, key.label));
    x += wide + KEYS.apart;
  }
  const head = (row + 1) * KEYS.row + 4;
  const size = [width, height + head];
  for (const [name, value] of Object.entries({ width, height: size[1], viewBox: `0 0 ${size.join(" ")}` })) whole.setAttribute(name, value);
  for (const [name, value] of Object.entries({ x: 0, y: head, width, height })) copy.setAttribute(name, value);
  whole.append(make("rect", { width: "100%", height: "100%", fill: "#fff" }), ...drawn, copy);
  return { whole, size };
}

/** A copy of the picture, with its keys, that needs no style sheet and no other part of the page. */
function standalone(svg) {
  const root = document.documentElement;
  const theme = root.dataset.theme;
  root.dataset.theme = "light"; // only while the colours are read; nothing is painted
  const copy = svg.cloneNode(true);
  const dress = (from, to) => {
    const looks = getComputedStyle(from);
    for (const name of LOOKS) to.style.setProperty(name, looks.getPropertyValue(name));
    const parts = [...from.children];
    [...to.children].forEach((part, i) => dress(parts[i], part));
  };
  dress(svg, copy);
  for (const use of [...copy.querySelectorAll("use")]) {
    const shown = document.querySelector(use.getAttribute("href"));
    if (!shown) continue;
    const own = shown.cloneNode(true);
    dress(shown, own);
    own.removeAttribute("id");
    use.replaceWith(own);
  }
  // Layers of very many packets are on a canvas: export the visible part as strokes.
  const leveled = svg.closest(".leveled") && [...groups.values()].flatMap((group) => group.graphs).find((graph) => graph.svg === svg)?.canvas;
  if (leveled) {
    copy.querySelector(".plane")?.remove();
    const clip = document.createElementNS(svg.namespaceURI, "svg");
    const { left, top, across, height } = leveled.graph;
    for (const [name, value] of Object.entries({ x: left, y: top, width: across, height })) clip.setAttribute(name, value);
    const drawn = leveled.picture();
    drawn.removeAttribute("transform");
    clip.append(drawn);
    copy.append(clip);
  }
  const keys = keysOf(svg);
  if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
  for (const part of copy.querySelectorAll(".cursor, .choice, .found")) part.remove();
  copy.removeAttribute("style");
  copy.removeAttribute("tabindex");
  const { width, height } = svg.viewBox.baseVal;
  const box = svg.getBoundingClientRect();
  const stretched = svg.getAttribute("preserveAspectRatio") === "none";
  const size = stretched && box.width ? [box.width, box.height] : [width, height];
  copy.setAttribute("xmlns", svg.namespaceURI);
  copy.setAttribute("width", size[0]);
  copy.setAttribute("height", size[1]);
  const paper = document.createElementNS(svg.namespaceURI, "rect");
  for (const [name, value] of Object.entries({ x: svg.viewBox.baseVal.x, y: 0, width, height, fill: "#fff" })) paper.setAttribute(name, value);
  copy.prepend(paper);
  const keyed = keys.length ? withKeys(copy, keys, size) : { whole: copy, size };
  return { text: new XMLSerializer().serializeToString(keyed.whole), size: keyed.size };
}

/** The picture in pixels, at twice the page's resolution. */
async function pixels(svg) {
  const { text, size } = standalone(svg);
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = size.map((length) => Math.ceil(length * 2));
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((done) => canvas.toBlob(done, "image/png"));
  } finally {
    URL.revokeObjectURL(image.src);
  }
}

const csvField = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
const csvLines = (rows) => rows.map((row) => row.map((cell) => csvField(String(cell ?? ""))).join(",")).join("\n") + "\n";

/** The numbers of a figure: its CSV, or read back from its layers. */
function numbers(figure, svg) {
  const written = (svg.closest(".way") ?? figure).querySelector("template.csv");
  if (written) return written.content.textContent;
  if (svg.classList.contains("graph")) return graphNumbers(new Layers(svg));
  if (svg.classList.contains("pane")) {
    const whole = document.querySelector(svg.querySelector("use")?.getAttribute("href") ?? "none")?.closest(".graph");
    return whole ? graphNumbers(new Layers(whole)) : null;
  }
  if (figure.classList.contains("limits")) {
    const width = svg.dataset.width, [from, until] = svg.dataset.time.split(" ").map(Number);
    const at = (x) => (from + (x / width) * (until - from)).toFixed(6);
    const rows = [...svg.querySelectorAll("rect")].map((rect) => {
      const x = Number(rect.getAttribute("x"));
      return [rect.getAttribute("class").replace("limit-", ""), at(x), at(x + Number(rect.getAttribute("width")))];
    });
    return csvLines([["limit", "from_s", "until_s"], ...rows]);
  }
  // Diagrams: what is written in them, from the top.
  const texts = [...svg.querySelectorAll("text")].filter((text) => text.textContent.trim());
  return texts.length ? csvLines([["what", "text", "x", "y"], ...texts.map((t) => [t.getAttribute("class"), t.textContent, t.getAttribute("x"), t.getAttribute("y")])]) : null;
}

/** The layers of a graph in its own units, without making it live. */
class Layers {
  constructor(svg) {
    const pair = (text) => text.split(" ").map(Number);
    const plane = svg.querySelector(".plane");
    [this.x, this.y, this.svg, this.plane] = [pair(svg.dataset.x), pair(svg.dataset.y), svg, plane];
    // The whole plane: the box shows what the reader looks at.
    this.units = pair(plane.dataset.units);
    this.rows = svg.dataset.rows?.split("|");
    this.points = svg.classList.contains("points");
    this.bySequence = svg.dataset.across === "sequence";
  }
  time(x) { return (this.x[0] + (x / this.units[0]) * (this.x[1] - this.x[0])).toFixed(this.bySequence ? 0 : 6); }
  value(y) { return Number((this.y[1] - (y / this.units[1]) * (this.y[1] - this.y[0])).toPrecision(12)); }
}

function graphNumbers(graph) {
  if (graph.points) return pointNumbers(graph);
  const rows = [["layer", "time_s", graph.rows ? "until_s" : "from", graph.rows ? "row" : "to"]];
  for (const path of graph.plane.querySelectorAll("path:not(.band, .off)")) {
    const name = path.classList[0], { xs, ys } = decode(path.getAttribute("d"));
    if (graph.rows) for (let i = 0; i + 1 < xs.length; i += 2) rows.push([name, graph.time(xs[i]), graph.time(xs[i + 1]), graph.rows[Math.floor((ys[i] / graph.units[1]) * graph.rows.length)]]);
    else if (STROKE_LAYERS.includes(name)) for (let i = 0; i + 1 < xs.length; i += 2) rows.push([name, graph.time(xs[i]), graph.value(ys[i]), graph.value(ys[i + 1])]);
    else if (isMark(name)) for (let i = 0; i < xs.length; i += 2) rows.push([name, graph.time(xs[i]), graph.value(ys[i]), ""]);
    else xs.forEach((x, i) => rows.push([name, graph.time(x), graph.value(ys[i]), ""]));
  }
  return csvLines(rows);
}

/** A row for each dot. */
function pointNumbers(graph) {
  const rows = [["layer", graph.bySequence ? "sequence" : "time_s", graph.svg.dataset.unit]];
  for (const path of graph.plane.querySelectorAll("path:not(.band, .off)")) {
    const { xs, ys } = decode(path.getAttribute("d"));
    for (let i = 0; i < xs.length; i += 2) rows.push([path.classList[0], graph.time(xs[i]), graph.value(ys[i])]);
  }
  return csvLines(rows);
}

/** A name for the file: of the page and of the figure. */
function fileName(figure, ending) {
  const title = figure.querySelector(".title")?.textContent || pictureOf(figure).getAttribute("aria-label") || "figure";
  const words = `${document.querySelector(".brand")?.textContent ?? "tcplab"} ${title}`;
  return `${words.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 70)}.${ending}`;
}

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** The picture of a figure, as the reader chose it: not the small signs in its caption. */
const pictureOf = (figure) => [...figure.querySelectorAll("svg")].find((svg) => !svg.closest("figcaption, .way[hidden]"));

/** The export of each kind; also for tests. */
async function exported(figure, kind) {
  const svg = pictureOf(figure);
  if (kind === "svg") return new Blob([standalone(svg).text], { type: "image/svg+xml" });
  if (kind === "png") return pixels(svg);
  const text = numbers(figure, svg);
  return text === null ? null : new Blob([text], { type: "text/csv" });
}

const KINDS = { svg: "SVG", png: "PNG", csv: "CSV" };

/** Puts a button on a figure that has a picture. */
function addMenu(figure) {
  if (!pictureOf(figure) || figure.querySelector(".export")) return;
  let caption = figure.querySelector("figcaption");
  if (!caption) {
    caption = document.createElement("figcaption");
    figure.prepend(caption);
  }
  const holder = document.createElement("span");
  holder.className = "export";
  holder.innerHTML = '<button type="button" aria-haspopup="menu" aria-expanded="false" aria-label="Save this figure" title="Save this figure">⋯</button>';
  const button = holder.firstChild;
  caption.append(holder);
  let menu = null;
  const close = () => {
    const closed = menu;
    menu = null; // first, because removing it loses the focus, which closes the menu
    closed?.remove();
    button.setAttribute("aria-expanded", "false");
  };
  const open = () => {
    menu = document.createElement("span");
    menu.className = "menu";
    menu.setAttribute("role", "menu");
    for (const [kind, name] of Object.entries(KINDS)) {
      const item = document.createElement("button");
      item.type = "button";
      item.setAttribute("role", "menuitem");
      item.dataset.kind = kind;
      item.textContent = name;
      item.addEventListener("click", async () => {
        const blob = await exported(figure, kind);
        if (blob) download(blob, fileName(figure, kind));
        close();
        button.focus();
      });
      menu.append(item);
    }
    holder.append(menu);
    button.setAttribute("aria-expanded", "true");
    menu.firstChild.focus();
  };
  button.addEventListener("click", () => (menu ? close() : open()));
  holder.addEventListener("keydown", (event) => {
    if (!menu) { if (event.key === "ArrowDown") { event.preventDefault(); open(); } return; }
    const items = [...menu.children], at = items.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) { event.preventDefault(); items[(at + step + items.length) % items.length].focus(); }
    if (event.key === "Home" || event.key === "End") { event.preventDefault(); items.at(event.key === "Home" ? 0 : -1).focus(); }
    if (event.key === "Escape") { event.preventDefault(); close(); button.focus(); }
  });
  holder.addEventListener("focusout", (event) => { if (menu && !holder.contains(event.relatedTarget)) close(); });
}
