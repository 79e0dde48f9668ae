// The published adapter for editors drives the program. The editor's side is spoken by hand, line by line.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, test } from 'node:test';
import { stage } from './stage.mjs';

const manifest = createRequire(import.meta.url).resolve('@agentclientprotocol/claude-agent-acp/package.json');
const adapter = join(dirname(manifest), 'dist', 'index.js');

const running = new Set();
afterEach(() => running.forEach((child) => child.kill()));

// editor starts the adapter for a stage. answer decides what the user chooses of the options of a question.
function editor(s, answer = (options) => options.find((o) => o.kind === 'allow_once').optionId) {
  const child = spawn(process.execPath, [adapter], {
    cwd: s.cwd,
    env: { ...s.env, CLAUDE_CODE_EXECUTABLE: process.env.ADZE_BIN, ANTHROPIC_MODEL: 'sonnet' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  running.add(child);
  const e = { updates: [], asked: [], stderr: '' };
  // complaints are the lines of the adapter's log that are about something it did not get or did not expect.
  e.complaints = () => e.stderr.split('\n').filter((line) => /fail|error|unexpected|unsupported|adze:/i.test(line));
  const waiting = new Map();
  let last = 0;
  const write = (m) => child.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\n');
  child.stderr.on('data', (d) => (e.stderr += d));
  createInterface({ input: child.stdout }).on('line', (line) => {
    const m = JSON.parse(line);
    if (m.method === 'session/update') e.updates.push(m.params.update);
    else if (m.method === 'session/request_permission') {
      e.asked.push(m.params);
      write({ id: m.id, result: { outcome: { outcome: 'selected', optionId: answer(m.params.options) } } });
    } else if (m.method !== undefined) {
      if (m.id !== undefined) write({ id: m.id, error: { code: -32601, message: 'method not found' } });
    } else {
      const { resolve, reject } = waiting.get(m.id);
      waiting.delete(m.id);
      if (m.error) reject(Object.assign(new Error(JSON.stringify(m.error)), m.error));
      else resolve(m.result);
    }
  });
  e.call = (method, params) =>
    new Promise((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      write({ id: last, method, params });
    });
  e.notify = (method, params) => write({ method, params });
  e.open = async (mcpServers = []) => {
    await e.call('initialize', {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    });
    return (await e.call('session/new', { cwd: s.cwd, mcpServers })).sessionId;
  };
  e.prompt = (sessionId, text) => e.call('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
  e.text = () => e.updates.filter((u) => u.sessionUpdate === 'agent_message_chunk').map((u) => u.content.text).join('');
  e.close = () => {
    child.kill();
    return new Promise((resolve) => child.on('exit', resolve));
  };
  return e;
}

// A program that is an MCP server with the tool double.
const doubler = `
  const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const m = JSON.parse(line);
    if (m.method === 'initialize') say(m.id, { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'doubler', version: '1' } });
    else if (m.method === 'tools/list') say(m.id, { tools: [{ name: 'double', inputSchema: { type: 'object', properties: { n: { type: 'number' } } } }] });
    else if (m.method === 'tools/call') say(m.id, { content: [{ type: 'text', text: 'twice is ' + 2 * m.params.arguments.n + ' ' + process.env.UNIT }] });
  });`;

test('an editor brings a server', async () => {
  const s = await stage('use mcp__doubler__double {"n":21}\n---\nexpect result toolu_1_1 "twice is 42 m"\nsay Done.');
  const e = editor(s);
  const id = await e.open([{ name: 'doubler', command: process.execPath, args: ['-e', doubler], env: [{ name: 'UNIT', value: 'm' }] }]);
  assert.equal((await e.prompt(id, 'go')).stopReason, 'end_turn');
  assert.equal(e.asked.length, 1);
  assert.match(e.text(), /Done\./);
  await s.played();
  await e.close();
});

const write = 'use Write {"file_path":"made.txt","content":"made\\n"}';

test('an editor asks and is answered', async () => {
  const s = await stage(`expect text "hello"\nsay Good day.\n---\n${write}\n---\nsay Done.`);
  const e = editor(s);
  const id = await e.open();
  assert.equal((await e.prompt(id, 'hello')).stopReason, 'end_turn');
  assert.match(e.text(), /Good day\./);
  assert.equal((await e.prompt(id, 'Write the file for the release.')).stopReason, 'end_turn');
  assert.equal(e.asked.length, 1);
  const titles = () => e.updates.filter((u) => u.sessionUpdate === 'session_info_update').map((u) => u.title);
  for (let i = 0; i < 5000 && titles().length === 0; i++) await new Promise((r) => setTimeout(r, 20));
  assert.deepEqual(titles(), ['Write the file for the release']);
  assert.ok(existsSync(join(s.cwd, 'made.txt')));
  assert.ok(e.updates.some((u) => u.sessionUpdate === 'tool_call_update' && u.status === 'completed'));
  assert.ok(e.updates.some((u) => u.sessionUpdate === 'available_commands_update' && u.availableCommands.length > 0));
  await e.close();
  assert.deepEqual(e.complaints(), []);
  await s.played();
});

test('an editor rejects', async () => {
  const s = await stage(`${write}\n---\nsay Then not.`);
  const e = editor(s, (options) => options.find((o) => o.kind === 'reject_once').optionId);
  const id = await e.open();
  const { stopReason } = await e.prompt(id, 'write it');
  assert.ok(['end_turn', 'cancelled'].includes(stopReason), stopReason);
  assert.ok(!existsSync(join(s.cwd, 'made.txt')));
  await e.close();
  assert.deepEqual(e.complaints(), []);
});

test('an editor cancels', async () => {
  const s = await stage('use Bash {"command":"sleep 60","description":"wait"}\n---\nsay Done.');
  const e = editor(s);
  const id = await e.open();
  const turn = e.prompt(id, 'wait');
  while (!e.updates.some((u) => u.sessionUpdate === 'tool_call' && u.status !== 'completed')) await new Promise((r) => setTimeout(r, 20));
  e.notify('session/cancel', { sessionId: id });
  assert.equal((await turn).stopReason, 'cancelled');
  await e.close();
});

test('an editor opens a session again', async () => {
  const s = await stage('say First.\n---\nexpect text "one"\nexpect messages 3\nsay Second.');
  const e = editor(s);
  const id = await e.open();
  await e.prompt(id, 'one');
  await e.close();
  const again = editor(s);
  await again.call('initialize', { protocolVersion: 1, clientCapabilities: {} });
  await again.call('session/load', { sessionId: id, cwd: s.cwd, mcpServers: [] });
  assert.match(again.text(), /First\./);
  assert.equal((await again.prompt(id, 'two')).stopReason, 'end_turn');
  assert.match(again.text(), /Second\./);
  await again.close();
  await s.played();
});

test('commands of an editor', async () => {
  const s = await stage('say First.');
  const e = editor(s);
  const id = await e.open();
  await e.prompt(id, 'one');
  for (const command of ['/compact', '/context', '/cost']) {
    assert.equal((await e.prompt(id, command)).stopReason, 'end_turn', command);
  }
  await e.close();
  assert.deepEqual(e.complaints(), []);
  assert.equal((await s.played()).length, 1);
});
