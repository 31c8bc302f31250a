"use strict";
// Packets as bytes: a list, and the chosen packet (`dump.js`).

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
      made("h4", "", `Frame ${frame}, ${packet.time} s: ${kept}, ${packet.from} → ${packet.to}`),
      new ByteView(packet, this.titles).element,
    );
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
