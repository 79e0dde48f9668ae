import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, FinishReason, FunctionCallingConfigMode, GoogleGenAI } from '@google/genai';
import { play } from './play.mjs';

const model = 'gemini-3.8-pro';
const read = { name: 'Read', description: 'Reads.', parametersJsonSchema: { type: 'object', properties: { path: { type: 'string' } } } };

async function open(script) {
  const s = await play('dialect gemini\n' + script);
  const ai = new GoogleGenAI({ apiKey: 'key-of-the-test', httpOptions: { baseUrl: s.url } });
  return { ...s, ai };
}

test('a streamed text', async () => {
  const s = await open('expect text "hello"\nexpect system "Be brief."\nusage input=10 cache_read=4 output=5\nping\nfragments 3\nsay Good day, "you".');
  let text = '';
  let last;
  for await (const chunk of await s.ai.models.generateContentStream({ model, contents: 'hello', config: { systemInstruction: 'Be brief.', maxOutputTokens: 99 } })) {
    text += chunk.text ?? '';
    last = chunk;
  }
  assert.equal(text, 'Good day, "you".');
  assert.equal(last.candidates[0].finishReason, FinishReason.STOP);
  assert.equal(last.modelVersion, model);
  assert.ok(last.responseId);
  assert.equal(last.usageMetadata.promptTokenCount, 14);
  assert.equal(last.usageMetadata.cachedContentTokenCount, 4);
  assert.equal(last.usageMetadata.candidatesTokenCount, 5);
  await s.played();
});

test('a whole answer', async () => {
  const s = await open('think Hm.\nsay Good day.\nuse Read {"path":"a"}');
  const answer = await s.ai.models.generateContent({
    model,
    contents: [{ role: 'user', parts: [{ text: 'look' }, { inlineData: { mimeType: 'image/png', data: 'cGljdHVyZQ==' } }] }],
    config: { tools: [{ functionDeclarations: [read] }], thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 } },
  });
  assert.equal(answer.text, 'Good day.');
  assert.equal(answer.functionCalls[0].name, 'Read');
  assert.deepEqual(answer.functionCalls[0].args, { path: 'a' });
  const parts = answer.candidates[0].content.parts;
  assert.equal(parts[0].thought, true);
  assert.ok(parts.find((p) => p.functionCall).thoughtSignature);
  await s.played();
});

test('tools in a chat, with signatures kept', async () => {
  const s = await open([
    'expect tool Read', 'think Hm.', 'use Read {"path":"a"}', 'use Read {"path":"b"}',
    '---',
    'expect result toolu_1_1 "content of a"', 'expect result toolu_1_2 "content of b"', 'say Both read.',
    '---',
    'expect messages 5', 'say Bye.',
  ].join('\n'));
  const chat = s.ai.chats.create({ model, config: { tools: [{ functionDeclarations: [read] }], thinkingConfig: { includeThoughts: true, thinkingLevel: 'low' } } });
  const asked = await chat.sendMessage({ message: 'read both' });
  const calls = asked.functionCalls;
  assert.deepEqual(calls.map((c) => c.args.path), ['a', 'b']);
  assert.equal(new Set(calls.map((c) => c.id)).size, 2);
  const answers = calls.map((c) => ({ functionResponse: { id: c.id, name: c.name, response: { output: 'content of ' + c.args.path } } }));
  let text = '';
  for await (const chunk of await chat.sendMessageStream({ message: answers })) text += chunk.text ?? '';
  assert.equal(text, 'Both read.');
  await chat.sendMessage({ message: 'bye' });
  const [, second] = await s.played();
  const call = second.contents[1].parts.find((p) => p.functionCall);
  assert.match(call.thoughtSignature, /^sig_1_0/);
});

test('a forced tool and a format', async () => {
  const s = await open('use Read {}\n---\nsay {"n":7}');
  const forced = await s.ai.models.generateContent({
    model, contents: 'go',
    config: { tools: [{ functionDeclarations: [read] }], toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.ANY, allowedFunctionNames: ['Read'] } } },
  });
  assert.deepEqual(forced.functionCalls[0].args, {});
  const formatted = await s.ai.models.generateContent({
    model, contents: 'go', config: { responseMimeType: 'application/json', responseJsonSchema: { type: 'object', properties: { n: { type: 'integer' } } } },
  });
  assert.equal(JSON.parse(formatted.text).n, 7);
  await s.played();
});

test('the reasons for the end', async () => {
  const s = await open('say cut\nstop max_tokens\n---\nstop refusal');
  const ends = [];
  for (let i = 0; i < 2; i++) {
    for await (const chunk of await s.ai.models.generateContentStream({ model, contents: 'go' })) ends.push(chunk.candidates[0].finishReason);
  }
  assert.deepEqual(ends.filter(Boolean), [FinishReason.MAX_TOKENS, FinishReason.SAFETY]);
  await s.played();
});

test('errors', async () => {
  const s = await open('error rate_limit\n---\nerror model_not_found\n---\nerror auth\n---\nsay half\nerror-event overloaded No room');
  for (const status of [429, 404, 400]) {
    await assert.rejects(s.ai.models.generateContent({ model, contents: 'go' }), (e) => e instanceof ApiError && e.status === status && JSON.parse(e.message).error.code === status);
  }
  await assert.rejects(async () => {
    for await (const chunk of await s.ai.models.generateContentStream({ model, contents: 'go' })) assert.ok(chunk);
  }, /No room/);
  await s.played();
});

test('counting', async () => {
  const s = await open('say unused');
  const { totalTokens } = await s.ai.models.countTokens({ model, contents: 'how many tokens are these' });
  assert.ok(totalTokens > 0);
});

test('what the service refuses', async () => {
  const s = await open('say unused');
  await assert.rejects(s.ai.models.generateContent({ model, contents: [] }), /contents/);
  await assert.rejects(s.ai.models.generateContent({ model, contents: 'go', config: { tools: [{ functionDeclarations: [{ name: '1 bad' }] }] } }), /Invalid function name/);
});
