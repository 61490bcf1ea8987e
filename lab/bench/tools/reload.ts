import { spawn } from "node:child_process";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { connect } from "../../../src/client/index.ts";
import type { BenchmarkContext } from "../benchmark-context.ts";
import { CHECKOUT_ROOT } from "../builds.ts";
import { computeMedian } from "../interval.ts";
import { createRow, type ReportTable } from "../report.ts";

/** Time between two requests, in milliseconds. It is part of the measured times. */
const POLL_MS = 5;
/** Time between an answer and the next save, in milliseconds, so that the command is idle. */
const IDLE_MS = 200;

/** Measures the time from the save of an agent file to an answer of the new code in `colloquy dev`. */
export async function measureReloads({ settings }: BenchmarkContext): Promise<ReportTable[]> {
  const folder = mkdtempSync(join(tmpdir(), "colloquy-reload-"));
  writeFileSync(join(folder, "package.json"), `{ "type": "module" }`);
  saveAgent(folder, "0");
  const fromSource = pathToFileURL(join(CHECKOUT_ROOT, "test/support/from-source.mjs")).href;
  const cli = join(CHECKOUT_ROOT, "bin/colloquy.js");
  const dev = spawn(
    process.execPath,
    ["--import", fromSource, cli, "dev", "--no-console", "--port=0", "--store=memory"],
    { cwd: folder, stdio: ["ignore", "ignore", "pipe"] },
  );
  const times: number[] = [];
  try {
    const client = await connect(await readAgentUrl(dev.stderr));
    for (let number = 1; number <= (settings.quick ? 10 : 50); number++) {
      await pause(IDLE_MS);
      saveAgent(folder, String(number));
      const savedAt = performance.now();
      while ((await client.ask("?")).text !== String(number)) await pause(POLL_MS);
      times.push(performance.now() - savedAt);
    }
  } finally {
    dev.kill();
    rmSync(folder, { recursive: true, force: true });
  }
  const sorted = times.toSorted((a, b) => a - b);
  const cells = {
    p50: computeMedian(sorted),
    p95: sorted[Math.ceil(0.95 * sorted.length) - 1],
    max: sorted.at(-1),
  };
  return [
    {
      workload: "reload",
      title: "Time from a save to an answer of the new code in `colloquy dev`",
      columns: Object.keys(cells).map((key) => ({ key, title: `${key} ms`, format: "ms" })),
      rows: [createRow(`${times.length} saves`, cells)],
    },
  ];
}

function saveAgent(folder: string, answer: string): void {
  const source = `import { agent } from "colloquy";
export default agent({ name: "hello", description: "Answers" }, async function* () { yield "${answer}"; });\n`;
  writeFileSync(join(folder, "saved"), source);
  renameSync(join(folder, "saved"), join(folder, "agent.ts"));
}

async function readAgentUrl(output: Readable): Promise<string> {
  for await (const line of createInterface({ input: output })) {
    const url = /https?:\/\/\S+\/a2a\/\S+/.exec(line)?.[0];
    if (url !== undefined) return url;
  }
  throw new Error("colloquy dev ended before it served the agent.");
}
