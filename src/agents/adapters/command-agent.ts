import { type ChildProcess, spawn } from "node:child_process";
import { basename } from "node:path";
import { defineOptionNames } from "../../base/usage-checks/index.ts";
import type { Agent, AgentDescription, TurnPolicy } from "../../engine/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { type AgentYield, failed } from "./agent-yield.ts";
import { createChildEnvironment, toSafeEnvironmentId } from "./command-environment.ts";
import { ADAPTER_OPTION_NAMES, createAdapterAgent } from "./generator-agent.ts";

/** Options for `command`. */
export interface CommandOptions extends Partial<AgentDescription>, TurnPolicy {
  /**
   * Whether the command line runs in `/bin/sh -c`, which enables pipes and redirections. Not available on Windows.
   * Default: false.
   */
  shell?: boolean;
  /**
   * The standard input of the command. With `text`, the command reads the text of the message. With
   * `message`, the command reads the complete message as one line of JSON. Default: `text`.
   */
  stdin?: "text" | "message";
  /**
   * Working directory of the command. By default, the command runs in the working directory of this process.
   */
  cwd?: string;
  /** Environment variables of the command, in addition to the inherited variables. Default: none. */
  env?: Record<string, string>;
  /**
   * Names of environment variables of this process that the command also inherits, such as `OPENAI_API_KEY`. By
   * default, the command inherits only variables without secrets, such as `PATH`, `HOME`, `LANG`, and `TMPDIR`.
   */
  passEnv?: readonly string[];
  /**
   * Maximum number of bytes that the command may write. If a command writes more than `maxOutputBytes`, the
   * command is stopped and its task fails. Default: 16 MiB.
   */
  maxOutputBytes?: number;
  /** Time in milliseconds between SIGTERM and SIGKILL after the task is canceled. Default: 5,000. */
  killGraceMs?: number;
  /**
   * Determines what happens to a turn that a server restart interrupted. `restart` runs the command again, with the
   * number of the attempt in `COLLOQUY_ATTEMPT`. `fail` ends the task as FAILED. Default: `fail`.
   */
  afterRestart?: "fail" | "restart";
  /**
   * Determines whether the last chunk of the streamed answer repeats the entire answer (`whole`) or contains
   * only new content (`pieces`). The function `agent` has the same option. Default: `whole`.
   */
  artifacts?: "whole" | "pieces";
}

const assertKnownOptions = defineOptionNames<CommandOptions>()(
  "command",
  ADAPTER_OPTION_NAMES,
  "afterRestart cwd env killGraceMs maxOutputBytes passEnv shell stdin",
);

const MAX_STDERR_BYTES = 4096;
const MAX_STDERR_LINES = 10;

/**
 * Creates an agent that runs a command for every message. The command reads the message from standard input.
 * The standard output of the command becomes the streamed answer. An exit code of 0 completes the task. An
 * exit code other than 0 fails the task. The observer of the server, and not the caller, receives the last lines
 * of standard error. Canceling the task stops the process group of the command.
 *
 * The command receives message content only through standard input, and never through arguments or a shell.
 * The environment variables `A2A_TASK_ID` and `A2A_CONTEXT_ID` identify the task. `COLLOQUY_ATTEMPT` is the number of
 * the attempt at the turn, from 1. `COLLOQUY_IDEMPOTENCY_KEY` identifies the turn in all its attempts. The command
 * inherits no other variables that may contain secrets of the server, unless `passEnv` names them.
 */
export function command(line: string | readonly string[], options: CommandOptions = {}): Agent {
  assertKnownOptions(options);
  const { shell, stdin, cwd, env, passEnv = [], maxOutputBytes, killGraceMs, ...agentOptions } = options;
  const limit = maxOutputBytes ?? 16 * 1024 * 1024;
  const [program, ...args] = buildArgv(line, shell ?? false);
  // Callers see the program's name, but not its arguments.
  const name = shell ? "shell" : basename(program);
  return createAdapterAgent(
    {
      name,
      description: shell ? "Runs a shell command" : `Runs ${name}`,
      // A command that reads text receives only text.
      ...(stdin === "message" ? {} : { defaultInputModes: ["text/plain"] }),
      ...agentOptions,
    },
    async function* (run): AsyncGenerator<AgentYield, void> {
      run.signal.throwIfAborted();
      const child = spawn(program, args, {
        cwd,
        env: createChildEnvironment(process.env, (variable) => passEnv.includes(variable), {
          ...env,
          A2A_TASK_ID: toSafeEnvironmentId(run.taskId),
          A2A_CONTEXT_ID: toSafeEnvironmentId(run.contextId),
          COLLOQUY_ATTEMPT: String(run.attempt),
          COLLOQUY_IDEMPOTENCY_KEY: run.idempotencyKey,
        }),
        // The command runs in its own process group, so that its child processes are stopped with it.
        detached: true,
        windowsHide: true,
      });
      const stop = createProcessStopper(child, killGraceMs ?? 5000);
      run.signal.addEventListener("abort", stop);
      const exit = waitForExit(child);
      const getStderrTail = captureStderrTail(child);
      writeStdin(child, stdin === "message" ? `${JSON.stringify(run.message)}\n` : run.text);
      try {
        const decoder = new TextDecoder();
        let remainingBytes = limit;
        for await (const chunk of readStdout(child)) {
          remainingBytes -= chunk.length;
          if (remainingBytes < 0) yield failed(`${name} was stopped: it wrote more than ${limit} bytes.`);
          // The decoder keeps a character that is split between two chunks until it is complete.
          yield decoder.decode(chunk, { stream: true });
        }
        yield decoder.decode();
        const failure = await exit;
        run.signal.throwIfAborted();
        if (failure) throw createCommandError(`${name} ${failure}`, getStderrTail());
      } finally {
        run.signal.removeEventListener("abort", stop);
        stop();
      }
    },
  );
}

/**
 * Creates the error of a failed command. The caller receives only the message. The observer also receives the cause,
 * because standard error may contain paths and secrets of the server.
 */
function createCommandError(message: string, stderrTail: string): A2AError {
  const cause = stderrTail === "" ? undefined : new Error(`The command wrote to stderr: ${stderrTail}`);
  return new A2AError("INTERNAL", message, { cause });
}

function buildArgv(line: string | readonly string[], shell: boolean): [string, ...string[]] {
  if (shell) return ["/bin/sh", "-c", typeof line === "string" ? line : line.join(" ")];
  const [program, ...args] = typeof line === "string" ? splitCommand(line) : line;
  if (program === undefined) throw new TypeError("The command is empty. Name a program, for example `jq .`.");
  return [program, ...args];
}

/**
 * Yields standard output. A stream error ends the output without an exception. `waitForExit` reports the
 * failure.
 */
async function* readStdout(child: ChildProcess): AsyncGenerator<Uint8Array, void> {
  try {
    yield* child.stdout as AsyncIterable<Uint8Array>;
  } catch {
    // The command could not be started.
  }
}

/**
 * Resolves when the command has ended. The value describes the failure, or is `undefined` if the command
 * succeeded. Never rejects.
 */
function waitForExit(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) => {
      resolve(
        error.code === "ENOENT"
          ? "could not be started: the program or the working directory does not exist."
          : `could not be started: ${error.message}`,
      );
    });
    child.once("close", (code, signal) => {
      if (signal) resolve(`was ended by ${signal}.`);
      else resolve(code === 0 ? undefined : `exited with code ${code}.`);
    });
  });
}

/** Captures the end of standard error, and returns a function that returns the last captured lines. */
function captureStderrTail(child: ChildProcess): () => string {
  let tail = Buffer.alloc(0);
  child.stderr?.on("data", (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-MAX_STDERR_BYTES);
  });
  return () => tail.toString("utf8").trim().split("\n").slice(-MAX_STDERR_LINES).join("\n");
}

function writeStdin(child: ChildProcess, input: string): void {
  // A command that does not read its input, such as `date`, breaks the pipe.
  child.stdin?.on("error", () => {});
  child.stdin?.end(input);
}

/**
 * Returns a function that sends SIGTERM to the process group of a command, and SIGKILL after the grace
 * period. The returned function does nothing after the command has ended.
 */
function createProcessStopper(child: ChildProcess, graceMs: number): () => void {
  let stopping = child.pid === undefined;
  let killTimer: NodeJS.Timeout | undefined;
  child.once("close", () => {
    stopping = true;
    clearTimeout(killTimer);
  });
  return () => {
    if (stopping) return;
    stopping = true;
    signalProcessGroup(child, "SIGTERM");
    killTimer = setTimeout(() => signalProcessGroup(child, "SIGKILL"), graceMs);
  };
}

function signalProcessGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (process.platform === "win32") child.kill(signal);
    else process.kill(-(child.pid as number), signal);
  } catch {
    // The process group has already ended.
  }
}

/**
 * Splits a command line into arguments. Blanks, single quotes, double quotes, and backslashes have the same
 * meaning as in a shell. No shell runs, so variables and wildcards are not expanded. Unquoted pipes,
 * redirections, and substitutions are rejected instead of becoming arguments.
 */
export function splitCommand(line: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (let index = 0; index < line.length; index++) {
    const char = line.charAt(index);
    if (quote === "'") {
      if (char === quote) quote = undefined;
      else word += char;
    } else if (char === "\\" && index + 1 < line.length) {
      const next = line.charAt(++index);
      // Inside "…", a backslash only escapes a quotation mark or a backslash.
      word = (word ?? "") + (quote && next !== '"' && next !== "\\" ? char + next : next);
    } else if (quote) {
      if (char === quote) quote = undefined;
      else word += char;
    } else if (char === "'" || char === '"') {
      quote = char;
      word ??= "";
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (/[|&;<>`]/.test(char) || (char === "$" && line.charAt(index + 1) === "(")) {
      throw new TypeError(
        `The command \`${line}\` uses \`${char}\`, which requires a shell. Quote it, or enable the \`shell\` option.`,
      );
    } else word = (word ?? "") + char;
  }
  if (quote) throw new TypeError(`The command \`${line}\` has an unclosed ${quote}.`);
  if (word !== undefined) words.push(word);
  if (words.length === 0) throw new TypeError("The command is empty. Name a program, for example `jq .`.");
  return words;
}
