import { spawn, type ChildProcess } from "node:child_process";
import { chmod, mkdir, mkdtemp, realpath, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { splitCommand } from "../../src/adapters/split-command.ts";
import { runCli } from "../../src/cli/main.ts";
import { createCleanEnv } from "../../src/cli/cli-process.contract.ts";
import { root } from "./code-blocks.ts";

/** Nothing that a page shows takes nearly that long. */
const JOB_TIMEOUT_MS = 30_000;

/** A command that is running, or was. */
class ShellJob {
  readonly child: ChildProcess;
  readonly exitCode: Promise<number>;
  output = "";
  #onOutput: (() => void) | undefined;

  constructor(command: string, cwd: string, env: NodeJS.ProcessEnv) {
    this.child = spawn("/bin/bash", ["-c", `{ ${command}\n} 2>&1`], {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      // A job is a process group: a signal reaches all that the shell has begun.
      detached: true,
    });
    this.child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      this.output += chunk;
      this.#onOutput?.();
    });
    const deadline = setTimeout(() => this.kill("SIGKILL"), JOB_TIMEOUT_MS);
    this.exitCode = new Promise((done) => {
      this.child.once("close", (code) => {
        clearTimeout(deadline);
        this.#onOutput?.();
        done(code ?? 1);
      });
    });
  }

  get hasEnded(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  kill(signal: NodeJS.Signals): void {
    const { pid } = this.child;
    if (pid !== undefined && !this.hasEnded) process.kill(-pid, signal);
  }

  /** Resolves when something was printed, or the command has ended. */
  waitForOutput(): Promise<unknown> {
    return Promise.race([this.exitCode, new Promise<void>((done) => (this.#onOutput = done))]);
  }
}

/** What a command came to. */
export interface CommandResult {
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
  readonly #jobs = new Map<number, ShellJob>();
  /** What of a job's output the page has shown. */
  readonly #shownLengths = new Map<ShellJob, number>();

  private constructor(home: string, port: string) {
    this.home = home;
    this.#cwd = home;
    this.#env = {
      ...createCleanEnv(),
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
    await writeScript(join(home, ".bin/colloquy"), `${cli} "$@"`);
    await writeScript(join(home, ".bin/npx"), `[ "$1" = colloquy ] || exit 127\nshift\n${cli} "$@"`);
    // What the command line prints for pasting is as this page calls it.
    process.env["npm_command"] = "exec";
    return new Terminal(home, port);
  }

  async writeFile(file: string, code: string): Promise<void> {
    const path = resolve(this.#cwd, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, code);
  }

  /** Runs a line to its end, or until `isShown` says that what goes on beside has said enough. */
  async run(line: string, isShown: (printed: string) => number | undefined): Promise<CommandResult> {
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
    if (number !== undefined) return await this.#controlJob(verb, Number(number));
    if (line.endsWith(" &")) return await this.#startJob(line.slice(0, -2), isShown);
    const words = parseColloquyCommand(line);
    if (words) return await this.#runInProcess(words);
    const job = new ShellJob(line, this.#cwd, this.#env);
    const code = await job.exitCode;
    return { code, printed: job.output };
  }

  async close(): Promise<void> {
    for (const job of this.#shownLengths.keys()) job.kill("SIGKILL");
    await Promise.all([...this.#shownLengths.keys()].map(({ exitCode: ended }) => ended));
  }

  async #startJob(line: string, isShown: (printed: string) => number | undefined): Promise<CommandResult> {
    const job = new ShellJob(line, this.#cwd, this.#env);
    for (const [number, { hasEnded: isOver }] of this.#jobs) if (isOver) this.#jobs.delete(number);
    this.#jobs.set(Math.max(0, ...this.#jobs.keys()) + 1, job);
    this.#shownLengths.set(job, 0);
    for (;;) {
      const seen = isShown(job.output);
      if (seen !== undefined) {
        this.#shownLengths.set(job, seen);
        return { code: 0, printed: job.output };
      }
      if (job.hasEnded) return { code: job.child.exitCode || 1, printed: job.output };
      await job.waitForOutput();
    }
  }

  async #controlJob(verb: string, number: number): Promise<CommandResult> {
    const job = this.#jobs.get(number);
    if (!job) throw new Error(`There is no job %${number}.`);
    if (verb !== "wait") job.kill(verb === "kill" ? "SIGTERM" : "SIGKILL");
    const code = await job.exitCode;
    if (verb !== "wait") return { code: 0, printed: "" };
    return { code, printed: job.output.slice(this.#shownLengths.get(job)).trimStart() };
  }

  /** Within this process, which is quicker: the command line itself, with nothing of this machine. */
  async #runInProcess(words: readonly string[]): Promise<CommandResult> {
    let printed = "";
    const print = (text: string): void => void (printed += text);
    const code = await runCli(words, {
      streams: { out: print, err: print },
      stdin: Readable.from([]),
      isInteractive: false,
      interruptSignal: new AbortController().signal,
      env: { HOME: this.#env["HOME"] },
      cwd: this.#cwd,
    });
    return { code, printed };
  }
}

/** The words of a line that is nothing but a call of `colloquy` which ends soon; a shell sees to all others. */
function parseColloquyCommand(line: string): string[] | undefined {
  const [, said] =
    /^(?:npx )?colloquy ((?!serve\b|demo\b|mcp\b|auth\b)[^#$|<>;&]+?)(?:\s+#.*)?$/.exec(line) ?? [];
  return said === undefined ? undefined : splitCommand(said);
}

async function writeScript(file: string, body: string): Promise<void> {
  await writeFile(file, `#!/bin/sh\n${body}\n`);
  await chmod(file, 0o755);
}
