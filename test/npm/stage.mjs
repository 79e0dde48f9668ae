// A stage is a scripted model, a directory to work in and a state home, all of one test.
import assert from 'node:assert/strict';
import { mkdtempSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

const { ADZE_BIN, STUDIO, STAGES, PATH, AGENT_SDK } = process.env;
const { query } = await import(AGENT_SDK ?? '@anthropic-ai/claude-agent-sdk');

export async function stage(script) {
  const opened = await fetch(STUDIO, { method: 'POST', body: script });
  const path = await opened.text();
  assert.ok(opened.ok, path);
  const root = mkdtempSync(join(STAGES, 'stage-'));
  const cwd = join(root, 'work');
  const home = join(root, 'state');
  mkdirSync(cwd);
  const stderr = [];
  const env = {
    PATH,
    HOME: root,
    ADZE_HOME: home,
    CLAUDE_CONFIG_DIR: home,
    ADZE_NO_FSYNC: '1',
    ANTHROPIC_API_KEY: 'key-of-the-test',
    ANTHROPIC_BASE_URL: STUDIO + path,
  };
  const options = {
    pathToClaudeCodeExecutable: ADZE_BIN,
    cwd,
    model: 'sonnet',
    stderr: (text) => stderr.push(text),
    env,
  };
  return {
    cwd,
    home,
    env,
    stderr,
    query: (prompt, more = {}) => query({ prompt, options: { ...options, ...more } }),
    // played returns the requests, after checking that the script was played as it expects.
    played: async () => {
      const { requests, problem } = await (await fetch(STUDIO + path)).json();
      assert.equal(problem, '');
      return requests ?? [];
    },
  };
}

// collect returns all messages of a query.
export async function collect(q) {
  const messages = [];
  for await (const m of q) messages.push(m);
  return messages;
}

// attempt is collect for a query that may fail: the SDK throws what the program ended with.
export async function attempt(q) {
  const messages = [];
  let error;
  try {
    for await (const m of q) messages.push(m);
  } catch (e) {
    error = e;
  }
  return { messages, error };
}

export const of = (messages, type, subtype) =>
  messages.filter((m) => m.type === type && (subtype === undefined || m.subtype === subtype));

export const result = (messages) => of(messages, 'result').at(-1);

// inbox is a stream of prompts that a test feeds while a query runs.
export function inbox(...texts) {
  const waiting = texts.map(prompt);
  let wake = () => {};
  let closed = false;
  return {
    say(text, more) {
      waiting.push(prompt(text, more));
      wake();
    },
    close() {
      closed = true;
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        while (waiting.length > 0) yield waiting.shift();
        if (closed) return;
        await new Promise((resolve) => (wake = resolve));
      }
    },
  };
}

function prompt(text, more = {}) {
  return { type: 'user', message: { role: 'user', content: text }, parent_tool_use_id: null, session_id: '', ...more };
}
