import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

interface CommandTiming {
  readonly command: string;
  readonly median: number;
  readonly minimum: number;
}

export interface StartupTimings {
  readonly base: CommandTiming;
  readonly rows: readonly CommandTiming[];
  readonly rounds: number;
}

const builtCliPath = fileURLToPath(new URL("../../bin/colloquy.js", import.meta.url));

/**
 * Measures the startup of the built command line and of an empty Node program. The commands alternate, so
 * that changes in machine load affect all of them equally.
 */
export async function measureStartup(rounds: number): Promise<StartupTimings> {
  const directory = mkdtempSync(join(tmpdir(), "colloquy-startup-"));
  const serve = ["serve", "--exec", "cat", "--store", "memory", "--port", "0"];
  const server = spawn(process.execPath, [builtCliPath, ...serve], {
    cwd: directory,
    stdio: ["ignore", "ignore", "pipe"],
  });
  try {
    const url = await readServerUrl(server.stderr);
    const card = spawnSync(process.execPath, [builtCliPath, "card", "get", url, "-o", "json"], {
      encoding: "utf8",
    });
    if (card.status !== 0) throw new Error(`The built command line does not work: ${card.stderr}`);
    const file = join(directory, "card.json");
    writeFileSync(file, card.stdout);
    const commands: [what: string, args: string[]][] = [
      ["node -e 0", ["-e", "0"]],
      ["colloquy card get URL", [builtCliPath, "card", "get", url]],
      ["colloquy card get FILE", [builtCliPath, "card", "get", "-a", file]],
      ["colloquy send URL", [builtCliPath, "send", url, "hello"]],
      ["colloquy --version", [builtCliPath, "--version"]],
    ];
    const times = commands.map((): number[] => []);
    for (let round = 0; round < rounds; round++) {
      for (const [index, [label, args]] of commands.entries()) {
        const began = performance.now();
        const { status } = spawnSync(process.execPath, args, { cwd: directory, stdio: "ignore" });
        times[index]?.push(performance.now() - began);
        if (status !== 0) throw new Error(`${label} exited with ${status}.`);
      }
    }
    const [base, ...rows] = commands.map(([label], index) => summarizeTimes(label, times[index] ?? []));
    return { base: base as CommandTiming, rows, rounds };
  } finally {
    server.kill("SIGKILL");
  }
}

/** Returns the first URL in a server's banner. */
export async function readServerUrl(stderr: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface({ input: stderr })) {
    const [url] = /http:\/\/\S+/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error("The server exited before it listened.");
}

function summarizeTimes(label: string, times: readonly number[]): CommandTiming {
  const sorted = times.toSorted((a, b) => a - b);
  return { command: label, median: sorted[Math.floor(sorted.length / 2)] ?? NaN, minimum: sorted[0] ?? NaN };
}
