// A browser that does no more than follow redirects.
const response = await fetch(process.argv.at(-1));
await response.text();
