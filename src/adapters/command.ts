import { spawn, type ChildProcess } from "node:child_process";
import { basename } from "node:path";
import type { Agent, AgentDescription } from "../engine/index.ts";
import { splitCommand } from "./split-command.ts";
import { agent } from "./generator.ts";
import { failed, type AgentYield } from "./agent-yield.ts";

export interface CommandOptions extends Partial<AgentDescription> {
  /** Run the command line with `/bin/sh -c`, for pipes and redirections. Default: no shell. */
  shell?: boolean;
  /** What the command reads: the `text` of the message (default), or the whole `message` as one line of JSON. */
  stdin?: "text" | "message";
  /** Working directory; this process's when absent. */
  cwd?: string;
  /** Added to this process's environment. */
  env?: Record<string, string>;
  /** Above that many bytes of output the command is stopped and the task fails. Default: 16 MiB. */
  maxOutputBytes?: number;
  /** Between SIGTERM and SIGKILL when the task is cancelled. Default: 5,000 ms. */
  killGraceMs?: number;
}

const MAX_STDERR_BYTES = 4096;
const MAX_STDERR_LINES = 10;

/**
 * A command as an agent, started anew for every message: its standard input is the message, its standard output is
 * streamed as the answer. Exit code 0 completes the task; any other fails it with the last lines of standard error.
 * Cancel stops the whole process group.
 *
 * What a caller says reaches the command through standard input only, never through its arguments or a shell. It finds
 * the task in the environment as `A2A_TASK_ID` and `A2A_CONTEXT_ID`.
 */
export function command(line: string | readonly string[], options: CommandOptions = {}): Agent {
  const { shell, stdin, cwd, env, maxOutputBytes, killGraceMs, ...description } = options;
  const limit = maxOutputBytes ?? 16 * 1024 * 1024;
  const [program, ...args] = buildArgv(line, shell ?? false);
  // Callers learn the name of the program, not its arguments.
  const name = shell ? "shell" : basename(program);
  return agent(
    {
      name,
      description: shell ? "Runs a shell command" : `Runs ${name}`,
      // Nothing else reaches a command that reads text.
      ...(stdin === "message" ? {} : { defaultInputModes: ["text/plain"] }),
      ...description,
    },
    async function* (run): AsyncGenerator<AgentYield, void> {
      run.signal.throwIfAborted();
      const child = spawn(program, args, {
        cwd,
        env: { ...process.env, ...env, A2A_TASK_ID: run.taskId, A2A_CONTEXT_ID: run.contextId },
        // A process group of its own, so that what the command starts is stopped with it.
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
          // A character that is cut by a chunk's border waits for its rest.
          yield decoder.decode(chunk, { stream: true });
        }
        yield decoder.decode();
        const failure = await exit;
        run.signal.throwIfAborted();
        if (failure) yield failed([`${name} ${failure}`, getStderrTail()].join("\n").trim());
      } finally {
        run.signal.removeEventListener("abort", stop);
        stop();
      }
    },
  );
}

function buildArgv(line: string | readonly string[], shell: boolean): [string, ...string[]] {
  if (shell) return ["/bin/sh", "-c", typeof line === "string" ? line : line.join(" ")];
  const [program, ...args] = typeof line === "string" ? splitCommand(line) : line;
  if (program === undefined) throw new TypeError("The command is empty: name a program, for example `jq .`.");
  return [program, ...args];
}

/** Standard output as it comes; its own errors end it, since `waitForExit` tells what happened. */
async function* readStdout(child: ChildProcess): AsyncGenerator<Uint8Array, void> {
  try {
    yield* child.stdout as AsyncIterable<Uint8Array>;
  } catch {
    // The command could not be started.
  }
}

/** How the command ended, for people; undefined when all went well. Never rejects. */
function waitForExit(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) => {
      resolve(
        error.code === "ENOENT"
          ? "could not be started: there is no such program (or working directory)."
          : `could not be started: ${error.message}`,
      );
    });
    child.once("close", (code, signal) => {
      if (signal) resolve(`was ended by ${signal}.`);
      else resolve(code === 0 ? undefined : `exited with code ${code}.`);
    });
  });
}

/** Keeps the end of standard error, and answers its last lines. */
function captureStderrTail(child: ChildProcess): () => string {
  let tail = Buffer.alloc(0);
  child.stderr?.on("data", (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-MAX_STDERR_BYTES);
  });
  return () => tail.toString("utf8").trim().split("\n").slice(-MAX_STDERR_LINES).join("\n");
}

function writeStdin(child: ChildProcess, input: string): void {
  // A command need not read its input (`date` does not), and then the pipe breaks.
  child.stdin?.on("error", () => {});
  child.stdin?.end(input);
}

/** SIGTERM to the process group, and SIGKILL to what is left after the grace; nothing once all of it has ended. */
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
    // Gone in the meantime.
  }
}
