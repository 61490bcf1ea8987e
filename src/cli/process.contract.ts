import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Context } from "./context.ts";
import { run } from "./main.ts";

const bin = fileURLToPath(new URL("../../bin/colloquy.js", import.meta.url));
const fromSource = new URL("../../test/from-source.mjs", import.meta.url).href;

export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** A real process of the command line, as a user starts it. */
export class Cli {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  #out = "";
  #err = "";
  #seen: (() => void) | undefined;

  constructor(
    command: string,
    args: readonly string[],
    cwd: string,
    env: Record<string, string> = {},
    stdin: "ended" | "open" = "ended",
  ) {
    this.child = spawn(command, args, { cwd, env: { ...cleanEnv(), ...env } });
    const more = (chunk: string, stream: "out" | "err"): void => {
      if (stream === "out") this.#out += chunk;
      else this.#err += chunk;
      this.#seen?.();
    };
    this.child.stdout?.setEncoding("utf8").on("data", (chunk: string) => more(chunk, "out"));
    this.child.stderr?.setEncoding("utf8").on("data", (chunk: string) => more(chunk, "err"));
    if (stdin === "ended") this.child.stdin?.end();
    this.ended = new Promise((resolve) => {
      this.child.once("close", (code) => {
        resolve({ code, out: this.#out, err: this.#err });
        this.#seen?.();
      });
    });
  }

  /** Resolves once `text` stands on stdout or stderr. */
  async says(text: string): Promise<string> {
    while (!(this.#out + this.#err).includes(text)) {
      if (this.child.exitCode !== null)
        throw new Error(`It ended without saying ${text}:\n${this.#out}${this.#err}`);
      await new Promise<void>((resolve) => {
        this.#seen = resolve;
      });
    }
    return this.#out + this.#err;
  }
}

/** `colloquy …args`, run to its end or kept. */
export function colloquy(
  args: readonly string[],
  cwd: string = process.cwd(),
  env: Record<string, string> = {},
): Cli {
  return new Cli(process.execPath, [bin, ...args], cwd, env);
}

/** The same within this process, which is quicker: for what neither ends by a signal nor goes on for long. */
export async function inProcess(
  args: readonly string[],
  world: Partial<Pick<Context, "env" | "cwd" | "stdin" | "interactive" | "columns">> = {},
): Promise<Ended> {
  const ended = { code: 0, out: "", err: "" };
  const streams = {
    out: (text: string) => void (ended.out += text),
    err: (text: string) => void (ended.err += text),
  };
  ended.code = await run(args, {
    streams,
    stdin: Readable.from([]),
    interactive: false,
    interrupted: new AbortController().signal,
    env: { HOME: "/nowhere" },
    cwd: process.cwd(),
    ...world,
  });
  return ended;
}

/** A line that was printed for the user to paste, run by a shell. */
export function pasted(line: string, cwd: string): Cli {
  // With exec, so that a signal reaches the command itself.
  return new Cli("/bin/sh", ["-c", `exec ${line.trim()}`], cwd);
}

export interface Serving {
  cli: Cli;
  url: string;
  agents: Record<string, string>;
  banner: string;
}

/** `colloquy serve …` (or `demo`), once it can be reached. */
export async function serving(args: readonly string[], cwd: string): Promise<Serving> {
  const cli = colloquy([...args, "--port", "0", "-o", "json"], cwd);
  const said = await cli.says("Ctrl-C stops it.");
  const json = said.slice(0, said.indexOf("\n}\n") + 3);
  const { url, agents } = JSON.parse(json) as { url: string; agents: { id: string; url: string }[] };
  return { cli, url, agents: Object.fromEntries(agents.map((one) => [one.id, one.url])), banner: said };
}

/** A new directory with files in it. */
export async function directoryWith(files: Record<string, string>): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "colloquy-")));
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content);
  return directory;
}

/** Nothing of the developer's own setup, and no keys: the demo runs on its scripted model. */
export function cleanEnv(): Record<string, string | undefined> {
  const keep = Object.entries(process.env).filter(([name]) => !/^(A2ACLI_|npm_|PORT$)|_API_KEY$/i.test(name));
  return { ...Object.fromEntries(keep), NODE_OPTIONS: `--import ${fromSource}` };
}
