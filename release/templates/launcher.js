#!/usr/bin/env node
"use strict";

// The program is in the package for this platform, an optional dependency.
const name = require("./package.json").name;
const part = `@${name}/${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${part}/bin/adze${process.platform === "win32" ? ".exe" : ""}`);
} catch {
  console.error(`adze: the package ${part} is not installed. Install again without --omit=optional;`);
  console.error("if there is no such package, adze does not support this platform.");
  process.exit(1);
}
const args = process.argv.slice(2);
if (process.execve && process.platform !== "win32") {
  process.removeAllListeners("warning"); // execve is experimental in some versions
  process.execve(program, ["adze", ...args], process.env);
}
const { spawnSync } = require("node:child_process");
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {}); // the program decides
const result = spawnSync(program, args, { stdio: "inherit" });
if (result.error) {
  console.error(`adze: ${result.error.message}`);
  process.exit(1);
}
if (result.signal) process.kill(process.pid, result.signal);
process.exit(result.status ?? 1);
