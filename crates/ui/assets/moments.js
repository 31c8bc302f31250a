// @ts-check
// More moments at which interruptions begin: each is a case, and cases are what an answer may need.

/** The most moments: a report has each of their trials. */
const MOST = 80;

/** Whether an answer says that more cases would decide it. @param {string} answer */
export const needsCases = (answer) => /more cases? needed/.test(answer);

/** Milliseconds. @param {string} time such as `250 ms` */
const milliseconds = (time) => {
  const found = /^([0-9.]+) (ms|s)$/.exec(time);
  return found ? Number(found[1]) * (found[2] === "s" ? 1000 : 1) : NaN;
};

/**
 * A scenario as the form writes it, with a moment between each two more; null for another one, or one with very many.
 * @param {string} toml
 * @returns {{ toml: string, moments: number } | null}
 */
export const moreMoments = (toml) => {
  const line = /^"path\.interruption\.offset" = (\[.*\])$/m.exec(toml), every = milliseconds(/interruption = \{ every = "([^"]*)"/.exec(toml)?.[1] ?? "");
  if (!line || !every) return null;
  let there;
  try {
    there = JSON.parse(line[1]).map(milliseconds).sort((/** @type {number} */ a, /** @type {number} */ b) => a - b);
  } catch {
    return null;
  }
  const between = there.map((/** @type {number} */ time, /** @type {number} */ at) => ((time + (there[at + 1] ?? there[0] + every)) / 2) % every);
  const all = [...new Set([...there, ...between.map(Math.round)])].sort((a, b) => a - b);
  if (all.some(Number.isNaN) || all.length !== 2 * there.length || all.length > MOST) return null;
  return { toml: toml.replace(line[0], () => `"path.interruption.offset" = [${all.map((time) => `"${time} ms"`).join(", ")}]`), moments: all.length };
};
