"""Runs adze as an agent of Harbor, which runs Terminal-Bench and other benchmarks in containers.

docs/benchmarks.md has the command. Agent arguments: binary, the Linux program to copy into the
containers; flags, more flags of adze -p.
"""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

from harbor.agents.base import BaseAgent

PROGRAM = "/tmp/adze"

# Variables with keys and addresses of providers.
PASSED = re.compile(r"(ADZE|ANTHROPIC|OPENAI|GEMINI|GOOGLE|XAI|OPENROUTER|AWS|AZURE|CLAUDE_CODE_USE)_\w+")


class Adze(BaseAgent):
    """adze -p, without permission questions: the container is the limit."""

    def __init__(self, *args, binary="adze", flags="", **kwargs):
        super().__init__(*args, **kwargs)
        self.binary = Path(binary)
        self.flags = shlex.split(flags)

    @staticmethod
    def name():
        return "adze"

    def version(self):
        try:
            return subprocess.run([self.binary.absolute(), "--version"], capture_output=True, text=True, check=True).stdout.split()[0]
        except (OSError, subprocess.CalledProcessError):  # a program for another platform
            return None

    async def setup(self, environment):
        await environment.upload_file(self.binary, PROGRAM)
        await self._exec(environment, f"chmod 755 {PROGRAM} && {PROGRAM} --version")

    async def run(self, instruction, environment, context):
        command = [PROGRAM, "-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions", *self.flags]
        if self.model_name:
            command += ["--model", self.model_name]
        env = {name: value for name, value in os.environ.items() if PASSED.fullmatch(name)}
        env["IS_SANDBOX"] = "1"  # many containers run as root
        out = await environment.exec(f"printf %s {shlex.quote(instruction)} | {shlex.join(command)}", env=env)
        (self.logs_dir / "adze.jsonl").write_text(out.stdout or "")
        result = {}
        for line in (out.stdout or "").splitlines():
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if isinstance(event, dict) and event.get("type") == "result":
                result = event
        if not result:
            raise RuntimeError(f"adze ended without a result: {(out.stderr or '')[-2000:]}")
        usage = result.get("usage", {})
        context.n_cache_tokens = usage.get("cache_read_input_tokens", 0)
        context.n_input_tokens = usage.get("input_tokens", 0) + usage.get("cache_creation_input_tokens", 0) + context.n_cache_tokens
        context.n_output_tokens = usage.get("output_tokens", 0)
        context.cost_usd = result.get("total_cost_usd")
        context.metadata = {"turns": result.get("num_turns"), "ended": result.get("subtype")}

    @staticmethod
    async def _exec(environment, command):
        out = await environment.exec(command)
        if out.return_code != 0:
            raise RuntimeError(f"{command}: {out.stderr or out.stdout}")
