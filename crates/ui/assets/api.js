// @ts-check
// What the page asks the server: see /api/openapi.json.

/** An answer that says what is wrong. */
export class Refused extends Error {
  /** @param {string} what @param {{ status?: number, remedy?: string }} [answer] the server's, if there was one */
  constructor(what, answer) {
    super(what);
    /** Of HTTP; 0 where the server does not answer. */
    this.status = answer?.status ?? 0;
    /** What to do about it, where that is not said already. */
    this.remedy = answer?.remedy ?? "";
  }
}

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
  if (!response.ok) {
    const { error, ...answer } = await refusal(response);
    throw new Refused(error, { ...answer, status: response.status });
  }
  return JSON.parse(await response.text());
};

/** What an answer says that is none. @param {Response} response @returns {Promise<{ error: string, remedy?: string }>} */
const refusal = async (response) => {
  const text = await response.text();
  try {
    return { error: text, ...JSON.parse(text) };
  } catch {
    return { error: text };
  }
};

/** @param {string} path @param {Record<string, string | number | boolean>} [query] */
export const get = (path, query = {}) => ask(address(path, query));

/** @param {string} path @param {unknown} body @param {AbortSignal} [signal] leaves it */
export const post = (path, body, signal) => ask(path, {
  method: "POST",
  signal,
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
 * Listens to events until `close`. The browser asks again by itself where the connection breaks,
 * but not where the server refuses.
 * @param {string} path
 * @param {Record<string, (data: any) => void>} handlers by name of the event; `lost` and `found`
 *   tell of the connection, `refused` why there are no events
 * @returns {{ close: () => void }}
 */
export const listen = (path, handlers) => {
  const source = new EventSource(path);
  for (const [name, handle] of Object.entries(handlers)) {
    if (["lost", "found", "refused"].includes(name)) continue;
    source.addEventListener(name, (event) => handle(JSON.parse(/** @type {MessageEvent} */ (event).data)));
  }
  source.onerror = () => {
    if (source.readyState !== EventSource.CLOSED || !handlers.refused) return handlers.lost?.(null);
    // Of an event source the answer cannot be read.
    const again = new AbortController();
    fetch(path, { signal: again.signal }).then(async (answer) => {
      if (answer.ok) again.abort();
      else handlers.refused((await refusal(answer)).error);
    }).catch(() => handlers.lost?.(null));
  };
  source.onopen = () => handlers.found?.(null);
  return { close: () => source.close() };
};
