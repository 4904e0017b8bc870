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
