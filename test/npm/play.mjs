// play starts a script and returns its address, for the clients of vendors that drive a scripted server themselves.
import assert from 'node:assert/strict';

const { STUDIO } = process.env;

export async function play(script) {
  const opened = await fetch(STUDIO, { method: 'POST', body: script });
  const path = await opened.text();
  assert.ok(opened.ok, path);
  return {
    url: STUDIO + path,
    // played returns the requests, after checking that the script was played as it expects.
    played: async () => {
      const { requests, problem } = await (await fetch(STUDIO + path)).json();
      assert.equal(problem, '');
      return requests ?? [];
    },
  };
}
