// @ts-check
// What the page asks the server: see /api/openapi.json.

/** An answer that says what is wrong. */
export class Refused extends Error {}

/**
 * @param {string} path
 * @param {RequestInit} [options]
 * @returns {Promise<any>}
 */
const ask = async (path, options) => {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw new Refused("The server does not answer: start `tcplab ui` again. This page finds it.");
  }
  const text = await response.text();
  if (response.ok) return JSON.parse(text);
  let what = text;
  try { what = JSON.parse(text).error ?? text; } catch { /* it is text */ }
  throw new Refused(what);
};

/** @param {string} path @param {Record<string, string | number | boolean>} [query] */
export const get = (path, query = {}) => ask(address(path, query));

/** @param {string} path @param {unknown} body */
export const post = (path, body) => ask(path, {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

/** @param {string} path @param {Record<string, string | number | boolean>} query */
export const remove = (path, query) => ask(address(path, query), { method: "DELETE" });

/** @param {string} path @param {Record<string, string | number | boolean>} query */
export const address = (path, query) => {
  const words = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)]));
  return words.size > 0 ? `${path}?${words}` : path;
};

/**
 * Listens to events until `close`. The browser asks again by itself where the connection breaks.
 * @param {string} path
 * @param {Record<string, (data: any) => void>} handlers by name of the event; `lost` and `found`
 *   tell of the connection
 * @returns {{ close: () => void }}
 */
export const listen = (path, handlers) => {
  const source = new EventSource(path);
  for (const [name, handle] of Object.entries(handlers)) {
    if (name === "lost" || name === "found") continue;
    source.addEventListener(name, (event) => handle(JSON.parse(/** @type {MessageEvent} */ (event).data)));
  }
  source.onerror = () => handlers.lost?.(null);
  source.onopen = () => handlers.found?.(null);
  return { close: () => source.close() };
};
