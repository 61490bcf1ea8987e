import { spawn, type ChildProcess } from "node:child_process";
import { mkdir, mkdtemp, realpath, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import type { CliContext } from "./cli-context.ts";
import { runCli } from "./main.ts";

const colloquyBinFilePath = fileURLToPath(new URL("../../bin/colloquy.js", import.meta.url));
const typescriptSourceLoaderUrl = new URL("../../test/support/from-source.mjs", import.meta.url).href;

export interface CliTestProcessResult {
  code: number | null;
  out: string;
  err: string;
}

/** A real process of the command line. */
export class CliTestProcess {
  readonly child: ChildProcess;
  readonly result: Promise<CliTestProcessResult>;
  #stdout = "";
  #stderr = "";
  #onOutput: (() => void) | undefined;

  constructor(
    command: string,
    args: readonly string[],
    cwd: string,
    env: Record<string, string> = {},
    stdin: "ended" | "open" = "ended",
  ) {
    this.child = spawn(command, args, { cwd, env: { ...createTestEnvWithoutUserSettings(), ...env } });
    const moreEnv = (chunk: string, stream: "out" | "err"): void => {
      if (stream === "out") this.#stdout += chunk;
      else this.#stderr += chunk;
      this.#onOutput?.();
    };
    this.child.stdout?.setEncoding("utf8").on("data", (chunk: string) => moreEnv(chunk, "out"));
    this.child.stderr?.setEncoding("utf8").on("data", (chunk: string) => moreEnv(chunk, "err"));
    if (stdin === "ended") this.child.stdin?.end();
    this.result = new Promise((resolve) => {
      this.child.once("close", (code) => {
        resolve({ code, out: this.#stdout, err: this.#stderr });
        this.#onOutput?.();
      });
    });
  }

  /** Resolves once `text` appears on stdout or stderr. */
  async waitForOutput(text: string): Promise<string> {
    while (!(this.#stdout + this.#stderr).includes(text)) {
      if (this.child.exitCode !== null)
        throw new Error(`It ended without saying ${text}:\n${this.#stdout}${this.#stderr}`);
      await new Promise<void>((resolve) => {
        this.#onOutput = resolve;
      });
    }
    return this.#stdout + this.#stderr;
  }
}

/** Starts `colloquy` with the given arguments. */
export function spawnColloquyForTest(
  args: readonly string[],
  cwd: string = process.cwd(),
  env: Record<string, string> = {},
): CliTestProcess {
  return new CliTestProcess(process.execPath, [colloquyBinFilePath, ...args], cwd, env);
}

/**
 * Runs the command line within this process, which is faster. Use it for commands that end soon and need no
 * signals.
 */
export async function runCliInTestProcess(
  args: readonly string[],
  overrides: Partial<
    Pick<CliContext, "env" | "cwd" | "stdin" | "isInteractive" | "stdoutColumns" | "stderrColumns">
  > = {},
): Promise<CliTestProcessResult> {
  const ended = { code: 0, out: "", err: "" };
  const streams = {
    out: (text: string) => void (ended.out += text),
    err: (text: string) => void (ended.err += text),
  };
  ended.code = await runCli(args, {
    streams,
    stdin: Readable.from([]),
    isInteractive: false,
    interruptSignal: new AbortController().signal,
    env: { HOME: "/nowhere" },
    cwd: process.cwd(),
    ...overrides,
  });
  return ended;
}

/** Runs a printed command line in a shell. */
export function spawnShellCommandForTest(line: string, cwd: string): CliTestProcess {
  // `exec` makes signals reach the command itself.
  return new CliTestProcess("/bin/sh", ["-c", `exec ${line.trim()}`], cwd);
}

export interface ServingCliTestProcess {
  process: CliTestProcess;
  url: string;
  agentUrls: Record<string, string>;
  banner: string;
}

/** Starts `colloquy serve` or `demo`. Resolves once the server listens. */
export async function startServeCommandForTest(
  args: readonly string[],
  cwd: string,
): Promise<ServingCliTestProcess> {
  const cli = spawnColloquyForTest(
    [...args, ...(args.includes("--port") ? [] : ["--port", "0"]), "-o", "json"],
    cwd,
  );
  const banner = await cli.waitForOutput("Ctrl-C stops it.");
  const json = banner.slice(0, banner.indexOf("\n}\n") + 3);
  const { url, agents } = JSON.parse(json) as { url: string; agents: { id: string; url: string }[] };
  return {
    process: cli,
    url,
    agentUrls: Object.fromEntries(agents.map((one) => [one.id, one.url])),
    banner: banner,
  };
}

/** Creates a temporary directory with the given files. */
export async function createTempTestDirectoryWithFiles(files: Record<string, string>): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "colloquy-")));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), content);
  }
  return directory;
}

/**
 * Returns an environment without the developer's settings and without API keys, so that the demo runs on its
 * scripted model.
 */
export function createTestEnvWithoutUserSettings(): Record<string, string | undefined> {
  const keep = Object.entries(process.env).filter(([name]) => !/^(A2ACLI_|npm_|PORT$)|_API_KEY$/i.test(name));
  return { ...Object.fromEntries(keep), NODE_OPTIONS: `--import ${typescriptSourceLoaderUrl}` };
}
