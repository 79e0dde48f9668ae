// Sub-agents as tasks: what the current SDK has for them, and its predecessor of a year ago did not.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { collect, inbox, of, result, stage } from './stage.mjs';

const agents = {
  maker: { description: 'makes files', prompt: 'You make files.', tools: ['Bash'] },
  lead: { description: 'leads others', prompt: 'You lead.', tools: ['Agent', 'Bash'], model: 'sonnet' },
};
const use = (tool, input) => `use ${tool} ${JSON.stringify(input)}`;
const launch = (type, more) => use('Agent', { description: `a ${type}`, prompt: `Work as ${type}.`, subagent_type: type, ...more });
const shell = (command, more) => use('Bash', { command, description: 'a command', ...more });
const main = 'when no-system "You make files."\nwhen no-system "You lead."';
const as = (line, ...lines) => [line, ...lines].join('\n');
const script = (...parts) => parts.join('\n---\n');
const maker = 'when system "You make files."';
const lead = 'when system "You lead."';
const allowAll = { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true, env: undefined };

// open begins a query in which everything is allowed.
const open = (s, prompt, more = {}) => s.query(prompt, { ...allowAll, env: { ...s.env, IS_SANDBOX: '1' }, agents, ...more });

const tasks = (messages) => messages.filter((m) => m.type === 'system' && /^(task_|background_tasks_changed)/.test(m.subtype));

test('a sub-agent is a task from its beginning to its end', async () => {
  const s = await stage(script(
    as(main, launch('maker')), as(maker, shell('echo made > made.txt')), as(maker, 'say It is made.'), as(main, 'say Done.'),
  ));
  const messages = await collect(open(s, 'go'));
  assert.equal(result(messages).result, 'Done.');
  assert.ok(existsSync(join(s.cwd, 'made.txt')));
  const [started, progress, updated, ended, ...rest] = tasks(messages);
  assert.deepEqual(rest, []);

  assert.equal(started.subtype, 'task_started');
  assert.match(started.task_id, /^a[0-9a-z]{8}$/);
  const id = started.task_id;
  assert.deepEqual(
    [started.tool_use_id, started.description, started.subagent_type, started.is_backgrounded, started.spawn_depth, started.task_type, started.prompt, started.parent_task_id],
    ['toolu_1_1', 'a maker', 'maker', false, 1, 'local_agent', 'Work as maker.', undefined],
  );
  assert.equal(progress.subtype, 'task_progress');
  assert.deepEqual([progress.task_id, progress.tool_use_id, progress.description, progress.subagent_type, progress.last_tool_name], [id, 'toolu_1_1', 'a maker', 'maker', 'Bash']);
  assert.equal(progress.usage.tool_uses, 1);
  assert.ok(progress.usage.total_tokens > 0 && progress.usage.duration_ms >= 0);
  assert.equal(updated.subtype, 'task_updated');
  assert.equal(updated.patch.status, 'completed');
  assert.ok(updated.patch.end_time > 1e12);
  assert.equal(ended.subtype, 'task_notification');
  assert.deepEqual([ended.task_id, ended.tool_use_id, ended.status, ended.usage.tool_uses], [id, 'toolu_1_1', 'completed', 1]);
  assert.match(ended.summary, /a maker/);
  assert.equal(typeof ended.output_file, 'string');

  // Its messages are those of the task, between the first news and the last.
  const own = messages.filter((m) => m.parent_tool_use_id === 'toolu_1_1');
  assert.ok(own.length > 0 && own.every((m) => m.agent_id === id));
  assert.ok(own.every((m) => messages.indexOf(m) > messages.indexOf(started) && messages.indexOf(m) < messages.indexOf(ended)));
});

test('what a sub-agent says is forwarded if the host wants it', async () => {
  const s = await stage(script(as(main, launch('maker')), as(maker, 'say It is made.'), as(main, 'say Done.')));
  const messages = await collect(open(s, 'go', { forwardSubagentText: true }));
  const said = messages.filter((m) => m.parent_tool_use_id).map((m) => m.message.content.filter((b) => b.type === 'text').map((b) => b.text).join(''));
  assert.deepEqual(said.filter((text) => text !== ''), ['Work as maker.', 'It is made.']);
});

test('agents of agents name theirs', async () => {
  const s = await stage(script(
    as(main, launch('lead')), as(lead, launch('maker')), as(maker, shell('echo made > made.txt')), as(maker, 'say Made.'), as(lead, 'say Led.'), as(main, 'say Done.'),
  ));
  const messages = await collect(open(s, 'go'));
  const [first, second] = of(messages, 'system', 'task_started');
  assert.deepEqual([first.spawn_depth, first.parent_task_id, second.spawn_depth, second.parent_task_id], [1, undefined, 2, first.task_id]);
  assert.equal(second.tool_use_id, 'toolu_2_1');
  // The call that launched the second is one of the first, and its own calls are part of it.
  const call = of(messages, 'assistant').find((m) => m.message.content[0].id === 'toolu_2_1');
  assert.deepEqual([call.parent_tool_use_id, call.agent_id], ['toolu_1_1', first.task_id]);
  const nested = of(messages, 'assistant').find((m) => m.message.content[0].name === 'Bash');
  assert.deepEqual([nested.parent_tool_use_id, nested.agent_id, nested.subagent_type], ['toolu_2_1', second.task_id, 'maker']);
  assert.deepEqual(of(messages, 'system', 'task_notification').map((m) => m.task_id), [second.task_id, first.task_id]);
  await s.played();
});

test('tasks in the background', async (t) => {
  const background = { run_in_background: true };
  await t.test('are listed while they run, and end after the turn', async () => {
    const s = await stage(script(as(main, launch('maker', background)), as(maker, shell('sleep 0.5; echo made > made.txt')), as(maker, 'say Made.'), as(main, 'forever', 'say Done.')));
    const prompts = inbox('go');
    const messages = [];
    for await (const m of open(s, prompts)) {
      messages.push(m);
      if (m.type === 'result' && of(messages, 'system', 'task_notification').length > 0) prompts.close();
    }
    assert.equal(of(messages, 'system', 'task_started')[0].is_backgrounded, true);
    const id = of(messages, 'system', 'task_started')[0].task_id;
    const lists = of(messages, 'system', 'background_tasks_changed').map((m) => m.tasks);
    assert.deepEqual(lists, [[{ task_id: id, task_type: 'local_agent', subagent_type: 'maker', description: 'a maker' }], []]);
    const [ended] = of(messages, 'system', 'task_notification');
    assert.equal(ended.status, 'completed');
    assert.match(readFileSync(ended.output_file, 'utf8'), /Made\./);
  });
  await t.test('are stopped', async () => {
    const s = await stage(script(as(main, launch('maker', background)), as(maker, shell('sleep 60')), as(main, 'forever', 'say Done.')));
    const prompts = inbox('go');
    const messages = [];
    const q = open(s, prompts);
    let stopped;
    for await (const m of q) {
      messages.push(m);
      if (m.subtype === 'task_progress') stopped = q.stopTask(m.task_id);
      if (m.type === 'result' && of(messages, 'system', 'task_notification').length > 0) prompts.close();
    }
    await stopped;
    const [ended, ...more] = of(messages, 'system', 'task_notification');
    assert.equal(ended.status, 'stopped');
    assert.deepEqual(more, []);
    await assert.rejects(async () => q.stopTask('a00000000'));
  });
  await t.test('can be moved there', async () => {
    const s = await stage(script(as(main, launch('maker')), as(maker, shell('until [ -e moved ]; do sleep 0.05; done; echo made > made.txt')), as(maker, 'say Made.'), as(main, 'forever', 'say Done.')));
    const prompts = inbox('go');
    const messages = [];
    const q = open(s, prompts);
    let moved;
    let missed;
    for await (const m of q) {
      messages.push(m);
      if (m.subtype === 'task_progress') {
        missed ??= q.backgroundTasks('toolu_none');
        moved ??= q.backgroundTasks('toolu_1_1').finally(() => writeFileSync(join(s.cwd, 'moved'), ''));
      }
      if (m.type === 'result' && of(messages, 'system', 'task_notification').length > 0) prompts.close();
    }
    assert.deepEqual([await missed, await moved], [false, true]);
    const patches = of(messages, 'system', 'task_updated').map((m) => m.patch);
    assert.equal(patches[0].is_backgrounded, true);
    assert.equal(patches.at(-1).status, 'completed');
    assert.ok(existsSync(join(s.cwd, 'made.txt')));
  });
  await t.test('may be commands', async () => {
    const s = await stage(script(as(main, shell('sleep 0.3; echo out', background)), as(main, 'forever', 'say Done.')));
    const prompts = inbox('go');
    const messages = [];
    for await (const m of open(s, prompts)) {
      messages.push(m);
      if (m.type === 'result' && of(messages, 'system', 'task_notification').length > 0) prompts.close();
    }
    const [started] = of(messages, 'system', 'task_started');
    assert.deepEqual([started.task_type, started.is_backgrounded, started.tool_use_id, started.subagent_type], ['local_bash', true, 'toolu_1_1', undefined]);
    assert.equal(of(messages, 'system', 'task_notification')[0].status, 'completed');
  });
});

test('the kinds of agents there are', async () => {
  const s = await stage('say Hi.');
  const prompts = inbox('go');
  const q = open(s, prompts);
  const known = await q.supportedAgents();
  assert.deepEqual(known.find((a) => a.name === 'maker'), { name: 'maker', description: 'makes files' });
  assert.equal(known.find((a) => a.name === 'lead').model, 'sonnet');
  assert.ok(known.some((a) => a.name === 'general-purpose'));
  prompts.close();
  const messages = await collect(q);
  assert.ok(of(messages, 'system', 'init')[0].agents.includes('maker'));
  assert.deepEqual(s.stderr.filter((line) => line.includes('not known')), []);
});

test('hooks of the host hear of sub-agents', async () => {
  const s = await stage(script(
    as(main, launch('maker')), as(maker, 'expect text "Mind the gap."', 'say Half made.'), as(maker, 'expect text "Make the other half."', 'say All made.'), as(main, 'say Done.'),
  ));
  const heard = [];
  let stops = 0;
  const messages = await collect(open(s, 'go', {
    hooks: {
      SubagentStart: [{ matcher: 'maker', hooks: [async (input) => {
        heard.push(input);
        return { hookSpecificOutput: { hookEventName: 'SubagentStart', additionalContext: 'Mind the gap.' } };
      }] }, { matcher: 'lead', hooks: [async () => assert.fail('it is not launched')] }],
      SubagentStop: [{ hooks: [async (input) => {
        heard.push(input);
        stops += 1;
        return stops === 1 ? { decision: 'block', reason: 'Make the other half.' } : {};
      }] }],
    },
  }));
  assert.equal(result(messages).result, 'Done.');
  const id = of(messages, 'system', 'task_started')[0].task_id;
  assert.deepEqual(heard.map((h) => [h.hook_event_name, h.agent_id, h.agent_type]), [['SubagentStart', id, 'maker'], ['SubagentStop', id, 'maker'], ['SubagentStop', id, 'maker']]);
  assert.equal(heard[1].last_assistant_message, 'Half made.');
  assert.deepEqual(heard.slice(1).map((h) => h.stop_hook_active), [false, true]);
  assert.ok(heard[2].agent_transcript_path.includes(id));
  await s.played();
});

test('hooks of the host guard the calls of sub-agents, and of theirs', async () => {
  const s = await stage(script(
    as(main, launch('lead')), as(lead, launch('maker')), as(maker, shell('echo made > made.txt')), as(maker, 'expect error-result toolu_3_1 "Not here."', 'say Denied.'), as(lead, 'say Led.'), as(main, 'say Done.'),
  ));
  const guarded = [];
  const messages = await collect(open(s, 'go', {
    hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [async (input) => {
      guarded.push(input.agent_id);
      return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'Not here.' } };
    }] }] },
  }));
  assert.equal(result(messages).result, 'Done.');
  assert.ok(!existsSync(join(s.cwd, 'made.txt')));
  assert.deepEqual(guarded, [of(messages, 'system', 'task_started')[1].task_id]);
  await s.played();
});
