"use strict";
const query = document.getElementById("query"), found = document.getElementById("found");

// On a phone the list of pages starts closed.
if (matchMedia("(max-width: 50rem)").matches) document.querySelector("nav details").open = false;

document.getElementById("theme").addEventListener("click", () => {
	const root = document.documentElement;
	const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
	root.dataset.theme = dark ? "light" : "dark";
	try { localStorage.theme = root.dataset.theme } catch {}
});

for (const pre of document.querySelectorAll("pre")) {
	if (!navigator.clipboard) break;
	const button = document.createElement("button");
	button.textContent = "Copy";
	button.addEventListener("click", async () => {
		await navigator.clipboard.writeText(pre.querySelector("code").textContent);
		button.textContent = "Copied";
		setTimeout(() => { button.textContent = "Copy" }, 1500);
	});
	pre.append(button);
}

// search returns the sections that contain all words, best first: words in titles and at the
// beginning of words count more.
function search(text) {
	const words = text.toLowerCase().split(/[^\p{L}\p{N}_]+/u).filter(Boolean);
	if (!words.length) return [];
	const hits = [];
	for (const section of searchIndex) {
		const fields = [[section.p, 6], [section.h, 8], [section.t, 1]].map(([text, weight]) => [text.toLowerCase(), weight]);
		let score = 0;
		for (const word of words) {
			let best = 0;
			for (const [field, weight] of fields) {
				const at = field.indexOf(word);
				if (at < 0) continue;
				const begins = new RegExp("(?<![\\p{L}\\p{N}_])" + word, "u").test(field);
				best = Math.max(best, weight * (begins ? 2 : 1) + (field === word ? 5 : 0));
			}
			if (!best) { score = 0; break }
			score += best;
		}
		if (score) hits.push({section, score, words});
	}
	return hits.sort((a, b) => b.score - a.score).slice(0, 12);
}

// excerpt appends text around the first hit, with all hits marked.
function excerpt(parent, text, words) {
	const at = Math.max(0, ...words.map(w => text.toLowerCase().indexOf(w)));
	const start = at > 60 ? text.indexOf(" ", at - 60) + 1 : 0;
	const piece = (start ? "… " : "") + text.slice(start, start + 160);
	const parts = piece.split(new RegExp("(" + words.join("|") + ")", "iu"));
	parts.forEach((part, i) => {
		const node = document.createElement(i % 2 ? "mark" : "span");
		node.textContent = part;
		parent.append(node);
	});
}

function select(step) {
	const items = [...found.querySelectorAll("li")];
	const now = items.findIndex(i => i.getAttribute("aria-selected") === "true");
	const next = Math.min(items.length - 1, Math.max(0, now + step));
	items.forEach((i, n) => i.setAttribute("aria-selected", n === next));
	items[next]?.scrollIntoView({block: "nearest"});
}

function show() {
	found.replaceChildren();
	const hits = search(query.value);
	for (const {section, words} of hits) {
		const line = document.createElement("li"), link = document.createElement("a"), small = document.createElement("small");
		line.setAttribute("role", "option");
		link.href = document.body.dataset.root + section.a;
		link.append(section.h ? section.p + " › " + section.h : section.p, small);
		link.addEventListener("click", hide);
		excerpt(small, section.t, words);
		line.append(link);
		found.append(line);
	}
	if (!hits.length && query.value.trim()) {
		const none = document.createElement("li");
		none.className = "none";
		none.textContent = "Nothing found";
		found.append(none);
	}
	found.hidden = !query.value.trim();
	query.setAttribute("aria-expanded", !found.hidden);
	select(0);
}

function hide() {
	found.hidden = true;
	query.setAttribute("aria-expanded", false);
}

query.addEventListener("input", show);
query.addEventListener("focus", show);
query.addEventListener("keydown", event => {
	if (event.key === "ArrowDown") select(1);
	else if (event.key === "ArrowUp") select(-1);
	else if (event.key === "Enter") found.querySelector('[aria-selected="true"] a')?.click();
	else if (event.key === "Escape") { query.value = ""; hide(); query.blur() }
	else return;
	event.preventDefault();
});
document.addEventListener("keydown", event => {
	if (event.key === "/" && !/^(input|textarea)$/i.test(document.activeElement.tagName)) {
		event.preventDefault();
		query.focus();
	}
});
document.addEventListener("click", event => { if (!event.target.closest(".search")) hide() });
