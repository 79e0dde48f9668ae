import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { attempt, collect, inbox, of, result, stage } from './stage.mjs';

test('query', async () => {
  const s = await stage('expect text "hello"\nusage input=10 output=5\nthink Hm.\nsay Good day.');
  const messages = await collect(s.query('hello'));
  const [init] = of(messages, 'system', 'init');
  assert.match(init.claude_code_version, /adze/);
  assert.equal(init.cwd, s.cwd);
  assert.ok(init.tools.includes('Read') && !init.tools.includes('StructuredOutput'));
  assert.equal(init.apiKeySource, 'ANTHROPIC_API_KEY');
  const blocks = of(messages, 'assistant').map((m) => m.message.content[0].type);
  assert.deepEqual(blocks, ['thinking', 'text']);
  assert.equal(new Set(of(messages, 'assistant').map((m) => m.message.id)).size, 1);
  const r = result(messages);
  assert.equal(r.subtype, 'success');
  assert.equal(r.result, 'Good day.');
  assert.equal(r.session_id, init.session_id);
  assert.equal(r.usage.input_tokens, 10);
  assert.equal(r.usage.output_tokens, 5);
  assert.ok(r.total_cost_usd > 0);
  assert.equal(Object.values(r.modelUsage)[0].outputTokens, 5);
  await s.played();
});

test('a tool runs', async () => {
  const s = await stage('use Bash {"command":"echo from-the-shell","description":"say it"}\n---\nexpect result toolu_1_1 "from-the-shell"\nsay Done.');
  const messages = await collect(s.query('go', { allowedTools: ['Bash'] }));
  const [answer] = of(messages, 'user');
  assert.equal(answer.message.content[0].tool_use_id, 'toolu_1_1');
  assert.match(answer.tool_use_result.stdout, /from-the-shell/);
  assert.equal(result(messages).result, 'Done.');
  await s.played();
});

test('streaming input', async () => {
  const s = await stage('expect messages 1\nusage input=10 output=5\nsay First.\n---\nexpect messages 3\nusage input=20 output=7\nsay Second.');
  const input = inbox('one');
  const results = [];
  for await (const m of s.query(input)) {
    if (m.type !== 'result') continue;
    results.push(m);
    if (results.length === 1) input.say('two');
    else input.close();
  }
  assert.deepEqual(results.map((r) => r.result), ['First.', 'Second.']);
  assert.deepEqual(results.map((r) => r.usage.output_tokens), [5, 7]);
  assert.equal(results[0].session_id, results[1].session_id);
  await s.played();
});

test('a prompt keeps its uuid', async () => {
  const s = await stage('say Yes.');
  const uuid = randomUUID();
  const input = inbox();
  input.say('one', { uuid });
  input.close();
  const messages = await collect(s.query(input, { extraArgs: { 'replay-user-messages': null } }));
  assert.equal(messages.find((m) => m.isReplay)?.uuid, uuid);
});

test('partial messages', async () => {
  const s = await stage('fragments 4\nsay one two three four');
  const messages = await collect(s.query('go', { includePartialMessages: true }));
  const events = of(messages, 'stream_event').map((m) => m.event);
  assert.equal(events[0].type, 'message_start');
  assert.equal(events.at(-1).type, 'message_stop');
  const text = events.filter((e) => e.delta?.type === 'text_delta').map((e) => e.delta.text);
  assert.equal(text.length, 4);
  assert.equal(text.join(''), 'one two three four');
});

test('structured output', async () => {
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false };
  const s = await stage([
    'expect tool StructuredOutput',
    'use StructuredOutput {"n":"seven"}',
    '---',
    'expect error-result toolu_1_1 "n"',
    'use StructuredOutput {"n":7}',
  ].join('\n'));
  const r = result(await collect(s.query('how many?', { outputFormat: { type: 'json_schema', schema } })));
  assert.equal(r.subtype, 'success');
  assert.deepEqual(r.structured_output, { n: 7 });
  await s.played();
});

test('structured output that never fits', async () => {
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  const s = await stage('repeat 5\nuse StructuredOutput {}');
  const { messages } = await attempt(s.query('how many?', { outputFormat: { type: 'json_schema', schema } }));
  assert.equal(result(messages).subtype, 'error_max_structured_output_retries');
  await s.played();
});

test('limits', async (t) => {
  await t.test('maxTurns', async () => {
    const s = await stage('forever\nuse Bash {"command":"true","description":"x"}');
    const { messages } = await attempt(s.query('go', { maxTurns: 2, allowedTools: ['Bash'] }));
    const r = result(messages);
    assert.equal(r.subtype, 'error_max_turns');
    assert.equal(r.is_error, true);
    assert.equal((await s.played()).length, 2);
  });
  await t.test('maxBudgetUsd', async () => {
    const s = await stage('forever\nusage input=0 output=1000000\nuse Bash {"command":"true","description":"x"}');
    const { messages } = await attempt(s.query('go', { maxBudgetUsd: 0.01, allowedTools: ['Bash'] }));
    assert.equal(result(messages).subtype, 'error_max_budget_usd');
    assert.equal((await s.played()).length, 1);
  });
});

test('API errors', async (t) => {
  await t.test('is told as the result', async () => {
    const s = await stage('error auth');
    const { messages } = await attempt(s.query('go'));
    const r = result(messages);
    assert.equal(r.subtype, 'success');
    assert.equal(r.is_error, true);
    assert.equal(r.terminal_reason, 'api_error');
    assert.equal(of(messages, 'assistant').at(-1).error, 'authentication_failed');
  });
  await t.test('waits are told', async () => {
    const s = await stage('error overloaded retry-after=0\n---\nsay Here.');
    const messages = await collect(s.query('go'));
    assert.equal(of(messages, 'system', 'api_retry')[0].error, 'overloaded');
    assert.equal(result(messages).result, 'Here.');
  });
});

test('interrupt', async () => {
  const s = await stage('when no-text "again"\nsay Half\nhang\n---\nsay Back.');
  const input = inbox('go');
  const q = s.query(input, { includePartialMessages: true });
  const results = [];
  for await (const m of q) {
    if (m.type === 'stream_event' && m.event.type === 'content_block_delta' && results.length === 0) await q.interrupt();
    if (m.type !== 'result') continue;
    results.push(m);
    if (results.length === 1) input.say('again');
    else input.close();
  }
  assert.deepEqual(results.map((r) => r.subtype), ['error_during_execution', 'success']);
});

test('abort', async () => {
  const s = await stage('say Half\nhang');
  const abortController = new AbortController();
  let error;
  const began = Date.now();
  try {
    for await (const m of s.query('go', { abortController, includePartialMessages: true })) {
      if (m.type === 'stream_event' && m.event.type === 'content_block_delta') abortController.abort();
    }
  } catch (e) {
    error = e;
  }
  assert.ok(error, 'the query ended as if nothing had happened');
  assert.ok(Date.now() - began < 10_000);
});

test('an unknown option', async () => {
  const s = await stage('forever\nsay x');
  const { messages, error } = await attempt(s.query('go', { extraArgs: { 'no-such-flag': null } }));
  assert.equal(messages.length, 0);
  assert.match(error.message, /exited with code 2/);
  assert.match(s.stderr.join(''), /no-such-flag/);
  assert.equal((await s.played()).length, 0);
});
