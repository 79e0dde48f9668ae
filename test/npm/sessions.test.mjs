import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getSessionMessages, listSessions } from '@anthropic-ai/claude-agent-sdk';
import { attempt, collect, of, result, stage } from './stage.mjs';

test('resume', async () => {
  const s = await stage('say First.\n---\nexpect text "one"\nexpect text "First."\nexpect messages 3\nsay Second.');
  const first = result(await collect(s.query('one')));
  const second = result(await collect(s.query('two', { resume: first.session_id })));
  assert.equal(second.session_id, first.session_id);
  assert.equal(second.result, 'Second.');
  await s.played();
});

test('continue', async () => {
  const s = await stage('say First.\n---\nexpect messages 3\nsay Second.');
  const first = result(await collect(s.query('one')));
  const second = result(await collect(s.query('two', { continue: true })));
  assert.equal(second.session_id, first.session_id);
  await s.played();
});

test('fork', async () => {
  const s = await stage('say First.\n---\nexpect messages 3\nsay Second.\n---\nexpect messages 3\nsay Third.');
  const first = result(await collect(s.query('one')));
  const fork = result(await collect(s.query('two', { resume: first.session_id, forkSession: true })));
  assert.notEqual(fork.session_id, first.session_id);
  const again = result(await collect(s.query('three', { resume: first.session_id })));
  assert.equal(again.session_id, first.session_id);
  await s.played();
});

test('an unknown session', async () => {
  const s = await stage('forever\nsay x');
  const { error } = await attempt(s.query('go', { resume: '00000000-0000-4000-8000-000000000000' }));
  assert.match(error.message, /exited with code 2/);
  assert.match(s.stderr.join(''), /00000000-0000-4000-8000-000000000000/);
  assert.equal((await s.played()).length, 0);
});

test('session functions read what adze writes', async () => {
  const s = await stage('think Hm.\nuse Bash {"command":"echo hello","description":"x"}\n---\nsay Done.');
  const r = result(await collect(s.query('say hello', { allowedTools: ['Bash'] })));
  process.env.CLAUDE_CONFIG_DIR = s.home;
  const sessions = await listSessions({ dir: s.cwd });
  assert.deepEqual(sessions.map((x) => x.sessionId), [r.session_id]);
  assert.equal(sessions[0].firstPrompt, 'say hello');
  const messages = await getSessionMessages(r.session_id, { dir: s.cwd });
  assert.deepEqual(messages.map((m) => m.type), ['user', 'assistant', 'user', 'assistant']);
  assert.equal(of(messages, 'assistant').at(-1).message.content.at(-1).text, 'Done.');
});
