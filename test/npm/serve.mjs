// The official client of the Model Context Protocol uses adze mcp serve, over standard streams and over HTTP (SERVE_URL).
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { existsSync, readFileSync } from 'node:fs';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

async function use(transport, cwd) {
  const client = new Client({ name: 'judge', version: '1' }, { capabilities: { roots: {} } });
  let closing = false;
  client.onerror = (err) => {
    // Over HTTP a cancelled request is answered all the same, and closing breaks streams off, with one error or another.
    if (!(process.env.SERVE_URL && (closing || /unknown message ID/.test(err.message)))) assert.fail(err);
  };
  await client.connect(transport);
  assert.equal(client.getServerVersion().name, 'adze');
  assert.match(client.getInstructions(), /Read a file before/);
  const { tools } = await client.listTools();
  const names = tools.map((t) => t.name);
  for (const name of ['Bash', 'Edit', 'Glob', 'Grep', 'Read', 'WebFetch', 'Write']) assert.ok(names.includes(name), name);
  assert.equal(tools.find((t) => t.name === 'Read').annotations.readOnlyHint, true);
  assert.equal(tools.find((t) => t.name === 'Bash').annotations, undefined);

  // The client holds structured results to the schema of the tool.
  const call = (name, args, options) => client.callTool({ name, arguments: args }, undefined, options);
  assert.match((await call('Read', { file_path: 'a.txt' })).content[0].text, /one/);
  assert.equal((await call('Edit', { file_path: 'a.txt', old_string: 'one', new_string: 'two' })).isError ?? false, false);
  assert.equal(readFileSync(join(cwd, 'a.txt'), 'utf8'), 'two\n');
  assert.equal((await call('Edit', { file_path: 'a.txt', old_string: 'two', new_string: 'one' })).isError ?? false, false);
  assert.match((await call('Glob', { pattern: '*.txt' })).content[0].text, /a\.txt/);
  assert.match((await call('Grep', { pattern: 'on[e]' })).content[0].text, /a\.txt/);
  assert.match((await call('Bash', { command: 'echo hello' })).content[0].text, /hello/);
  assert.equal((await call('Bash', { command: 'exit 3' })).isError ?? false, true);

  const refused = await call('Bash', { command: 'make made' });
  assert.equal(refused.isError, true);
  assert.match(refused.content[0].text, /--allowed-tools/);
  assert.ok(!existsSync(join(cwd, 'made')));
  await assert.rejects(call('Nope', {}), /unknown tool/);

  const news = [];
  await call('Bash', { command: 'sleep 0.3; echo done' }, { onprogress: (p) => news.push(p) });
  assert.ok(news.length > 0);
  const abort = new AbortController();
  const waiting = call('Bash', { command: 'sleep 60' }, { signal: abort.signal });
  setTimeout(() => abort.abort(), 200);
  await assert.rejects(waiting);
  const all = await Promise.all(Array.from({ length: 20 }, () => call('Read', { file_path: 'a.txt' })));
  assert.ok(all.every((r) => !r.isError));
  closing = true;
  await client.close();
  return names.length;
}

const cwd = process.env.SERVE_DIR;
const flags = ['mcp', 'serve', '--permission-mode', 'acceptEdits', '--allowed-tools', 'Bash(sleep *)'];
const over = process.env.SERVE_URL
  ? new StreamableHTTPClientTransport(new URL(process.env.SERVE_URL), { requestInit: { headers: { Authorization: process.env.SERVE_TOKEN } } })
  : new StdioClientTransport({ command: process.env.ADZE_BIN, args: flags, cwd, env: process.env });
console.log(`${process.env.SERVE_URL ? 'http' : 'stdio'}: ${await use(over, cwd)} tools`);
