// OpenAI's own client, as a judge of the servers that speak its two dialects: what it makes of them is what it makes of the
// real ones.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import { play } from './play.mjs';

async function open(script) {
  const { url, played } = await play(script);
  return { client: new OpenAI({ apiKey: 'key-of-the-test', baseURL: url + '/v1', maxRetries: 0 }), played };
}

const read = { type: 'object', properties: { path: { type: 'string' } } };
const input = 'hello';

test('responses: text', async () => {
  const s = await open('dialect responses\nexpect text "hello"\nexpect system "Be brief."\nusage input=10 output=5 cache_read=3\nsay Good day.');
  const r = await s.client.responses.create({ model: 'm', input, instructions: 'Be brief.', store: false });
  assert.equal(r.output_text, 'Good day.');
  assert.equal(r.status, 'completed');
  assert.deepEqual([r.usage.input_tokens, r.usage.input_tokens_details.cached_tokens, r.usage.output_tokens, r.usage.total_tokens], [13, 3, 5, 18]);
  await s.played();
});

test('responses: a stream of reasoning, text and parallel calls', async () => {
  const s = await open(
    'dialect responses\nfragments 3\nthink Let me see.\nsay Both of them.\nuse Read {"path":"a"}\nuse Read {"path":"b"}\n---\n' +
      'expect result toolu_1_1 "one"\nexpect result toolu_1_2 "two"\nexpect json input.1.encrypted_content "sig_1_0"\nsay Done.',
  );
  const request = {
    model: 'm', store: false, input: [{ role: 'user', content: input }], include: ['reasoning.encrypted_content'], reasoning: { summary: 'auto' },
    tools: [{ type: 'function', name: 'Read', parameters: read, strict: false }],
  };
  const stream = s.client.responses.stream(request);
  const seen = new Set();
  let said = '';
  let typed = '';
  let last = -1;
  for await (const e of stream) {
    seen.add(e.type);
    assert.ok(e.sequence_number > last, `${e.type} has number ${e.sequence_number} after ${last}`);
    last = e.sequence_number;
    if (e.type === 'response.output_text.delta') said += e.delta;
    if (e.type === 'response.function_call_arguments.delta') typed += e.delta;
  }
  for (const type of ['created', 'output_item.added', 'content_part.added', 'output_text.done', 'reasoning_summary_text.delta', 'function_call_arguments.done', 'output_item.done', 'completed']) {
    assert.ok(seen.has('response.' + type), type);
  }
  const r = await stream.finalResponse();
  assert.equal(said, 'Both of them.');
  assert.equal(r.output_text, said);
  assert.equal(typed, '{"path":"a"}{"path":"b"}');
  assert.deepEqual(r.output.map((i) => i.type), ['reasoning', 'message', 'function_call', 'function_call']);
  assert.equal(r.output[0].summary[0].text, 'Let me see.');
  const calls = r.output.filter((i) => i.type === 'function_call');
  const second = await s.client.responses.create({
    ...request,
    input: [...request.input, ...r.output, ...calls.map((c, i) => ({ type: 'function_call_output', call_id: c.call_id, output: ['one', 'two'][i] }))],
  });
  assert.equal(second.output_text, 'Done.');
  await s.played();
});

test('responses: limits and errors', async () => {
  const s = await open(
    'dialect responses\nsay Half\nstop max_tokens\n---\nerror rate_limit retry-after=2\n---\nerror auth\n---\nerror model_not_found\n---\nsay half\nerror-event overloaded Too busy',
  );
  const ask = (more) => s.client.responses.create({ model: 'm', input, store: false, ...more });
  const r = await ask();
  assert.deepEqual([r.status, r.incomplete_details.reason], ['incomplete', 'max_output_tokens']);
  await assert.rejects(ask(), (e) => e instanceof OpenAI.RateLimitError && e.code === 'rate_limit_exceeded' && e.headers.get('retry-after') === '2');
  await assert.rejects(ask(), OpenAI.AuthenticationError);
  await assert.rejects(ask(), (e) => e instanceof OpenAI.NotFoundError && e.code === 'model_not_found');
  let failed;
  for await (const e of await ask({ stream: true })) if (e.type === 'response.failed') failed = e.response.error;
  assert.equal(failed.code, 'server_is_overloaded');
  assert.match(failed.message, /Too busy/);
  await s.played();
});

test('responses: what the service refuses is refused', async () => {
  const s = await open('dialect responses\nforever\nsay never');
  for (const [wrong, words] of [
    [{ max_output_tokens: 1 }, /max_output_tokens/],
    [{ input: [{ role: 'user', content: input }, { type: 'function_call_output', call_id: 'x', output: 'y' }] }, /No tool call found/],
    [{ tools: [{ type: 'function', name: 'Read', parameters: read, strict: true }] }, /additionalProperties/],
    [{ nonsense: 1 }, /Unknown parameter/],
  ]) {
    await assert.rejects(s.client.responses.create({ model: 'm', input, store: false, ...wrong }), (e) => e instanceof OpenAI.BadRequestError && words.test(e.message));
  }
});

test('chat: text', async () => {
  const s = await open('dialect chat\nexpect text "hello"\nexpect system "Be brief."\nusage input=10 output=5\nsay Good day.');
  const r = await s.client.chat.completions.create({ model: 'm', messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: input }] });
  assert.equal(r.choices[0].message.content, 'Good day.');
  assert.equal(r.choices[0].finish_reason, 'stop');
  assert.deepEqual([r.usage.prompt_tokens, r.usage.completion_tokens], [10, 5]);
  await s.played();
});

test('chat: a stream of text and parallel calls', async () => {
  const s = await open(
    'dialect chat\nfragments 3\nsay Both of them.\nuse Read {"path":"a"}\nuse Read {"path":"b"}\n---\nexpect result toolu_1_1 "one"\nexpect result toolu_1_2 "two"\nsay Done.',
  );
  const request = {
    model: 'm', messages: [{ role: 'user', content: input }], stream_options: { include_usage: true },
    tools: [{ type: 'function', function: { name: 'Read', parameters: read } }],
  };
  const stream = s.client.chat.completions.stream(request);
  let said = '';
  stream.on('content', (delta) => (said += delta));
  const r = await stream.finalChatCompletion();
  const [choice] = r.choices;
  assert.equal(said, 'Both of them.');
  assert.equal(choice.message.content, said);
  assert.equal(choice.finish_reason, 'tool_calls');
  assert.deepEqual(choice.message.tool_calls.map((c) => c.function.arguments), ['{"path":"a"}', '{"path":"b"}']);
  assert.ok(r.usage.total_tokens > 0);
  const { role, content, tool_calls } = choice.message;
  const second = await s.client.chat.completions.create({
    ...request,
    stream_options: undefined,
    messages: [
      ...request.messages,
      { role, content, tool_calls: tool_calls.map(({ id, type, function: { name, arguments: args } }) => ({ id, type, function: { name, arguments: args } })) },
      ...tool_calls.map((c, i) => ({ role: 'tool', tool_call_id: c.id, content: ['one', 'two'][i] })),
    ],
  });
  assert.equal(second.choices[0].message.content, 'Done.');
  await s.played();
});

test('chat: limits and errors', async () => {
  const s = await open('dialect chat\nsay Half\nstop max_tokens\n---\nerror rate_limit retry-after=2\n---\nerror auth\n---\nerror model_not_found\n---\nsay half\nerror-event overloaded Too busy');
  const ask = (more) => s.client.chat.completions.create({ model: 'm', messages: [{ role: 'user', content: input }], ...more });
  assert.equal((await ask()).choices[0].finish_reason, 'length');
  await assert.rejects(ask(), (e) => e instanceof OpenAI.RateLimitError && e.headers.get('retry-after') === '2');
  await assert.rejects(ask(), OpenAI.AuthenticationError);
  await assert.rejects(ask(), OpenAI.NotFoundError);
  await assert.rejects(async () => {
    for await (const _ of await ask({ stream: true }));
  }, /Too busy/);
  await s.played();
});
