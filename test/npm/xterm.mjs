// A terminal: xterm.js without a browser. Each line of the input is a request:
//
//	{"write": "<base64>"}      shows what a program wrote
//	{"resize": [cols, rows]}   changes the size
//	{"show": true}             prints {"lines": [...], "grounds": [...], "x": 0, "y": 0, "cell": "..."}: all lines, the
//	                           background of their last cells but one (rows that change leave the last column
//	                           empty), the cursor, and what is under it
import { createInterface } from "node:readline";
import xterm from "@xterm/headless";

const [cols, rows] = process.argv.slice(2).map(Number);
const terminal = new xterm.Terminal({ cols, rows, scrollback: 10000, allowProposedApi: true });

function show() {
  const buffer = terminal.buffer.active;
  const lines = [];
  const grounds = [];
  for (let i = 0; i < buffer.length; i++) {
    const line = buffer.getLine(i);
    const text = line.translateToString(true);
    const last = line.getCell(terminal.cols - 2);
    const ground = last?.isBgRGB() ? last.getBgColor().toString(16) : "";
    if (line.isWrapped) lines[lines.length - 1] += text;
    else {
      lines.push(text);
      grounds.push(ground);
    }
  }
  const cell = buffer.getLine(buffer.baseY + buffer.cursorY).getCell(buffer.cursorX);
  const { cursorX: x, cursorY: y } = buffer;
  process.stdout.write(JSON.stringify({ lines, grounds, x, y, cell: cell.getChars() }) + "\n");
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.write !== undefined) terminal.write(Buffer.from(request.write, "base64"));
  else if (request.resize) await new Promise((done) => terminal.write("", () => (terminal.resize(...request.resize), done())));
  else await new Promise((done) => terminal.write("", () => (show(), done())));
}
