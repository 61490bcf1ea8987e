import { spawn, type ChildProcess } from "node:child_process";
import { chmod, mkdir, mkdtemp, realpath, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { splitCommand } from "../../src/adapters/command-line.ts";
import { run } from "../../src/cli/main.ts";
import { cleanEnv } from "../../src/cli/process.contract.ts";
import { root } from "./blocks.ts";

/** Nothing that a page shows takes nearly that long. */
const DEADLINE_MS = 30_000;

/** A command that is running, or was. */
class Job {
  readonly child: ChildProcess;
  readonly ended: Promise<number>;
  printed = "";
  #more: (() => void) | undefined;

  constructor(command: string, cwd: string, env: NodeJS.ProcessEnv) {
    this.child = spawn("/bin/bash", ["-c", `{ ${command}\n} 2>&1`], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      // A job is a process group: a signal reaches all that the shell has begun.
      detached: true,
    });
    this.child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      this.printed += chunk;
      this.#more?.();
    });
    const deadline = setTimeout(() => this.signal("SIGKILL"), DEADLINE_MS);
    this.ended = new Promise((done) => {
      this.child.once("close", (code) => {
        clearTimeout(deadline);
        this.#more?.();
        done(code ?? 1);
      });
    });
  }

  get isOver(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  signal(signal: NodeJS.Signals): void {
    const { pid } = this.child;
    if (pid !== undefined && !this.isOver) process.kill(-pid, signal);
  }

  /** Resolves when something was printed, or the command has ended. */
  more(): Promise<unknown> {
    return Promise.race([this.ended, new Promise<void>((done) => (this.#more = done))]);
  }
}

/** What a command came to. */
export interface Came {
  readonly code: number;
  readonly printed: string;
}

/**
 * A terminal in a project that has the package: runs the commands of one page, one after another. `… &` goes on beside
 * the others, as job %1, %2 …
 */
export class Terminal {
  readonly home: string;
  #cwd: string;
  readonly #env: NodeJS.ProcessEnv;
  /** By their numbers, as a shell gives them. */
  readonly #jobs = new Map<number, Job>();
  /** What of a job's output the page has shown. */
  readonly #seen = new Map<Job, number>();

  private constructor(home: string, port: string) {
    this.home = home;
    this.#cwd = home;
    this.#env = {
      ...cleanEnv(),
      PATH: `${join(home, ".bin")}:${dirname(process.execPath)}:${process.env["PATH"]}`,
      HOME: join(home, ".home"),
      PORT: port,
      npm_command: "exec",
    };
  }

  static async open(port: string): Promise<Terminal> {
    const home = await realpath(await mkdtemp(join(tmpdir(), "colloquy-page-")));
    for (const name of [".bin", ".home"]) await mkdir(join(home, name));
    // What pages name of the clone.
    for (const name of ["node_modules", "docs", "examples"])
      await symlink(join(root, name), join(home, name));
    await writeFile(join(home, "package.json"), `{ "type": "module" }`);
    const adk = JSON.stringify(join(root, "examples/02-adk-agent.ts"));
    await writeFile(join(home, "agent.ts"), `export { rootAgent } from ${adk};\n`);
    const cli = `exec ${JSON.stringify(process.execPath)} ${JSON.stringify(join(root, "bin/colloquy.js"))}`;
    await script(join(home, ".bin/colloquy"), `${cli} "$@"`);
    await script(join(home, ".bin/npx"), `[ "$1" = colloquy ] || exit 127\nshift\n${cli} "$@"`);
    // What the command line prints for pasting is as this page calls it.
    process.env["npm_command"] = "exec";
    return new Terminal(home, port);
  }

  async write(file: string, code: string): Promise<void> {
    const path = resolve(this.#cwd, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, code);
  }

  /** Runs a line to its end, or until `isShown` says that what goes on beside has said enough. */
  async run(line: string, isShown: (printed: string) => number | undefined): Promise<Came> {
    const [, where] = /^cd (\S+)$/.exec(line) ?? [];
    if (where !== undefined) {
      this.#cwd = resolve(this.#cwd, where);
      return { code: 0, printed: "" };
    }
    const [, name, value] = /^export (\w+)=(\S*)$/.exec(line) ?? [];
    if (name !== undefined) {
      this.#env[name] = value;
      return { code: 0, printed: "" };
    }
    const [, verb = "", number] = /^(kill(?: -9)?|wait) %(\d+)$/.exec(line) ?? [];
    if (number !== undefined) return await this.#control(verb, Number(number));
    if (line.endsWith(" &")) return await this.#begin(line.slice(0, -2), isShown);
    const words = wordsOfColloquy(line);
    if (words) return await this.#inProcess(words);
    const job = new Job(line, this.#cwd, this.#env);
    const code = await job.ended;
    return { code, printed: job.printed };
  }

  async close(): Promise<void> {
    for (const job of this.#seen.keys()) job.signal("SIGKILL");
    await Promise.all([...this.#seen.keys()].map(({ ended }) => ended));
  }

  async #begin(line: string, isShown: (printed: string) => number | undefined): Promise<Came> {
    const job = new Job(line, this.#cwd, this.#env);
    for (const [number, { isOver }] of this.#jobs) if (isOver) this.#jobs.delete(number);
    this.#jobs.set(Math.max(0, ...this.#jobs.keys()) + 1, job);
    this.#seen.set(job, 0);
    for (;;) {
      const seen = isShown(job.printed);
      if (seen !== undefined) {
        this.#seen.set(job, seen);
        return { code: 0, printed: job.printed };
      }
      if (job.isOver) return { code: job.child.exitCode || 1, printed: job.printed };
      await job.more();
    }
  }

  async #control(verb: string, number: number): Promise<Came> {
    const job = this.#jobs.get(number);
    if (!job) throw new Error(`There is no job %${number}.`);
    if (verb !== "wait") job.signal(verb === "kill" ? "SIGTERM" : "SIGKILL");
    const code = await job.ended;
    if (verb !== "wait") return { code: 0, printed: "" };
    return { code, printed: job.printed.slice(this.#seen.get(job)).trimStart() };
  }

  /** Within this process, which is quicker: the command line itself, with nothing of this machine. */
  async #inProcess(words: readonly string[]): Promise<Came> {
    let printed = "";
    const print = (text: string): void => void (printed += text);
    const code = await run(words, {
      streams: { out: print, err: print },
      stdin: Readable.from([]),
      interactive: false,
      interrupted: new AbortController().signal,
      env: { HOME: this.#env["HOME"] },
      cwd: this.#cwd,
    });
    return { code, printed };
  }
}

/** The words of a line that is nothing but a call of `colloquy` which ends soon; a shell sees to all others. */
function wordsOfColloquy(line: string): string[] | undefined {
  const [, said] =
    /^(?:npx )?colloquy ((?!serve\b|demo\b|mcp\b|auth\b)[^#$|<>;&]+?)(?:\s+#.*)?$/.exec(line) ?? [];
  return said === undefined ? undefined : splitCommand(said);
}

async function script(file: string, body: string): Promise<void> {
  await writeFile(file, `#!/bin/sh\n${body}\n`);
  await chmod(file, 0o755);
}
