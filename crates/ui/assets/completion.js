// @ts-check
// What fits where one writes in a scenario file: keys, tables and values, by the schema.

/** `rest` is what is written behind the cursor. @typedef {{ shown: string, about: string, rest: string }} Offer */

/** A table that is open where one writes, or a list. @typedef {{ isList: boolean, key: string[], used: string[] }} Frame */

const HEADER = /^[ \t]*\[{1,2}\s*([A-Za-z0-9_."-]+?)\s*\]{1,2}/gm;

/** @param {string} name of a table or a key */
const parts = (name) => name.replaceAll('"', "").split(".");

/**
 * @param {any} schema
 * @param {string} before the text before the cursor
 * @param {string} after the text behind it
 * @param {Record<string, string[]>} known values of keys that the schema takes any text for
 * @returns {Offer[]}
 */
export const offersAt = (schema, before, after, known) => {
  const line = before.slice(before.lastIndexOf("\n") + 1);
  const begun = /^\s*(\[{1,2})([A-Za-z0-9_.-]*)$/.exec(line);
  const headers = [...before.matchAll(HEADER)], last = headers.at(-1);
  const section = before.slice(last ? last.index + last[0].length : 0);
  const all = [...headers, ...after.matchAll(HEADER)];
  const isHeader = begun && scan(section.slice(0, section.length - line.length)).frames.length === 1;
  if (isHeader) return tables(schema, begun[1].length > 1, begun[2], all, after);
  const { frames, word, isQuoted, isValue, isOver } = scan(section);
  if (isOver) return [];
  const table = last ? parts(last[1]) : [];
  const path = [...table, ...frames.flatMap((frame) => frame.key)];
  // Keys of the matrix name places in the whole file.
  if (isValue) return values(schema, path[0] === "matrix" ? path.slice(1) : path, { word, isQuoted, after, known });
  if (isQuoted || !/^[A-Za-z_]*$/.test(word)) return [];
  return keys(schema, path, word, new Set([...frames[frames.length - 1].used, ...later(after, frames.length > 1), ...below(all, path)]));
};

/** Where the text of a table leads to. @param {string} text @returns {{ frames: Frame[], word: string, isQuoted: boolean, isValue: boolean, isOver: boolean }} */
const scan = (text) => {
  /** @type {Frame[]} */
  const frames = [{ isList: false, key: [], used: [] }];
  let word = "", quote = "", isValue = false, isComment = false, isWhole = true;
  const within = () => frames[frames.length - 1];
  const next = () => {
    [word, isValue] = ["", within().isList];
    if (!isValue) within().key = [];
  };
  const signs = [...text];
  for (const [at, sign] of signs.entries()) {
    if (isComment && sign !== "\n") continue;
    isComment = false;
    if (quote) {
      if (sign === quote && signs[at - 1] !== "\\") quote = ""; else word += sign;
    } else if (sign === '"' || sign === "'") [quote, word, isWhole] = [sign, "", false];
    else if (sign === "#") isComment = true;
    else if (sign === "=" && !isValue) {
      within().key = parts(word);
      within().used.push(within().key[0]);
      [word, isValue] = ["", true];
    } else if (sign === "{" || sign === "[") {
      frames.push({ isList: sign === "[", key: [], used: [] });
      next();
    } else if (sign === "}" || sign === "]") {
      if (frames.length > 1) frames.pop();
      [word, isValue, isWhole] = ["", true, true];
    } else if (sign === "," || (sign === "\n" && frames.length === 1)) {
      next();
      isWhole = false;
    } else if (/\s/.test(sign)) isWhole = true;
    else [word, isWhole] = [isWhole ? sign : word + sign, false];
  }
  // Behind a key, or in a comment, nothing fits.
  return { frames, word: isWhole && !quote ? "" : word, isQuoted: quote !== "", isValue, isOver: isComment || (isWhole && word !== "") };
};

/** The keys behind the cursor: of its table, or of the inline table on its line. @param {string} after @param {boolean} isInline */
const later = (after, isInline) => {
  const rest = isInline ? after.split(/[}\n]/, 1)[0] : after.slice(after.indexOf("\n") + 1 || after.length).split(/^[ \t]*\[/m, 1)[0];
  return [...rest.matchAll(isInline ? /([A-Za-z_]+)\s*=/g : /^[ \t]*([A-Za-z_]+)\s*[=.]/gm)].map((it) => it[1]);
};

/** The keys of a table that have a table of their own. @param {RegExpMatchArray[]} headers @param {string[]} path */
const below = (headers, path) => headers.map((it) => parts(it[1])).filter((it) => it.length > path.length && path.every((key, at) => it[at] === key)).map((it) => it[path.length]);

/** @param {any} schema @param {string[]} path @param {string} word @param {Set<string>} used @returns {Offer[]} */
const keys = (schema, path, word, used) => properties(schema, path).filter(([key]) => key.startsWith(word) && !used.has(key))
  .map(([key, of]) => ({ shown: key, about: of.description ?? "", rest: `${key.slice(word.length)} = ${opening(schema, of)}` }));

/** What a value begins with where it can only be a table. @param {any} schema @param {any} node */
const opening = (schema, node) => {
  const all = alternatives(schema, node).filter((it) => it.type !== "null");
  return all.length > 0 && all.every((it) => it.type === "object") ? "{ " : "";
};

/** The values that a key can have. @param {any} schema @param {string[]} path @param {{ word: string, isQuoted: boolean, after: string, known: Record<string, string[]> }} where @returns {Offer[]} */
const values = (schema, path, { word, isQuoted, after, known }) => {
  const nodes = alternatives(schema, at(schema, path)).flatMap((it) => it.type === "array" || it.items ? alternatives(schema, it.items) : [it]);
  const all = nodes.flatMap((it) => (it.enum ?? (it.const === undefined ? [] : [it.const])).map((/** @type {unknown} */ value) => [value, it.description ?? ""]));
  all.push(...(known[path[path.length - 1]] ?? []).map((value) => [value, ""]));
  if (!isQuoted && nodes.some((it) => [it.type].flat().includes("boolean"))) all.push([true, ""], [false, ""]);
  return all.filter(([value]) => (typeof value === "string" || !isQuoted) && value !== null && String(value).startsWith(word) && (isQuoted || word === "" || typeof value !== "string"))
    .map(([value, about]) => ({ shown: String(value), about, rest: isQuoted ? `${value.slice(word.length)}${after.startsWith('"') ? "" : '"'}` : JSON.stringify(value).slice(word.length) }));
};

/** The tables that can be opened. @param {any} schema @param {boolean} isDouble @param {string} word @param {RegExpMatchArray[]} headers @param {string} after @returns {Offer[]} */
const tables = (schema, isDouble, word, headers, after) => {
  const path = word.split("."), begun = path.pop() ?? "", used = new Set(below(headers, path));
  const close = (/** @type {string} */ signs) => after.startsWith("]") ? "" : signs;
  return properties(schema, path).filter(([key]) => key.startsWith(begun)).flatMap(([key, of]) => {
    const all = alternatives(schema, of), [shown, about, rest] = [[...path, key].join("."), of.description ?? "", key.slice(begun.length)];
    if (all.some((it) => it.items && alternatives(schema, it.items).some((item) => item.properties))) {
      return isDouble ? [{ shown, about, rest: `${rest}${close("]]")}` }] : word === "" ? [{ shown: `[${key}]`, about, rest: `[${key}]${close("]")}` }] : [];
    }
    const isTable = all.some((it) => it.properties || it.additionalProperties || it.patternProperties);
    return isTable && !isDouble && !used.has(key) ? [{ shown, about, rest: `${rest}${close("]")}` }] : [];
  });
};

/** The keys of a table, with what each is. @param {any} schema @param {string[]} path @returns {[string, any][]} */
const properties = (schema, path) => alternatives(schema, at(schema, path)).flatMap((it) => Object.entries(it.properties ?? {}));

/** What a key of a file takes, and what it is for. @param {any} schema @param {string[]} path @returns {{ about: string, kinds: any[] }} */
export const keyAt = (schema, path) => {
  const node = at(schema, path);
  return { about: node?.description ?? "", kinds: alternatives(schema, node).filter((it) => it.type !== "null") };
};

/** What a place of a file may be. @param {any} schema @param {string[]} path */
const at = (schema, path) => path.reduce((node, part) => {
  const all = alternatives(schema, node).flatMap((it) => it.items ? alternatives(schema, it.items) : [it]);
  return all.map((it) => it.properties?.[part] ?? it.additionalProperties).find((it) => typeof it === "object");
}, schema);

/** The kinds of value that a node of the schema stands for; of none: none. @param {any} schema @param {any} node @returns {any[]} */
const alternatives = (schema, node) => {
  if (!node) return [];
  if (node.$ref) {
    const found = node.$ref.slice(2).split("/").reduce((/** @type {any} */ it, /** @type {string} */ part) => it?.[part], schema);
    return alternatives(schema, found);
  }
  const all = [...(node.anyOf ?? []), ...(node.oneOf ?? []), ...(node.allOf ?? [])];
  return all.length > 0 ? all.flatMap((it) => alternatives(schema, it)) : [node];
};
