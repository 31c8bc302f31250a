// @ts-check
// Changing the path of a trial.
export const knobs = () => {};
