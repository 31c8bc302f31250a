// @ts-check
// What was written and is not started yet, in this tab: it is there again when the page is.

/** The key of the page that is shown; its number is that of the form's state. */
const key = () => `tcplab-draft-2 ${location.hash || "#/"}`;

/** What was kept on this page. @returns {any} null where nothing was */
export const kept = () => {
  try {
    return JSON.parse(sessionStorage.getItem(key()) ?? "null");
  } catch {
    return null;
  }
};

/** @param {unknown} draft null forgets it */
export const keep = (draft) => {
  try {
    if (draft === null) sessionStorage.removeItem(key());
    else sessionStorage.setItem(key(), JSON.stringify(draft));
  } catch { /* then it is not remembered */ }
};
