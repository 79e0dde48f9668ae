import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { collect, of, result, stage } from './stage.mjs';

const launch = `use Agent ${JSON.stringify({ description: 'make it', prompt: 'Make the file.', subagent_type: 'maker' })}`;
const shell = `use Bash ${JSON.stringify({ command: 'echo made > made.txt', description: 'test' })}`;
const agents = { maker: { description: 'makes files', prompt: 'You make files.', tools: ['Bash'] } };
const script = (then) => `when no-system "You make files."\n${launch}\n---\nwhen system "You make files."\n${shell}\n---\nwhen system "You make files."\n${then}\n---\nwhen no-system "You make files."\nsay Done.`;

test('a sub-agent of the host', async (t) => {
  await t.test('is seen as part of the call, and its questions name it', async () => {
    const s = await stage(script('say It is made.'));
    const asked = [];
    const messages = await collect(s.query('go', {
      agents,
      canUseTool: async (name, input, context) => {
        asked.push({ name, context });
        return { behavior: 'allow', updatedInput: input };
      },
    }));
    assert.equal(result(messages).result, 'Done.');
    assert.ok(existsSync(join(s.cwd, 'made.txt')));

    const own = messages.filter((m) => m.parent_tool_use_id);
    assert.deepEqual([...new Set(own.map((m) => m.parent_tool_use_id))], ['toolu_1_1']);
    assert.ok(own.every((m) => m.subagent_type === 'maker' && m.task_description === 'make it'));
    const blocks = of(own, 'assistant').flatMap((m) => m.message.content);
    assert.deepEqual(blocks.map((b) => b.type), ['tool_use']); // what it says is not asked for
    assert.equal(of(own, 'user').flatMap((m) => m.message.content).filter((b) => b.type === 'tool_result').length, 1);
    assert.ok(of(messages, 'assistant').some((m) => m.parent_tool_use_id === null && m.message.content[0].text === 'Done.'));

    const shellAsked = asked.filter((a) => a.name === 'Bash');
    assert.equal(shellAsked.length, 1);
    assert.equal(shellAsked[0].context.agentID, own[0].agent_id);
    assert.ok(asked.filter((a) => a.name !== 'Bash').every((a) => a.context.agentID === undefined));
  });
  await t.test('is told what was denied', async () => {
    const s = await stage(script('say I was not allowed to.'));
    const messages = await collect(s.query('go', { agents, canUseTool: async (name, input) => (name === 'Bash' ? { behavior: 'deny', message: 'Not this one.' } : { behavior: 'allow', updatedInput: input }) }));
    assert.ok(!existsSync(join(s.cwd, 'made.txt')));
    const denied = of(messages, 'system', 'permission_denied').find((m) => m.tool_name === 'Bash');
    assert.ok(denied?.agent_id);
  });
});
