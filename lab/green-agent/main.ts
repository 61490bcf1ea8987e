/**
 * `npm run lab -- green-agent --template PATH` runs the tests of the AgentBeats template for green agents against a
 * benchmark agent, and an assessment of a purple agent. PATH is a clone of RDI-Foundation/green-agent-template.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import process from "node:process";
import { parseArgs } from "node:util";
import { agent, connect, createServer } from "../../src/entries/colloquy.ts";
import { createBenchmarkAgent, readDataset } from "../../src/entries/cards.ts";
import { installPythonPackages } from "../interop/install-programs.ts";

const { template = "" } = parseArgs({ options: { template: { type: "string" } } }).values;
const tests = join(template, "tests");
const report = (line: string): void => void process.stderr.write(`${line}\n`);
if (!existsSync(join(tests, "test_agent.py"))) {
  report("Pass --template with the path of a clone of RDI-Foundation/green-agent-template.");
  process.exit(2);
}
const requirements = fileURLToPath(new URL("requirements.txt", import.meta.url));
const python = await installPythonPackages("green-agent", requirements, report);
if ("reason" in python) {
  report(`The tests cannot be installed: ${python.reason}.`);
  process.exit(1);
}
const outputFolder = mkdtempSync(join(tmpdir(), "colloquy-green-agent-"));
const purple = agent({ name: "purple", description: "Always answers 18" }, async function* () {
  yield "Answer: 18";
});
const servers = [createBenchmarkAgent({ dataset: readDataset("gsm8k"), outputFolder }), purple].map((one) =>
  createServer(one, { store: "memory" }),
);
try {
  const [green = "", solver = ""] = await Promise.all(
    servers.map(async (server) => (await server.listen()).url),
  );
  const pytest = spawn(python.program, ["-m", "pytest", "-q", tests, "--agent-url", new URL(green).origin], {
    stdio: "inherit",
  });
  const [status] = (await once(pytest, "exit")) as [number | null];
  assert.equal(status, 0, "The tests of the template failed.");
  const client = await connect(green);
  const { text } = await client.ask(JSON.stringify({ participants: { solver }, config: { count: 20 } }));
  report(`Assessment: ${text}`);
  assert.match(text, /^2 of 20 problems are correct\./);
} finally {
  await Promise.all(servers.map((server) => server.close({ graceMs: 0 })));
  rmSync(outputFolder, { recursive: true });
}
