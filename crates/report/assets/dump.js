"use strict";
// The bytes of a packet, coloured by what they are of, and its fields, which mark one another.

/** An element with a class and a text. */
function made(tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

/** Bytes that belong together: those of a field, or of fields that share some, such as flags. Neighbours of one layer alternate in shade. */
function groupsOf(fields) {
  const found = [];
  const order = fields.filter((field) => field.end > field.first).sort((a, b) => a.first - b.first);
  for (const field of order) {
    const last = found.at(-1), isSame = last?.layer === field.layer;
    if (isSame && field.first < last.end) last.end = Math.max(last.end, field.end);
    else found.push({ layer: field.layer, first: field.first, end: field.end, shade: isSame && !last.shade });
    field.group = found.at(-1);
  }
  return found;
}

/** What gives a byte and a field the colour of their layer and the shade of their group. */
const colourOf = (layer, group) => `layer ${layer}${group?.shade ? " shade" : ""}`;

/** A packet's `bytes` as digits, how many were `captured`, and its `fields`: layer, name, first byte, end, value, meaning. */
class ByteView {
  constructor(packet, titles) {
    Object.assign(this, { packet, titles });
    this.groups = groupsOf(packet.fields);
    this.element = made("div", "as-bytes");
    this.element.append(this.legend(), this.dump(), this.table());
    this.mark();
    this.step();
  }

  title(layer) { return this.titles.get(layer) ?? layer; }

  /** The layers with their colours and their bytes. */
  legend() {
    const legend = made("ul", "colours");
    legend.setAttribute("aria-label", "Colours of the bytes");
    const counts = new Map();
    for (const { layer } of this.owners()) counts.set(layer, (counts.get(layer) ?? 0) + 1);
    for (const [layer, count] of counts) {
      const shades = this.groups.some((group) => group.layer === layer && group.shade);
      const sample = made("span", `layer ${layer} sample${shades ? " both" : ""}`);
      sample.setAttribute("aria-hidden", "true");
      const item = made("li");
      item.append(sample, `${this.title(layer)}, ${count} B`);
      legend.append(item);
    }
    return legend;
  }

  /** What each byte is of. */
  owners() {
    const owners = new Array(this.packet.bytes.length).fill({ layer: "padding" });
    for (const group of this.groups) owners.fill(group, group.first, Math.min(group.end, owners.length));
    return owners;
  }

  dump() {
    const { bytes, captured } = this.packet, owners = this.owners();
    const dump = region("dump", "Bytes");
    this.cells = bytes.map((digits, place) => {
      const code = Number.parseInt(digits, 16), owner = owners[place];
      const first = owner.first === place ? " first" : "", gap = place % 16 === 8 ? " gap" : "";
      const colour = colourOf(owner.layer, owner);
      const cells = [made("b", colour + first, digits), made("i", colour + gap, code > 31 && code < 127 ? String.fromCharCode(code) : ".")];
      for (const cell of cells) cell.dataset.place = place;
      return cells;
    });
    for (let start = 0; start < bytes.length; start += 16) {
      const row = made("div");
      const cells = this.cells.slice(start, start + 16);
      const letters = made("span", "letters");
      letters.append(...cells.map((it) => it[1]));
      row.append(made("span", "offset", start.toString(16).padStart(4, "0")), ...cells.map((it) => it[0]));
      row.append(" ".repeat((16 - cells.length) * 3), letters);
      dump.append(row);
    }
    const more = captured - bytes.length;
    if (more > 0) dump.append(made("div", "rest", `… ${more} more bytes of payload`));
    return dump;
  }

  table() {
    const table = made("table");
    let layer = null;
    this.rows = this.packet.fields.map((field) => {
      if (field.layer !== layer) {
        layer = field.layer;
        const head = made("th", `layer ${layer}`, this.title(layer));
        head.colSpan = 3;
        head.scope = "rowgroup";
        table.insertRow().append(head);
      }
      const row = table.insertRow();
      const isWrong = /^wrong/.test(field.meaning) || /^(malformed|not understood)/.test(field.name);
      row.className = colourOf(layer, field.group) + (isWrong ? " wrong" : "");
      row.title = field.end - field.first > 1 ? `bytes ${field.first} to ${field.end - 1}` : `byte ${field.first}`;
      row.append(made("td", "", field.name), made("td", "", field.value), made("td", "", field.meaning));
      return row;
    });
    this.list = region("fields", "Fields: the arrow keys mark the bytes of each");
    this.list.append(table);
    return this.list;
  }

  clear() {
    for (const it of this.element.querySelectorAll(".on")) it.classList.remove("on");
  }

  /** Marks a field and its bytes. */
  show(index) {
    const { first, end } = this.packet.fields[index];
    this.clear();
    this.rows[index].classList.add("on");
    for (const cell of this.cells.slice(first, end).flat()) cell.classList.add("on");
  }

  /** Brings a field's row into the list's middle. */
  reach(row) {
    this.list.scrollTop = Math.max(0, row.offsetTop - this.list.clientHeight / 2);
  }

  /** Marks the bytes of a field, and the fields of a byte, under the pointer or tapped. */
  mark() {
    const { fields } = this.packet;
    const fieldsAt = (event) => {
      const place = event.target.dataset?.place;
      if (place === undefined) return;
      this.clear();
      const there = [...fields.keys()].filter((index) => fields[index].first <= Number(place) && Number(place) < fields[index].end);
      // Of fields that share the byte, the smallest bytes are those of all.
      const smallest = [...there].sort((a, b) => (fields[a].end - fields[a].first) - (fields[b].end - fields[b].first))[0];
      if (smallest !== undefined) this.show(smallest);
      for (const index of there) this.rows[index].classList.add("on");
      if (there.length) this.reach(this.rows[there[0]]);
    };
    const dump = this.element.querySelector(".dump");
    dump.addEventListener("pointerover", fieldsAt);
    dump.addEventListener("click", fieldsAt);
    this.rows.forEach((row, index) => {
      row.addEventListener("pointerenter", () => this.show(index));
      row.addEventListener("click", () => this.show(index));
    });
    this.element.addEventListener("pointerleave", () => this.clear());
  }

  /** The arrow keys go through the fields. */
  step() {
    let at = -1;
    const last = this.rows.length - 1;
    this.list.addEventListener("keydown", (event) => {
      const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: last }[event.key];
      if (to === undefined || last < 0) return;
      event.preventDefault();
      at = Math.min(Math.max(to, 0), last);
      this.show(at);
      this.reach(this.rows[at]);
    });
    this.list.addEventListener("blur", () => this.clear());
  }
}

/** A part that scrolls by itself, which the keyboard reaches. */
function region(name, label) {
  const part = made("div", name);
  part.tabIndex = 0;
  part.setAttribute("role", "region");
  part.setAttribute("aria-label", label);
  return part;
}
