// What pages gain where scripts run. Everything works without it.
"use strict";

// Lines to copy get a button that copies them, also those of a part that has replaced another one.
function addButtons() {
  document.querySelectorAll("[data-copy]:only-child").forEach(addButton);
}
addButtons();
document.addEventListener("htmx:after:swap", addButtons);

function addButton(line) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.setAttribute("aria-label", "Copy: " + line.textContent.trim().slice(0, 60));
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(line.textContent.trim());
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(line);
      button.textContent = "Selected";
    }
    setTimeout(() => (button.textContent = "Copy"), 2000);
  });
  line.after(button);
}

// Sliders show their value while they move, in words where their places stand for other numbers.
document.addEventListener("input", ({ target }) => {
  const shown = target.type === "range" && document.querySelector(`output[for="${CSS.escape(target.id)}"]`);
  if (!shown) return;
  shown.value = target.dataset.steps ? target.dataset.steps.split(" ")[target.value] : target.value;
  target.setAttribute("aria-valuetext", shown.value);
});

// Forms that take a while say so, and are sent once.
document.addEventListener("submit", ({ target, submitter }) => {
  if (!target.dataset.busy || !submitter) return;
  const before = submitter.textContent;
  submitter.textContent = target.dataset.busy;
  setTimeout(() => (submitter.disabled = true));
  addEventListener("pageshow", () => {
    submitter.disabled = false;
    submitter.textContent = before;
  }, { once: true });
});

// Files are looked at before they are sent: no record may leave this machine.
const drop = document.querySelector("input.drop");
for (const name of drop ? ["dragenter", "dragleave", "drop"] : [])
  drop.addEventListener(name, () => drop.classList.toggle("over", name === "dragenter"));
drop?.addEventListener("change", async () => {
  const [file] = drop.files;
  const raw = document.getElementById("entry-raw");
  const chosen = document.getElementById("entry-chosen");
  const units = file && file.size >= 1e6 ? [1e6, "MB"] : [1e3, "kB"];
  chosen.value = file ? `${file.name}, ${(file.size / units[0]).toPrecision(3)} ${units[1]}` : "";
  raw.hidden = true;
  if (!file || (await mayBeEntry(file))) return;
  drop.value = chosen.value = "";
  const name = /^[\w@%+=:,./-]+$/.test(file.name) ? file.name : `'${file.name.replaceAll("'", `'"'"'`)}'`;
  raw.querySelector("code").textContent = `aegis release ${name} --label LABEL --require k=5 --output release`;
  raw.hidden = false;
});

// An entry is one JSON object. The service looks closer.
async function mayBeEntry(file) {
  try {
    const bytes = new Uint8Array(await file.slice(0, 2).arrayBuffer());
    const zipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
    const stream = zipped ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
    const reader = stream.getReader();
    const text = new TextDecoder().decode((await reader.read()).value).trimStart();
    reader.cancel();
    return text.startsWith("{") && !/^\{[^\n]*\}\s*\n\s*[{[]/.test(text);
  } catch {
    return true;
  }
}
