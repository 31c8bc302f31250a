// @ts-check
// Changing the path of a trial.

/**
 * @param {HTMLElement} _place
 * @param {any} _run
 * @param {{ run: string, case: string, trial: number }} _name
 * @param {() => number} _now
 */
export const knobs = (_place, _run, _name, _now) => {};
