(() => {
  "use strict";
  // Chosen by hand or left to the system; storage may be refused for pages from a file.
  let chosen = null;
  try { chosen = localStorage.getItem("tcplab-theme"); } catch { /* then not remembered */ }
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
})();
