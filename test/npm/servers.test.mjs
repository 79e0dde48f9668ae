// Servers that live in the host, and others that it configures.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { collect, inbox, of, result, stage } from './stage.mjs';

const { createSdkMcpServer, tool } = await import(process.env.AGENT_SDK ?? '@anthropic-ai/claude-agent-sdk');
// The client of 2025 takes schemas of the third version of the library only.
const { z } = await import(process.env.AGENT_SDK === 'agent-sdk-of-2025' ? 'zod/v3' : 'zod');


const call = (name, input) => `use ${name} ${JSON.stringify(input)}`;

const weather = (calls = []) =>
  createSdkMcpServer({
    name: 'weather',
    version: '1.0.0',
    tools: [
      tool('forecast', 'The weather of tomorrow.', { city: z.string() }, async ({ city }) => {
        calls.push(city);
        return { content: [{ type: 'text', text: `Rain in ${city}.` }] };
      }),
      tool('broken', 'Fails.', {}, async () => {
        throw new Error('no thermometer');
      }),
    ],
  });

test('a server in the host', async (t) => {
  await t.test('its tool is called', async () => {
    const s = await stage(`${call('mcp__weather__forecast', { city: 'Lund' })}\n---\nexpect result toolu_1_1 "Rain in Lund."\nsay Rain.`);
    const calls = [];
    const messages = await collect(s.query('go', { mcpServers: { weather: weather(calls) }, allowedTools: ['mcp__weather__forecast'] }));
    assert.deepEqual(calls, ['Lund']);
    assert.equal(result(messages).result, 'Rain.');
    const init = of(messages, 'system', 'init')[0];
    assert.equal(init.mcp_servers.find((m) => m.name === 'weather').status, 'connected');
    assert.ok(init.tools.includes('mcp__weather__forecast'), init.tools.join());
    await s.played();
  });
  await t.test('it asks for permission like all', async () => {
    const s = await stage(`${call('mcp__weather__forecast', { city: 'Lund' })}\n---\nexpect error-result toolu_1_1 "not now"\nsay Fine.`);
    const asked = [];
    const calls = [];
    const messages = await collect(s.query('go', {
      mcpServers: { weather: weather(calls) },
      canUseTool: async (name, input, context) => {
        asked.push({ name, input, context });
        return { behavior: 'deny', message: 'not now' };
      },
    }));
    assert.deepEqual(calls, []);
    assert.equal(asked[0].name, 'mcp__weather__forecast');
    assert.deepEqual(asked[0].input, { city: 'Lund' });
    if (asked[0].context.mcpServer) assert.deepEqual(asked[0].context.mcpServer, { name: 'weather', source: 'sdk' });
    assert.equal(result(messages).permission_denials[0].tool_name, 'mcp__weather__forecast');
    await s.played();
  });
  await t.test('its tool fails', async () => {
    const s = await stage(`${call('mcp__weather__broken', {})}\n---\nexpect error-result toolu_1_1 "no thermometer"\nsay Oh.`);
    await collect(s.query('go', { mcpServers: { weather: weather() }, allowedTools: ['mcp__weather'] }));
    await s.played();
  });
});

test('through the tool that stands for those that are looked up', async () => {
  const through = call('ExecuteExtraTool', { tool_name: 'mcp__weather__forecast', params: { city: 'Lund' } });
  const s = await stage(`${through}\n---\nexpect result toolu_1_1 "Rain in Lund."\nsay Rain.`);
  const calls = [];
  const asked = [];
  const messages = await collect(s.query('go', {
    mcpServers: { weather: weather(calls) },
    canUseTool: async (name, input) => {
      asked.push({ name, input });
      return { behavior: 'allow', updatedInput: input };
    },
  }));
  assert.deepEqual(asked, [{ name: 'mcp__weather__forecast', input: { city: 'Lund' } }]);
  assert.deepEqual(calls, ['Lund']);
  assert.equal(result(messages).result, 'Rain.');
  await s.played();
});

// A program that is a server, over standard input and output. It asks the user for a name when its tool is called.
const program = {
  command: process.execPath,
  args: ['-e', `
    const say = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
    let open;
    require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const m = JSON.parse(line);
      if (m.method === 'initialize') say({ id: m.id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'greeter', version: '1' } } });
      else if (m.method === 'tools/list') say({ id: m.id, result: { tools: [{ name: 'greet', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }] } });
      else if (m.method === 'tools/call') {
        open = m.id;
        say({ id: 'q1', method: 'elicitation/create', params: { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' }, times: { type: 'integer', default: 2 } }, required: ['name'] } } });
      } else if (m.id === 'q1') say({ id: open, result: { content: [{ type: 'text', text: 'Said ' + JSON.stringify(m.result) }] } });
    });`],
};

test('a server at an address', async () => {
  const seen = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (d) => (body += d)).on('end', () => {
      seen.push(request.headers['x-key']);
      const m = body ? JSON.parse(body) : {};
      const results = {
        initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'far', version: '1' } },
        'tools/list': { tools: [{ name: 'ping', inputSchema: { type: 'object' } }] },
        'tools/call': { content: [{ type: 'text', text: 'pong' }] },
      };
      if (request.method !== 'POST') return response.writeHead(405).end();
      if (m.id === undefined) return response.writeHead(202).end();
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id: m.id, result: results[m.method] ?? {} }));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${server.address().port}/mcp`;
  const s = await stage(`${call('mcp__far__ping', {})}\n---\nexpect result toolu_1_1 "pong"\nsay Done.`);
  await collect(s.query('go', { mcpServers: { far: { type: 'http', url, headers: { 'X-Key': 'k' } } }, allowedTools: ['mcp__far__ping'] }));
  assert.ok(seen.length > 0 && seen.every((key) => key === 'k'), seen.join());
  await s.played();
  server.closeAllConnections();
  server.close();
});

const current = (process.env.AGENT_SDK ?? '@anthropic-ai/claude-agent-sdk') === '@anthropic-ai/claude-agent-sdk';

test('a server asks the user', async (t) => {
  const run = async (expected, options) => {
    const s = await stage(`${call('mcp__greeter__greet', {})}\n---\nexpect result toolu_1_1 ${JSON.stringify(expected)}\nsay Done.`);
    const messages = await collect(s.query('go', { mcpServers: { greeter: program }, allowedTools: ['mcp__greeter'], ...options }));
    assert.equal(result(messages).result, 'Done.');
    await s.played();
  };
  await t.test('the host does not answer', () => run(current ? 'decline' : 'cancel'));
  if (!current) return; // the client does not know elicitation
  await t.test('the host answers', async () => {
    const asked = [];
    await run('"name":"Ada"', {
      onElicitation: async (request) => {
        asked.push(request);
        return { action: 'accept', content: { name: 'Ada' } };
      },
    });
    assert.equal(asked[0].serverName, 'greeter');
    assert.equal(asked[0].message, 'Who?');
    assert.equal(asked[0].requestedSchema.properties.name.type, 'string');
  });
  await t.test('with defaults', () =>
    run('"times":2', { onElicitation: async () => ({ action: 'accept', content: { name: 'Ada' } }) }));
  await t.test('a hook of the host answers', () =>
    run('"name":"Eve"', {
      hooks: { Elicitation: [{ hooks: [async () => ({ hookSpecificOutput: { hookEventName: 'Elicitation', action: 'accept', content: { name: 'Eve' } } })] }] },
    }));
});

if (current) {
  test('what the host denies of its own server is denied', async () => {
    const s = await stage(`${call('mcp__weather__forecast', { city: 'Lund' })}\n---\nexpect error-result toolu_1_1\nsay Fine.`);
    const calls = [];
    const server = { ...weather(calls), tools: [{ name: 'forecast', permission_policy: 'always_deny' }] };
    await collect(s.query('go', { mcpServers: { weather: server }, allowedTools: ['mcp__weather'] }));
    assert.deepEqual(calls, []);
    await s.played();
  });

  test('servers are shown, switched, connected again and replaced', async () => {
    const s = await stage('forever\nsay Fine.');
    const box = inbox('one');
    const q = s.query(box, { mcpServers: { greeter: program, weather: weather(), 'not there': { command: '/no/such/program' } } });
    const turn = async () => {
      for (;;) {
        const { value } = await q.next();
        if (value.type === 'result') return;
      }
    };
    await turn();
    const status = async () => Object.fromEntries((await q.mcpServerStatus()).map((m) => [m.name, m]));
    let now = await status();
    assert.equal(now.greeter.status, 'connected', JSON.stringify(now));
    assert.deepEqual(now.greeter.serverInfo, { name: 'greeter', version: '1' });
    assert.deepEqual(now.greeter.tools[0], { name: 'greet', annotations: { readOnly: true } });
    assert.equal(now.weather.source, 'sdk');
    assert.equal(now['not there'].status, 'failed');
    assert.match(now['not there'].error, /no such/i);
    await q.toggleMcpServer('greeter', false);
    assert.equal((await status()).greeter.status, 'disabled');
    await q.toggleMcpServer('greeter', true);
    await q.reconnectMcpServer('greeter');
    assert.equal((await status()).greeter.status, 'connected');
    await assert.rejects(q.reconnectMcpServer('nobody'), /no MCP server/);
    const set = await q.setMcpServers({ second: { ...program, env: { OTHER: '1' } }, weather2: weather(), bad: { command: '/no/such/file' } });
    assert.deepEqual(set.added.sort(), ['bad', 'second', 'weather2']);
    assert.deepEqual(set.removed, ['weather']);
    assert.match(set.errors.bad, /no such/i);
    now = await status();
    assert.equal(now.weather2.status, 'connected');
    assert.equal(now.greeter.status, 'connected'); // of the command line
    assert.ok(!now.weather);
    assert.deepEqual((await q.setMcpServers({})).removed.sort(), ['bad', 'second', 'weather2']);
    box.close();
    for await (const _ of q);
  });
}
