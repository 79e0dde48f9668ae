// The client that the suite of the Model Context Protocol tries, started by it with the address of a server. It drives
// adze as a user does: with adze mcp, and in a turn of a conversation whose model is a script.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? '';
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT || '{}');
const home = mkdtempSync(join(tmpdir(), 'conformance-'));
const browser = join(home, 'browser');
writeFileSync(browser, `#!/bin/sh\nexec '${process.execPath}' '${join(dirname(fileURLToPath(import.meta.url)), 'browser.mjs')}' "$@"\n`);
chmodSync(browser, 0o755);

const adze = (...args) => {
  const run = spawnSync(process.env.ADZE_BIN, args, {
    cwd: home,
    encoding: 'utf8',
    timeout: 300_000,
    env: { PATH: process.env.PATH, HOME: home, ADZE_HOME: join(home, 'state'), IS_SANDBOX: '1', BROWSER: browser },
  });
  console.error(`$ adze ${args.join(' ')}\n${run.stdout}${run.stderr}`);
  return run;
};
const tools = () => JSON.parse(adze('mcp', 'tools', '--url', url, '--json').stdout || '[]');

// In a turn the model uses tools, one after the other; a hook accepts what the server asks the user.
const turn = (prompt, uses, answer) => {
  const model = join(home, 'model.txt');
  writeFileSync(model, [...uses.map(([name, input]) => `use ${name} ${JSON.stringify(input)}`), 'say Done.'].join('\n---\n'));
  const output = { hookSpecificOutput: { hookEventName: 'Elicitation', action: 'accept', content: answer } };
  const answers = join(home, 'answer.json');
  writeFileSync(answers, JSON.stringify(output));
  const settings = { hooks: { Elicitation: [{ hooks: [{ type: 'command', command: `cat '${answers}'` }] }] } };
  return adze('-p', prompt, '--model', `replay:${model}`, '--dangerously-skip-permissions',
    '--settings', JSON.stringify(settings), '--mcp-config', JSON.stringify({ mcpServers: { c: { type: 'http', url } } }));
};
const call = (calls, answer = {}) => turn('go', calls.map(([name, input]) => [`mcp__c__${name}`, input ?? {}]), answer);

// Who wants the user to sign in gets that, as often as is needed.
const signedIn = () => {
  const document = scenario === 'auth/basic-cimd' ? 'https://conformance-test.local/client-metadata.json' : undefined;
  const oauth = { clientId: context.client_id ?? document, clientSecret: context.client_secret };
  adze('mcp', 'add-json', 'c', JSON.stringify({ type: 'http', url, oauth }));
  adze('mcp', 'call', '--login', 'c', 'test-tool', '{}');
};

const scenarios = {
  tools_call: () => call([['add_numbers', { a: 5, b: 3 }]]),
  'elicitation-sep1034-client-defaults': () => call([['test_client_elicitation_defaults']]),
  'sse-retry': () => call([['test_reconnection']]),
  'sep-2322-client-request-state': () =>
    call([['test_mrtr_echo_state'], ['test_mrtr_no_state'], ['test_mrtr_unrelated'], ['test_mrtr_no_result_type']], { confirmed: true }),
  // One of the arguments is null, which the schema does not allow: adze would not let the model call that.
  'http-custom-headers': () => context.toolCalls.forEach((c) => adze('mcp', 'call', '--url', url, c.name, JSON.stringify(c.arguments))),
  'http-invalid-tool-headers': () => call(tools().map((t) => [t.name, { region: 'us-west1' }])),
  'http-standard-headers': () => {
    call([[tools()[0].name]]);
    turn('go', [['ListMcpResources', {}]], {});
    turn('look at @c:file:///path/to/file%20name.txt', [], {});
    turn('/mcp__c__test_prompt', [], {});
  },
  'json-schema-2020-12-preservation': () =>
    call([['json_schema_echo', { schema: tools().find((t) => t.name === 'json_schema_2020_12_tool')?.inputSchema }]]),
};
try {
  if (scenario.startsWith('auth/')) signedIn();
  else (scenarios[scenario] ?? tools)();
} finally {
  rmSync(home, { recursive: true, force: true });
}
