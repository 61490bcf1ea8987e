import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

interface Timing {
  readonly what: string;
  readonly median: number;
  readonly least: number;
}

export interface Startup {
  readonly base: Timing;
  readonly rows: readonly Timing[];
  readonly rounds: number;
}

const bin = fileURLToPath(new URL("../../bin/colloquy.js", import.meta.url));

/** How long the built command line takes, beside a Node that does nothing; by turns, so that all have the same weather. */
export async function measureStartup(rounds: number): Promise<Startup> {
  const directory = mkdtempSync(join(tmpdir(), "colloquy-startup-"));
  const serve = ["serve", "--exec", "cat", "--store", "memory", "--port", "0"];
  const server = spawn(process.execPath, [bin, ...serve], {
    cwd: directory,
    stdio: ["ignore", "ignore", "pipe"],
  });
  try {
    const url = await urlIn(server.stderr);
    const card = spawnSync(process.execPath, [bin, "card", "get", url, "-o", "json"], { encoding: "utf8" });
    if (card.status !== 0) throw new Error(`The built command line does not work: ${card.stderr}`);
    const file = join(directory, "card.json");
    writeFileSync(file, card.stdout);
    const commands: [what: string, args: string[]][] = [
      ["node -e 0", ["-e", "0"]],
      ["colloquy card get URL", [bin, "card", "get", url]],
      ["colloquy card get FILE", [bin, "card", "get", "-a", file]],
      ["colloquy send URL", [bin, "send", url, "hello"]],
      ["colloquy --version", [bin, "--version"]],
    ];
    const times = commands.map((): number[] => []);
    for (let round = 0; round < rounds; round++) {
      for (const [at, [what, args]] of commands.entries()) {
        const began = performance.now();
        const { status } = spawnSync(process.execPath, args, { cwd: directory, stdio: "ignore" });
        times[at]?.push(performance.now() - began);
        if (status !== 0) throw new Error(`${what} ended with ${status}.`);
      }
    }
    const [base, ...rows] = commands.map(([what], at) => timingOf(what, times[at] ?? []));
    return { base: base as Timing, rows, rounds };
  } finally {
    server.kill("SIGKILL");
  }
}

/** The first URL of a server's banner. */
export async function urlIn(stderr: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stderr })) {
    const [url] = /http:\/\/\S+/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error("The server has not begun.");
}

function timingOf(what: string, times: readonly number[]): Timing {
  const sorted = times.toSorted((a, b) => a - b);
  return { what, median: sorted[Math.floor(sorted.length / 2)] ?? NaN, least: sorted[0] ?? NaN };
}
