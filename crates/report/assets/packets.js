"use strict";
// Packets as bytes: a list, and of the chosen packet its bytes and fields, which mark one another.

/** An element with a class and a text. */
function made(tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

/** Reads the lines of `html/packets.rs`: layers by name, and packets with their fields. */
function readPackets(text) {
  const titles = new Map();
  const packets = [];
  for (const line of text.split("\n")) {
    const [kind, ...values] = line.split("\t");
    if (kind === "L") {
      titles.set(values[0], values[1]);
    } else if (kind === "P") {
      const [frame, time, from, to, summary, sent, captured, digits] = values;
      const bytes = digits.match(/../g) ?? [];
      packets.push({ frame, time, from, to, summary, sent: Number(sent), captured: Number(captured), bytes, fields: [] });
    } else if (kind === "F") {
      const [layer, name, offset, length, value, meaning] = values;
      packets.at(-1).fields.push({ layer, name, first: Number(offset), end: Number(offset) + Number(length), value, meaning });
    }
  }
  return { titles, packets };
}

class PacketView {
  constructor(fold, text) {
    Object.assign(this, readPackets(text), { fold, buttons: new Map() });
    const view = made("div", "view");
    this.list = made("div", "list");
    this.chosen = made("div", "chosen");
    const client = this.packets[0].from;
    for (const packet of this.packets) this.list.append(this.row(packet, packet.from === client));
    view.append(this.list, this.chosen);
    fold.append(view);
    this.list.addEventListener("keydown", (event) => this.step(event));
    this.show(this.packets[0].frame);
  }

  row(packet, there) {
    const button = made("button");
    button.type = "button";
    button.title = `${packet.from} to ${packet.to}`;
    button.append(made("span", "frame", packet.frame), made("span", "time", packet.time), made("span", "", there ? "→" : "←"), made("span", "", packet.summary));
    button.addEventListener("click", () => this.show(packet.frame));
    this.buttons.set(packet.frame, button);
    return button;
  }

  /** The arrow keys go through the list. */
  step(event) {
    const way = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    const next = way && event.target.closest("button")?.[way];
    if (!next) return;
    event.preventDefault();
    next.focus();
    next.click();
  }

  show(frame) {
    const packet = this.packets.find((it) => it.frame === frame);
    if (!packet) return;
    for (const [number, button] of this.buttons) button.setAttribute("aria-pressed", String(number === frame));
    const kept = packet.captured < packet.sent ? `${packet.captured} of ${packet.sent} bytes captured` : `${packet.sent} bytes`;
    this.chosen.replaceChildren(
      made("h5", "", `Frame ${frame}, ${packet.time} s: ${kept}, ${packet.from} → ${packet.to}`),
      this.dump(packet),
      this.fields(packet),
    );
    this.mark(packet);
  }

  dump(packet) {
    const layer = new Array(packet.bytes.length).fill("padding");
    for (const field of packet.fields) layer.fill(field.layer, field.first, field.end);
    const dump = made("div", "dump");
    this.cells = packet.bytes.map((digits, place) => {
      const code = Number.parseInt(digits, 16);
      const gap = place % 16 === 8 ? " gap" : "";
      const cells = [made("b", `layer ${layer[place]}`, digits), made("i", `layer ${layer[place]}${gap}`, code > 31 && code < 127 ? String.fromCharCode(code) : ".")];
      for (const cell of cells) cell.dataset.place = place;
      return cells;
    });
    for (let start = 0; start < packet.bytes.length; start += 16) {
      const row = made("div");
      const cells = this.cells.slice(start, start + 16);
      const letters = made("span", "letters");
      letters.append(...cells.map((it) => it[1]));
      row.append(made("span", "offset", start.toString(16).padStart(4, "0")), ...cells.map((it) => it[0]));
      row.append(" ".repeat((16 - cells.length) * 3), letters);
      dump.append(row);
    }
    const more = packet.captured - packet.bytes.length;
    if (more > 0) dump.append(made("div", "rest", `… ${more} more bytes of payload`));
    return dump;
  }

  fields(packet) {
    const table = made("table");
    let layer = null;
    this.rows = packet.fields.map((field) => {
      if (field.layer !== layer) {
        layer = field.layer;
        const head = made("th", `layer ${layer}`, this.titles.get(layer) ?? layer);
        head.colSpan = 3;
        table.insertRow().append(head);
      }
      const row = table.insertRow();
      row.className = `layer ${layer}${/^wrong/.test(field.meaning) || /^(malformed|not understood)/.test(field.name) ? " wrong" : ""}`;
      row.title = field.end - field.first > 1 ? `bytes ${field.first} to ${field.end - 1}` : `byte ${field.first}`;
      row.append(made("td", "", field.name), made("td", "", field.value), made("td", "", field.meaning));
      return row;
    });
    const fields = made("div", "fields");
    fields.append(table);
    return fields;
  }

  /** Marks the bytes of a field, and the fields of a byte, under the pointer or tapped. */
  mark(packet) {
    const clear = () => { for (const it of this.chosen.querySelectorAll(".on")) it.classList.remove("on"); };
    const bytesOf = (field) => { for (const cell of this.cells.slice(field.first, field.end).flat()) cell.classList.add("on"); };
    const fieldsAt = (event) => {
      const place = event.target.dataset?.place;
      if (place === undefined) return;
      clear();
      const rows = this.rows.filter((_, index) => packet.fields[index].first <= Number(place) && Number(place) < packet.fields[index].end);
      // Of fields that share the byte, the smallest bytes are those of all.
      const smallest = packet.fields.filter((_, index) => rows.includes(this.rows[index])).sort((a, b) => (a.end - a.first) - (b.end - b.first))[0];
      if (smallest) bytesOf(smallest);
      for (const row of rows) row.classList.add("on");
      const box = this.chosen.querySelector(".fields");
      if (rows[0]) box.scrollTop = Math.max(0, rows[0].offsetTop - box.clientHeight / 2);
    };
    const dump = this.chosen.querySelector(".dump");
    dump.addEventListener("pointerover", fieldsAt);
    dump.addEventListener("click", fieldsAt);
    this.rows.forEach((row, index) => {
      const show = () => { clear(); row.classList.add("on"); bytesOf(packet.fields[index]); };
      row.addEventListener("pointerenter", show);
      row.addEventListener("click", show);
    });
    this.chosen.onpointerleave = clear;
  }
}

/** Unpacks the packets of an opened fold, once; returns a promise of its view. */
function openPackets(fold) {
  const packed = fold.querySelector(":scope > script.bytes");
  if (packed) {
    fold.opening = unpacked(packed.textContent).then((bytes) => new PacketView(fold, new TextDecoder().decode(bytes)));
    packed.remove();
  }
  return fold.opening;
}

/** Frame numbers of ladder diagrams open their packet, if the page has it. */
function linkFrames(fold) {
  fold.classList.add("ready");
  const frames = new Set(fold.dataset.frames.split(" "));
  for (const number of fold.closest("details.trial, .trial.alone, main").querySelectorAll(".ladder text.frame")) {
    if (frames.has(number.textContent)) number.classList.add("opens");
  }
}

async function openFrame(number, part) {
  const fold = part.querySelector("details.packets");
  if (!fold) return;
  fold.open = true;
  const view = await openPackets(fold);
  view.show(number);
  view.buttons.get(number)?.scrollIntoView({ block: "nearest" });
  fold.scrollIntoView();
}

document.addEventListener("toggle", (event) => {
  if (event.target.open && event.target.matches("details.packets")) openPackets(event.target);
}, true);
document.addEventListener("click", (event) => {
  const frame = event.target.closest?.(".ladder .frame.opens");
  if (frame) openFrame(frame.textContent, frame.closest("details.trial, .trial.alone, main"));
});
