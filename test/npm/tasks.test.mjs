// The task list, with the inputs and results that the types of the SDK name.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collect, of, result, stage } from './stage.mjs';

// results returns what the calls of a turn returned, in order.
const results = (messages) => of(messages, 'user').flatMap((m) => (m.tool_use_result === undefined ? [] : [m.tool_use_result]));

test('tasks', async () => {
  const s = await stage([
    'expect tool TaskCreate',
    'use TaskCreate {"subject":"Read","description":"all of it","activeForm":"Reading","metadata":{"by":"sdk"}}',
    '---',
    'use TaskCreate {"subject":"Write","description":"some"}',
    '---',
    'use TaskUpdate {"taskId":"2","addBlockedBy":["1"],"owner":"ada"}',
    '---',
    'use TaskUpdate {"taskId":"1","status":"completed"}',
    '---',
    'use TaskGet {"taskId":"2"}',
    '---',
    'use TaskList {}',
    '---',
    'say Done.',
  ].join('\n'));
  const messages = await collect(s.query('go'));
  assert.deepEqual(results(messages), [
    { task: { id: '1', subject: 'Read', description: 'all of it' } },
    { task: { id: '2', subject: 'Write', description: 'some' } },
    { success: true, taskId: '2', updatedFields: ['owner', 'blockedBy'] },
    { success: true, taskId: '1', updatedFields: ['status'], statusChange: { from: 'pending', to: 'completed' } },
    { task: { id: '2', subject: 'Write', description: 'some', status: 'pending', blocks: [], blockedBy: [] } },
    { tasks: [
      { id: '1', subject: 'Read', status: 'completed', blockedBy: [] },
      { id: '2', subject: 'Write', status: 'pending', owner: 'ada', blockedBy: [] },
    ] },
  ]);
  assert.equal(result(messages).result, 'Done.');
  await s.played();
});

test('the older list', async () => {
  const todos = [
    { content: 'Read', status: 'completed', activeForm: 'Reading' },
    { content: 'Write', status: 'in_progress', activeForm: 'Writing' },
  ];
  const s = await stage(`expect tool TodoWrite\nexpect no-tool TaskCreate\nuse TodoWrite ${JSON.stringify({ todos })}\n---\nsay Done.`);
  const messages = await collect(s.query('go', { extraArgs: { settings: '{"tasks":{"shared":false}}' } }));
  const use = of(messages, 'assistant').flatMap((m) => m.message.content).find((block) => block.type === 'tool_use');
  assert.deepEqual(use.input.todos, todos);
  assert.deepEqual(results(messages), [{ oldTodos: [], newTodos: todos }]);
  await s.played();
});
