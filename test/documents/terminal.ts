import { spawn, type ChildProcess } from "node:child_process";
import { chmod, mkdir, mkdtemp, realpath, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { splitCommand } from "../../src/agents/adapters/command-agent.ts";
import { runCli } from "../../src/cli/main.ts";
import { createTestEnvWithoutUserSettings } from "../../src/cli/cli-test-process.fixture.ts";
import { root } from "./code-blocks.ts";

/**
 * Time limit for a command in milliseconds. It is far above the duration of any page, because a server of a page runs
 * until the end of the page, and below the time limit of a test, so that the test shows the output of the command.
 */
const JOB_TIMEOUT_MS = 100_000;

/** A running or completed command. */
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
      // A job is a process group, so that a signal reaches all its processes.
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

  /** Resolves when the command prints output or ends. */
  waitForOutput(): Promise<unknown> {
    return Promise.race([this.exitCode, new Promise<void>((done) => (this.#onOutput = done))]);
  }
}

/** The exit code and the output of a command. */
export interface CommandResult {
  readonly code: number;
  readonly printed: string;
}

/**
 * Emulates a terminal in a project with the package installed. It runs the commands of one page in sequence.
 * A command with `&` runs in the background as job %1, %2, and so on.
 */
export class Terminal {
  readonly home: string;
  #cwd: string;
  readonly #env: NodeJS.ProcessEnv;
  /** Jobs by the numbers that a shell assigns. */
  readonly #jobs = new Map<number, ShellJob>();
  /** The length of the output that the page has already shown, for each job. */
  readonly #shownLengths = new Map<ShellJob, number>();

  readonly #runsInProcess: boolean;

  private constructor(home: string, port: string, runsInProcess: boolean) {
    this.home = home;
    this.#runsInProcess = runsInProcess;
    this.#cwd = home;
    this.#env = {
      ...createTestEnvWithoutUserSettings(),
      PATH: `${join(home, ".bin")}:${dirname(process.execPath)}:${process.env["PATH"]}`,
      HOME: join(home, ".home"),
      PORT: port,
      npm_command: "exec",
    };
  }

  /** Without `runtime`, the command and its arguments of another runtime, the commands run on Node.js. */
  static async open(port: string, runtime?: readonly string[]): Promise<Terminal> {
    const home = await realpath(await mkdtemp(join(tmpdir(), "colloquy-page-")));
    for (const name of [".bin", ".home"]) await mkdir(join(home, name));
    // Files of the repository that pages refer to.
    for (const name of ["docs", "examples"]) await symlink(join(root, name), join(home, name));
    if (runtime) {
      // Other runtimes load the built package, because they lack the hooks of the tests that load the sources.
      await mkdir(join(home, "node_modules"));
      await symlink(root, join(home, "node_modules/colloquy"));
    } else await symlink(join(root, "node_modules"), join(home, "node_modules"));
    await writeFile(join(home, "package.json"), `{ "type": "module" }`);
    const adk = JSON.stringify(join(root, "examples/02-adk-agent.ts"));
    await writeFile(join(home, "agent.ts"), `export { rootAgent } from ${adk};\n`);
    const program = (runtime ?? [process.execPath]).map((word) => JSON.stringify(word)).join(" ");
    const cli = `exec ${program} ${JSON.stringify(join(root, "bin/colloquy.js"))}`;
    if (runtime) await writeScript(join(home, ".bin/node"), `exec ${program} "$@"`);
    await writeScript(join(home, ".bin/colloquy"), `${cli} "$@"`);
    await writeScript(
      join(home, ".bin/npx"),
      `[ "$1 $2 $3" = "--no -- colloquy" ] || exit 127\nshift 3\n${cli} "$@"`,
    );
    // Makes printed commands start with `npx --no -- colloquy`, as in the pages.
    process.env["npm_command"] = "exec";
    const terminal = new Terminal(home, port, runtime === undefined);
    if (runtime) delete terminal.#env["NODE_OPTIONS"];
    return terminal;
  }

  async writeFile(file: string, code: string): Promise<void> {
    const path = resolve(this.#cwd, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, code);
  }

  /** Runs a line until it ends. A background command runs until `isShown` returns a position. */
  async run(line: string, isShown: (printed: string) => number | undefined): Promise<CommandResult> {
    const [, directory] = /^cd (\S+)$/.exec(line) ?? [];
    if (directory !== undefined) {
      this.#cwd = resolve(this.#cwd, directory);
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
    const words = this.#runsInProcess ? parseColloquyCommand(line) : undefined;
    if (words) return await this.#runInProcess(words);
    const job = new ShellJob(line, this.#cwd, this.#env);
    const code = await job.exitCode;
    return { code, printed: job.output };
  }

  async close(): Promise<void> {
    for (const job of this.#shownLengths.keys()) job.kill("SIGKILL");
    await Promise.all([...this.#shownLengths.keys()].map(({ exitCode }) => exitCode));
  }

  async #startJob(line: string, isShown: (printed: string) => number | undefined): Promise<CommandResult> {
    const job = new ShellJob(line, this.#cwd, this.#env);
    for (const [number, { hasEnded }] of this.#jobs) if (hasEnded) this.#jobs.delete(number);
    this.#jobs.set(Math.max(0, ...this.#jobs.keys()) + 1, job);
    this.#shownLengths.set(job, 0);
    for (;;) {
      const shownLength = isShown(job.output);
      if (shownLength !== undefined) {
        this.#shownLengths.set(job, shownLength);
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

  /** Runs the command line within this process, which is faster, with an empty environment. */
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

/** Returns the arguments of a simple `colloquy` call that ends soon. A shell runs every other line. */
function parseColloquyCommand(line: string): string[] | undefined {
  const [, commandLine] =
    /^(?:npx --no -- )?colloquy ((?!serve\b|demo\b|mcp\b|auth\b)[^#$|<>;&]+?)(?:\s+#.*)?$/.exec(line) ?? [];
  return commandLine === undefined ? undefined : splitCommand(commandLine);
}

async function writeScript(file: string, body: string): Promise<void> {
  await writeFile(file, `#!/bin/sh\n${body}\n`);
  await chmod(file, 0o755);
}
