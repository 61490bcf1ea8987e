/**
 * `npm run lab -- pictures recording` records the first example of README.md in three terminals, and writes the recording to
 * `docs/images/kill.svg`. The programs are those of the page, the terminals are real, and their output keeps its times.
 * The recording fails if the client does not receive each line once.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, mkdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { parseCodeBlocks, root } from "../../test/documents/code-blocks.ts";
import { type Pane, renderTerminals } from "./render-terminals.ts";

const SVG_FILE = join(root, "docs/images/kill.svg");
const MAX_SVG_BYTES = 100_000;
const KEY_MS = 45;
const TIMEOUT_MS = 20_000;

/** A shell in a pseudo-terminal of `script`, whose output is recorded with its times. */
class RecordedTerminal {
  readonly chunks: { readonly atMs: number; readonly text: string }[] = [];
  readonly #child: ChildProcess;
  #beganAtMs = Number.POSITIVE_INFINITY;
  #onOutput: (() => void) | undefined;

  constructor(cwd: string, pane: Pane) {
    const shell = `stty cols ${pane.columns} rows 40; exec bash --norc --noprofile -i`;
    this.#child = spawn("script", ["--quiet", "--flush", "--return", "--command", shell, "/dev/null"], {
      cwd,
      stdio: ["pipe", "pipe", "inherit"],
      env: {
        PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
        HOME: cwd,
        PS1: "$ ",
        TERM: "dumb",
        BASH_SILENCE_DEPRECATION_WARNING: "1",
      },
    });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.chunks.push({ atMs: performance.now() - this.#beganAtMs, text: stripVTControlCharacters(text) });
      this.#onOutput?.();
    });
  }

  get output(): string {
    return this.chunks.map(({ text }) => text).join("");
  }

  /** Sets the time 0, before which the shell has printed its prompt. */
  begin(): void {
    this.#beganAtMs = performance.now();
    const prompt = this.output;
    this.chunks.splice(0, Infinity, { atMs: 0, text: prompt });
  }

  async type(line: string): Promise<void> {
    for (const key of `${line}\n`) {
      this.#child.stdin?.write(key);
      await pause(KEY_MS);
    }
  }

  async waitFor(pattern: RegExp): Promise<RegExpExecArray> {
    const deadline = performance.now() + TIMEOUT_MS;
    for (;;) {
      const found = pattern.exec(this.output);
      if (found) return found;
      if (performance.now() > deadline) throw new Error(`No ${pattern} in:\n${this.output}`);
      await Promise.race([new Promise<void>((done) => (this.#onOutput = done)), pause(500)]);
    }
  }

  async close(): Promise<void> {
    this.#child.stdin?.end("\u0003exit\n");
    await Promise.race([once(this.#child, "exit"), pause(2000)]);
    this.#child.kill("SIGKILL");
  }
}

const PANES = {
  server: { title: "server", columns: 34, rows: 12, column: 0, row: 0 },
  client: { title: "client", columns: 38, rows: 8, column: 38, row: 0 },
  killer: { title: "third terminal", columns: 38, rows: 2, column: 38, row: 10 },
} as const satisfies Record<string, Pane>;

const folder = mkdtempSync(join(tmpdir(), "colloquy-recording-"));
mkdirSync(join(folder, "node_modules"));
symlinkSync(root, join(folder, "node_modules/colloquy"));
writeFileSync(join(folder, "package.json"), `{ "type": "module" }`);
for (const { file, code } of parseCodeBlocks("README.md").toReversed())
  if (file === "server.ts" || file === "client.ts") writeFileSync(join(folder, file), code);

const server = new RecordedTerminal(folder, PANES.server);
const client = new RecordedTerminal(folder, PANES.client);
const killer = new RecordedTerminal(folder, PANES.killer);
const terminals = [server, client, killer];
try {
  await Promise.all(terminals.map((terminal) => terminal.waitFor(/\$ $/)));
  for (const terminal of terminals) terminal.begin();
  await pause(400);
  await server.type("node server.ts");
  const [, processId = ""] = await server.waitFor(/^process (\d+)/m);
  await pause(300);
  await client.type("node client.ts");
  await client.waitFor(/^- the palace/m);
  await killer.type(`kill -9 ${processId}`);
  await server.waitFor(/Killed/);
  await pause(700);
  await server.type("node server.ts");
  await client.waitFor(/^- the night view\s+\$ /m);
  await pause(300);
  const lines = client.output.match(/^(?:A day|- ).*?(?=\r?$)/gm) ?? [];
  if (lines.length !== 6 || new Set(lines).size !== 6)
    throw new Error(`The client shows:\n${lines.join("\n")}`);
  const [, ...calls] = server.output.match(/model call: .*?(?=\r?$)/gm) ?? [];
  console.log(`${lines.length} lines without a gap; model calls: ${calls.length + 1}`);
} finally {
  // The interrupted shell prints a prompt, which is not part of the recording.
  const recorded = terminals.map((terminal) => [...terminal.chunks]);
  await Promise.all(terminals.map((terminal) => terminal.close()));
  terminals.forEach((terminal, at) => terminal.chunks.splice(0, Infinity, ...(recorded[at] ?? [])));
  rmSync(folder, { recursive: true, force: true });
}
const svg = renderTerminals(
  [
    { pane: PANES.server, chunks: server.chunks },
    { pane: PANES.client, chunks: client.chunks },
    { pane: PANES.killer, chunks: killer.chunks },
  ],
  "A client receives an answer. kill -9 ends the server in the middle of the answer. A new server continues, and the client receives the rest.",
);
writeFileSync(SVG_FILE, svg);
const { size } = statSync(SVG_FILE);
console.log(`${SVG_FILE}: ${Math.round(size / 1000)} kB`);
if (size > MAX_SVG_BYTES) throw new Error(`${SVG_FILE} is too large for the repository.`);
