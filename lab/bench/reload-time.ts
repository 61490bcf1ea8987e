/**
 * Measures the time from the save of an agent file to an answer of the new code in `colloquy dev`.
 *
 *   node lab/bench/reload-time.ts [--saves 50]
 */
import { spawn } from "node:child_process";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { connect } from "../../src/client/index.ts";

const { values } = parseArgs({ options: { saves: { type: "string", default: "50" } } });
/** Time between two requests, in milliseconds. It is part of the measured times. */
const POLL_MS = 5;
/** Time between an answer and the next save, in milliseconds, so that the command is idle. */
const IDLE_MS = 200;

const folder = mkdtempSync(join(tmpdir(), "colloquy-reload-"));
const root = fileURLToPath(new URL("../..", import.meta.url));

function save(answer: string): void {
  const source = `import { agent } from "colloquy";
export default agent({ name: "hello", description: "Answers" }, async function* () { yield "${answer}"; });\n`;
  writeFileSync(join(folder, "saved"), source);
  renameSync(join(folder, "saved"), join(folder, "agent.ts"));
}

writeFileSync(join(folder, "package.json"), `{ "type": "module" }`);
save("0");
const dev = spawn(
  process.execPath,
  [
    "--import",
    pathToFileURL(join(root, "test/support/from-source.mjs")).href,
    join(root, "bin/colloquy.js"),
    "dev",
    "--no-console",
    "--port=0",
    "--store=memory",
  ],
  { cwd: folder, stdio: ["ignore", "ignore", "pipe"] },
);
const times: number[] = [];
try {
  const client = await connect(await readAgentUrl());
  for (let number = 1; number <= Number(values.saves); number++) {
    await pause(IDLE_MS);
    save(String(number));
    const savedAt = performance.now();
    while ((await client.ask("?")).text !== String(number)) await pause(POLL_MS);
    times.push(performance.now() - savedAt);
  }
} finally {
  dev.kill();
  rmSync(folder, { recursive: true, force: true });
}
times.sort((a, b) => a - b);
const pick = (share: number): string => (times[Math.ceil(share * times.length) - 1] ?? 0).toFixed(0);
console.log(`${times.length} saves: p50 ${pick(0.5)} ms, p95 ${pick(0.95)} ms, max ${pick(1)} ms`);

async function readAgentUrl(): Promise<string> {
  for await (const line of createInterface({ input: dev.stderr })) {
    const url = /https?:\/\/\S+\/a2a\/\S+/.exec(line)?.[0];
    if (url !== undefined) return url;
  }
  throw new Error("colloquy dev ended before it served the agent.");
}
