// The official client library of the Agent Client Protocol drives the program.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import * as acp from '@agentclientprotocol/sdk';

const { ADZE_BIN, STAGES, PATH } = process.env;

// editor starts adze acp with a scripted model, and runs op with the library's context.
async function editor(script, choose, op) {
  const root = mkdtempSync(join(STAGES, 'editor-'));
  const cwd = join(root, 'work');
  mkdirSync(cwd);
  writeFileSync(join(root, 'model.replay'), script);
  const child = spawn(ADZE_BIN, ['acp', '--model', 'replay:' + join(root, 'model.replay')], {
    cwd: root,
    env: { PATH, HOME: root, ADZE_HOME: join(root, 'state'), ADZE_NO_FSYNC: '1' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = new Promise((resolve) => child.on('exit', resolve));
  const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  const asked = [];
  const client = acp.client({ name: 'editor' }).onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
    asked.push(params);
    return { outcome: choose(params.options) };
  });
  await client.connectWith(stream, async (ctx) => {
    const { protocolVersion } = await ctx.request(acp.methods.agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientCapabilities: { session: { notices: {}, compaction: {}, configOptions: { boolean: {} } } },
    });
    assert.equal(protocolVersion, 1);
    await op(ctx, cwd, asked);
  });
  child.stdin.end();
  assert.equal(await exited, 0);
}

const pick = (kind) => (options) => ({ outcome: 'selected', optionId: options.find((o) => o.kind === kind).optionId });

// turn sends a prompt and returns its updates and how it ended.
async function turn(session, text) {
  const answer = session.prompt(text);
  const updates = [];
  for (;;) {
    const message = await session.nextUpdate();
    if (message.kind === 'stop') return { updates, stopReason: (await answer).stopReason };
    updates.push(message.notification.update);
  }
}

const said = (updates) => updates.filter((u) => u.sessionUpdate === 'agent_message_chunk').map((u) => u.content.text).join('');

const write = 'use Write {"file_path":"made.txt","content":"made\\n"}';

test('a turn with a permission', () =>
  editor(`think Hm.\nsay I make it.\n${write}\n---\nsay Done.`, pick('allow_once'), (ctx, cwd, asked) =>
    ctx.buildSession(cwd).withSession(async (session) => {
      const { updates, stopReason } = await turn(session, 'Make it');
      assert.equal(stopReason, 'end_turn');
      assert.equal(said(updates), 'I make it.Done.');
      assert.ok(updates.some((u) => u.sessionUpdate === 'tool_call' && u.kind === 'edit'));
      assert.ok(updates.some((u) => u.sessionUpdate === 'tool_call_update' && u.status === 'completed' && u.content[0].type === 'diff'));
      assert.equal(asked.length, 1);
      assert.ok(existsSync(join(cwd, 'made.txt')));
    })));

test('a rejected call', () =>
  editor(`${write}\n---\nforever\nsay Then not.`, pick('reject_once'), (ctx, cwd) =>
    ctx.buildSession(cwd).withSession(async (session) => {
      assert.equal((await turn(session, 'Make it')).stopReason, 'end_turn');
      assert.ok(!existsSync(join(cwd, 'made.txt')));
    })));

test('options, commands and a second session', () =>
  editor('forever\nsay Hello.', pick('allow_once'), (ctx, cwd) =>
    ctx.buildSession(cwd).withSession(async (session) => {
      const id = session.sessionId;
      const { configOptions, modes } = session.newSessionResponse;
      assert.ok(modes.availableModes.some((m) => m.id === 'plan'));
      assert.deepEqual(configOptions.map((o) => o.id).filter((o) => o !== 'effort'), ['mode', 'model', 'thinking']);
      const set = (configId, value, type) => ctx.request(acp.methods.agent.session.setConfigOption, { sessionId: id, configId, value, type });
      const changed = await set('mode', 'plan');
      assert.equal(changed.configOptions[0].currentValue, 'plan');
      assert.equal((await set('thinking', true, 'boolean')).configOptions.at(-1).currentValue, true);
      await ctx.request(acp.methods.agent.session.setMode, { sessionId: id, modeId: 'default' });
      const { updates } = await turn(session, '/status');
      assert.ok(updates.some((u) => u.sessionUpdate === 'available_commands_update' && u.availableCommands.some((c) => c.name === 'status')));
      assert.ok(updates.some((u) => u.sessionUpdate === 'current_mode_update' && u.currentModeId === 'plan'));
      assert.match(said(updates), /replay/);
      await turn(session, 'Hello');
      const { sessions } = await ctx.request(acp.methods.agent.session.list, {});
      assert.deepEqual(sessions.map((s) => s.sessionId), [id]);
      await ctx.request(acp.methods.agent.session.close, { sessionId: id });
      await ctx.request(acp.methods.agent.session.load, { sessionId: id, cwd, mcpServers: [] });
      await ctx.request(acp.methods.agent.session.delete, { sessionId: id });
    })));

test('a cancelled turn', () =>
  editor('use Bash {"command":"sleep 600","description":"wait"}', pick('allow_once'), (ctx, cwd) =>
    ctx.buildSession(cwd).withSession(async (session) => {
      const answer = session.prompt('Wait');
      for (;;) {
        const message = await session.nextUpdate();
        if (message.kind === 'stop') break;
        const u = message.notification.update;
        if (u.sessionUpdate === 'tool_call_update' && u.status === 'in_progress') await ctx.notify(acp.methods.agent.session.cancel, { sessionId: session.sessionId });
      }
      assert.equal((await answer).stopReason, 'cancelled');
    })));
