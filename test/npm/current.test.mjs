// What the SDK of the previous year does not offer, or does otherwise.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { listSessions } from '@anthropic-ai/claude-agent-sdk';
import { collect, inbox, result, stage } from './stage.mjs';

test('questions about the session', async () => {
  const s = await stage('usage input=1000 output=10\nsay x');
  writeFileSync(join(s.cwd, 'note.txt'), 'a note\n');
  const input = inbox('one');
  const q = s.query(input);
  const init = await q.initializationResult();
  assert.match(init.claude_code_version, /adze/);
  assert.ok((await q.supportedModels()).some((m) => m.value === 'opus'));
  assert.ok(Array.isArray(await q.supportedCommands()));
  assert.deepEqual(await q.mcpServerStatus(), []);
  assert.equal((await q.accountInfo()).apiKeySource, 'ANTHROPIC_API_KEY');
  for await (const m of q) {
    if (m.type !== 'result') continue;
    const usage = await q.getContextUsage();
    assert.equal(usage.totalTokens, 1010);
    assert.ok(usage.maxTokens >= 200_000);
    assert.equal((await q.readFile('note.txt')).contents, 'a note\n');
    assert.ok((await q.reinitialize()).models.length > 0);
    await assert.rejects(q.reconnectMcpServer('none'), /no MCP server "none"/);
    input.close();
  }
});

test('rewindFiles', async () => {
  const s = await stage('use Write {"file_path":"a.txt","content":"new\\n"}\n---\nsay Done.');
  const file = join(s.cwd, 'a.txt');
  const uuid = '7d1f0c52-7a8e-4c52-9d5c-0a6c7d1b2e3f';
  const input = inbox();
  input.say('write it', { uuid });
  const q = s.query(input, { permissionMode: 'acceptEdits', enableFileCheckpointing: true });
  for await (const m of q) {
    if (m.type !== 'result') continue;
    assert.equal(readFileSync(file, 'utf8'), 'new\n');
    const dry = await q.rewindFiles(uuid, { dryRun: true });
    assert.deepEqual(dry, { canRewind: true, filesChanged: [file], insertions: 1, deletions: 0 });
    assert.ok(existsSync(file));
    assert.equal((await q.rewindFiles(uuid)).canRewind, true);
    assert.ok(!existsSync(file));
    assert.equal((await q.rewindFiles('none')).canRewind, false);
    input.close();
  }
});

test('nothing of an untrusted workspace is run', async () => {
  const s = await stage('forever\nexpect text "Be kind."\nsay Done.');
  const ran = join(s.cwd, 'ran');
  mkdirSync(join(s.cwd, '.claude'));
  writeFileSync(join(s.cwd, 'CLAUDE.md'), 'Be kind.');
  writeFileSync(join(s.cwd, '.claude', 'settings.json'), JSON.stringify({
    hooks: { SessionStart: [{ hooks: [{ type: 'command', command: `touch '${ran}'` }] }] },
  }));
  const hooks = { EventOfTheFuture: [{ hooks: [async () => ({})] }] };
  for (const more of [{}, { settingSources: ['user', 'project', 'local'] }, { hooks }]) {
    assert.equal(result(await collect(s.query('go', more))).result, 'Done.');
    assert.ok(!existsSync(ran));
  }
  assert.match(s.stderr.join(''), /this workspace is not trusted/);
  assert.match(s.stderr.join(''), /EventOfTheFuture: unknown event/);
  assert.equal(result(await collect(s.query('go', { extraArgs: { trust: null } }))).result, 'Done.');
  assert.ok(existsSync(ran));
  await s.played();
});

test('a session that is not kept', async () => {
  const s = await stage('say x');
  await collect(s.query('go', { persistSession: false }));
  process.env.CLAUDE_CONFIG_DIR = s.home;
  assert.deepEqual(await listSessions({ dir: s.cwd }), []);
});
