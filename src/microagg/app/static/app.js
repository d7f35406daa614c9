// What the pages need beyond HTML: what is done is sent, and what comes back is merged into the page
// so that focus, scroll positions and opened parts stay as they are. No markup is made here.
"use strict";

(() => {
  const root = document.documentElement;

  // ---- light and dark -------------------------------------------------------------------------
  const stored = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
  const store = (key, value) => { try { localStorage.setItem(key, value); } catch { /* private */ } };
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme || (prefersDark.matches ? "dark" : "light")) === "dark";
  const setTheme = (theme) => {
    if (theme) root.dataset.theme = theme;
    const button = document.getElementById("theme");
    if (button) button.setAttribute("aria-pressed", String(isDark()));
  };
  setTheme(stored("microagg-theme"));
  prefersDark.addEventListener("change", () => setTheme());

  // ---- merging new markup into what is there ---------------------------------------------------
  const KEPT = { DETAILS: ["open"] }; // the browser decides these

  function mergeAttributes(from, to) {
    const kept = KEPT[from.tagName] || [];
    if (to.hasAttribute("data-open") && !from.hasAttribute("data-open")) from.open = true; // from now on
    for (const { name, value } of [...to.attributes]) {
      if (!kept.includes(name) && from.getAttribute(name) !== value) from.setAttribute(name, value);
    }
    for (const { name } of [...from.attributes]) {
      if (!kept.includes(name) && !to.hasAttribute(name)) from.removeAttribute(name);
    }
  }

  // What somebody types into a field that is sent later stays, until the server has another value.
  function mergeValue(from, to, before) {
    const isSentLater = !from.dataset.do && before === to.getAttribute("value");
    const isTyping = from === document.activeElement || isSentLater;
    if (from.tagName === "INPUT") {
      if (from.type === "checkbox" || from.type === "radio") {
        if (from.dataset.do) from.checked = to.hasAttribute("checked");
      }
      else if (from.type !== "file" && !isTyping) from.value = to.getAttribute("value") || "";
    } else if (from.tagName === "TEXTAREA") {
      if (!isTyping) from.value = to.textContent;
    } else if (from.tagName === "SELECT" && from.dataset.do) {
      const chosen = to.querySelector("option[selected]");
      from.value = chosen ? chosen.value : (to.options[0] || { value: "" }).value;
    }
  }

  const isSame = (a, b) => a.nodeType === b.nodeType && a.nodeName === b.nodeName
    && (a.nodeType !== 1 || (a.id || "") === (b.id || ""));

  function merge(from, to) {
    if (from.nodeType !== 1) {
      if (from.nodeValue !== to.nodeValue) from.nodeValue = to.nodeValue;
      return;
    }
    const before = from.getAttribute("value");
    mergeAttributes(from, to);
    if (from.tagName !== "TEXTAREA") mergeChildren(from, to);
    mergeValue(from, to, before);
  }

  function mergeChildren(from, to) {
    const known = new Map();
    for (const child of from.children) if (child.id) known.set(child.id, child);
    let at = from.firstChild;
    for (const next of [...to.childNodes]) {
      const own = next.nodeType === 1 && next.id ? known.get(next.id) : null;
      if (own && isSame(own, next)) {
        if (own !== at) from.insertBefore(own, at); else at = at.nextSibling;
        merge(own, next);
      } else if (at && isSame(at, next) && !(at.nodeType === 1 && at.id)) {
        const here = at;
        at = at.nextSibling;
        merge(here, next);
      } else {
        from.insertBefore(next, at);
      }
    }
    while (at) {
      const gone = at;
      at = at.nextSibling;
      from.removeChild(gone);
    }
  }

  let shown = "";
  function show(element, html) {
    const template = document.createElement("template");
    template.innerHTML = html;
    const next = document.createElement(element.tagName);
    next.append(template.content);
    const drop = document.getElementById("drop");
    const active = element.contains(document.activeElement) ? document.activeElement : null;
    const card = active && active.closest(".card[id]");
    if (drop && element.contains(drop)) document.getElementById("drop-store").append(drop);
    mergeChildren(element, next);
    const place = element.querySelector("#drop-place");
    if (drop && place) place.append(drop);
    if (active && (active !== document.activeElement || active.disabled)) {
      // What had the focus may be gone, or do nothing any more: stay near.
      const near = !active.isConnected ? card
        : active.disabled ? active.parentElement.querySelector("button:enabled") || card : active;
      if (near && near === card) card.tabIndex = -1;
      (near || element).focus({ preventScroll: true });
    }
    const now = element.querySelector(".step[data-step]");
    if (now && now.dataset.step !== shown) {
      const title = shown && now.querySelector("h1"); // not when the page opens
      shown = now.dataset.step;
      if (title) {
        scrollTo(0, 0);
        title.focus({ preventScroll: true });
      }
    }
  }

  const binding = new Shiny.OutputBinding();
  binding.find = (scope) => $(scope).find(".view");
  binding.renderValue = (element, value) => {
    if (value) show(element, value.html);
  };
  binding.renderError = (element, error) => { element.textContent = error.message; };
  binding.clearError = () => {};
  Shiny.outputBindings.register(binding, "microagg.view");

  // ---- saying what is done ---------------------------------------------------------------------
  function fieldsOf(element) {
    const form = element.closest("[data-form]");
    const found = {};
    if (form) {
      for (const own of form.querySelectorAll("[name]")) {
        found[own.name] = own.type === "checkbox" ? own.checked : own.value;
      }
    }
    return found;
  }

  let count = 0;
  let typed = null; // the field whose text waits to be sent
  let waiting = 0;
  function sendTyped() {
    clearTimeout(waiting);
    const element = typed;
    typed = null;
    if (element && element.isConnected) send(element);
  }

  // What is typed comes before what is done next: "select all" means what the search finds.
  function send(element, more) {
    if (typed) sendTyped();
    const { do: what, ...data } = element.dataset;
    const value = element.type === "checkbox" ? element.checked : element.value;
    const message = {
      ...data, do: what, id: element.id, value: value === undefined ? "" : value,
      fields: fieldsOf(element), ...more, count: (count += 1),
    };
    Shiny.setInputValue("act", message, { priority: "event" });
  }

  // What is added leaves an empty field; if it is refused, it comes back with the reason.
  function clear(element) {
    for (const own of element.closest("[data-form]").querySelectorAll("input[type=text]")) {
      own.value = "";
      own.setAttribute("value", "");
    }
  }

  const OF_TEXT = "input:not([type=checkbox], [type=radio], [type=file]), textarea"; // undo is theirs
  const isField = (element) => ["INPUT", "SELECT", "TEXTAREA"].includes(element.tagName);
  const closest = (event, selector) =>
    event.target instanceof Element ? event.target.closest(selector) : null;

  document.addEventListener("click", (event) => {
    const copied = closest(event, "[data-copy]");
    if (copied) { copy(copied); return; }
    const element = closest(event, "[data-do]");
    if (element && !isField(element) && !element.disabled) {
      event.preventDefault();
      send(element, {});
      if (element.dataset.clears !== undefined) clear(element);
    }
    if (closest(event, "#theme")) {
      setTheme(isDark() ? "light" : "dark");
      store("microagg-theme", root.dataset.theme);
    }
  });

  document.addEventListener("change", (event) => {
    const element = closest(event, "[data-do]");
    if (element && isField(element) && element.dataset.live === undefined) send(element);
    const emptied = closest(event, "[data-emptied]");
    if (emptied && !emptied.value.trim()) send(emptied, { do: emptied.dataset.emptied });
  });

  document.addEventListener("input", (event) => {
    const element = closest(event, "[data-live]");
    if (!element) return;
    clearTimeout(waiting);
    typed = element;
    waiting = setTimeout(sendTyped, 200);
  });

  document.addEventListener("keydown", (event) => {
    const element = closest(event, "[data-do], [data-enter]");
    if (event.key === "Enter" && element && element.dataset.enter) {
      event.preventDefault();
      const button = document.getElementById(element.dataset.enter);
      if (button) button.click();
    } else if ((event.key === "Enter" || event.key === " ") && element
               && element.getAttribute("role") === "button") {
      event.preventDefault();
      send(element);
    } else if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z"
               && !(event.target instanceof Element && event.target.matches(OF_TEXT))) {
      event.preventDefault();
      const button = document.getElementById(event.shiftKey ? "redo" : "undo");
      if (button && !button.disabled) button.click();
    }
  });

  async function copy(button) {
    const text = document.getElementById(button.dataset.copy).textContent;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    const label = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = label; }, 1500);
  }

  // ---- dragging an entry of a list to another place --------------------------------------------
  let dragged = null;
  document.addEventListener("dragstart", (event) => {
    dragged = closest(event, "[data-drag]");
    if (dragged) {
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", dragged.dataset.drag); // Firefox drags nothing else
    }
  });
  document.addEventListener("dragend", () => { dragged = null; });
  document.addEventListener("dragover", (event) => {
    const over = closest(event, "[data-drag]");
    if (dragged && over && over.parentElement === dragged.parentElement) event.preventDefault();
  });
  document.addEventListener("drop", (event) => {
    const over = closest(event, "[data-drag]");
    if (dragged && over && over.parentElement === dragged.parentElement) {
      event.preventDefault();
      const list = dragged.parentElement;
      send(list, { do: list.dataset.dropped, from: dragged.dataset.drag, to: over.dataset.drag });
    }
    dragged = null;
  });

  // ---- the connection --------------------------------------------------------------------------
  function tab() {
    let name = null;
    try {
      name = sessionStorage.getItem("microagg-tab");
      if (!name) {
        name = crypto.randomUUID();
        sessionStorage.setItem("microagg-tab", name);
      }
    } catch { /* private */ }
    return name || "alone";
  }
  $(document).on("shiny:connected", () => {
    Shiny.setInputValue("tab", tab());
    setTheme(root.dataset.theme);
    const gone = document.getElementById("gone");
    if (gone) gone.hidden = true;
  });
  // A tab that was duplicated has the name of the other until it gets its own.
  Shiny.addCustomMessageHandler("microagg-tab", ({ name }) => {
    try { sessionStorage.setItem("microagg-tab", name); } catch { /* private */ }
  });
  // Before it stops, the app says why: see `Guard.stop`.
  Shiny.addCustomMessageHandler("microagg-stopped", (notice) => {
    const gone = document.getElementById("gone");
    if (gone) gone.textContent = `${notice} Start it again with: microagg app`;
  });
  $(document).on("shiny:disconnected", () => {
    const gone = document.getElementById("gone");
    if (gone) gone.hidden = false;
  });
})();
