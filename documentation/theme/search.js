// The search of the site: words of the title count most, then those of the rule's summary and of the text. Runs in the page, without a network.
const input = document.getElementById("search");
const results = document.getElementById("results");
const root = document.body.dataset.root;

function score(page, words) {
  let sum = 0;
  for (const word of words) {
    const inTitle = page.title.toLowerCase().includes(word);
    const inSummary = page.summary.toLowerCase().includes(word);
    const inText = page.text.includes(word);
    if (!inTitle && !inSummary && !inText) return 0;
    sum += 10 * inTitle + 3 * inSummary + inText;
  }
  return sum;
}

function show() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length === 0 ? [] : window.pages
    .map((page) => ({ page, value: score(page, words) }))
    .filter(({ value }) => value > 0)
    .sort((a, b) => b.value - a.value || a.page.title.localeCompare(b.page.title))
    .slice(0, 12);
  results.replaceChildren(...found.map(({ page }) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = root + page.path;
    link.append(page.title);
    const summary = document.createElement("small");
    summary.append(page.summary);
    link.append(summary);
    item.append(link);
    return item;
  }));
  if (words.length > 0 && found.length === 0) results.append(Object.assign(document.createElement("li"), { textContent: "Nothing found" }));
  results.hidden = words.length === 0;
}

input.addEventListener("input", show);
input.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "Enter") {
    const first = results.querySelector("a");
    if (first) event.key === "Enter" ? first.click() : first.focus();
    event.preventDefault();
  }
});
results.addEventListener("keydown", (event) => {
  const links = [...results.querySelectorAll("a")];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  (links[links.indexOf(document.activeElement) + step] ?? input).focus();
  event.preventDefault();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && document.activeElement !== input) {
    input.focus();
    event.preventDefault();
  } else if (event.key === "Escape") {
    input.value = "";
    show();
  }
});
