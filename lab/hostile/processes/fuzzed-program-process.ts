/** Runs the command line and opens stores for the fuzzers of arguments and files. */
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { mkdirSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { Readable } from "node:stream";
import { serveParentProcessCalls } from "../../bench/child-process-rpc.ts";
import { generateStoredTasks } from "../../bench/growth/generate-stored-tasks.ts";
import { runCli } from "../../../src/cli/main.ts";
import { createServer } from "../../../src/server/index.ts";
import type { CommandInput, ProgramInput, StoreInput } from "../fuzz/program-input.ts";
import { ATTACKED_AGENTS } from "../attacked-server.ts";
import { ProcessFaultRecorder } from "./process-faults.ts";

/** Time after which a command counts as hung. */
const MAX_MS = 20_000;

export interface ProgramResult {
  readonly outcome: string;
  readonly problem?: string;
}

export type FuzzedProgramMethods = {
  runProgram(input: ProgramInput): Promise<ProgramResult>;
};

const faults = new ProcessFaultRecorder();
const root = mkdtempSync(join(tmpdir(), "colloquy-hostile-"));
process.on("exit", () => rmSync(root, { recursive: true, force: true }));
const storeBytes = createStoreBytes();
let inputCount = 0;

serveParentProcessCalls({
  async runProgram(input) {
    const folder = join(root, String(inputCount++));
    mkdirSync(folder);
    const interrupt = new AbortController();
    const hung = Promise.withResolvers<ProgramResult>();
    const timer = setTimeout(() => {
      interrupt.abort();
      hung.resolve({ outcome: "hung", problem: `the program did not end in ${MAX_MS} ms` });
    }, MAX_MS);
    try {
      const result = await Promise.race([
        input.kind === "command" ? runCommand(input, folder, interrupt.signal) : openStore(input, folder),
        hung.promise,
      ]);
      const [fault] = faults.take();
      return result.problem === undefined && fault !== undefined ? { ...result, problem: fault } : result;
    } finally {
      clearTimeout(timer);
      rmSync(folder, { recursive: true, force: true });
    }
  },
} satisfies FuzzedProgramMethods);

async function runCommand(
  { args, files, stdin }: CommandInput,
  folder: string,
  interruptSignal: AbortSignal,
): Promise<ProgramResult> {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  let output = "";
  const write = (text: string): void => void (output += text);
  const exitCode = await runCli(args, {
    streams: { out: write, err: write },
    stdin: Readable.from([stdin]),
    isInteractive: false,
    interruptSignal,
    env: { HOME: folder },
    cwd: folder,
  });
  const outcome = `exit code ${exitCode}`;
  const internal = /A2ACLI_ERR_INTERNAL[^\n]*|TypeError[^\n]*|RangeError[^\n]*/.exec(output)?.[0];
  // oxlint-disable-next-line no-control-regex -- the search for control characters
  const control = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/u.exec(output)?.[0];
  if (internal !== undefined) return { outcome, problem: `the command failed internally: ${internal}` };
  if (control !== undefined)
    return { outcome, problem: `the output contains the control character ${JSON.stringify(control)}` };
  return { outcome };
}

/** A server opens a damaged store, and replies to requests. It may report that the store is damaged. */
async function openStore({ edits, length }: StoreInput, folder: string): Promise<ProgramResult> {
  const file = join(folder, "tasks.db");
  const bytes = Buffer.from(storeBytes);
  for (const [offset, byte] of edits) if (offset < bytes.length) bytes[offset] = byte;
  writeFileSync(file, bytes);
  if (length !== undefined) truncateSync(file, Math.min(length, bytes.length));
  const server = createServer(ATTACKED_AGENTS, {
    store: `sqlite:${file}`,
    observer: false,
    push: false,
    authenticate: () => ({ tenant: "", principal: "alice" }),
  });
  try {
    const { url } = await server.listen();
    const response = await fetch(`${url}/a2a/echo/tasks?pageSize=100`, { headers: { "a2a-version": "1.0" } });
    const { tasks = [] } = (await response.json()) as { tasks?: { id: string }[] };
    for (const { id } of tasks.slice(0, 5)) {
      const task = await fetch(`${url}/a2a/echo/tasks/${encodeURIComponent(id)}`, {
        headers: { "a2a-version": "1.0" },
      });
      await task.text();
    }
    return { outcome: `opened, ${response.status}` };
  } catch (error) {
    const isCrash = error instanceof TypeError || error instanceof RangeError;
    return {
      outcome: "refused to open",
      ...(isCrash ? { problem: `opening the store failed: ${error.stack}` } : {}),
    };
  } finally {
    await server.close({ graceMs: 100 }).catch(() => {});
  }
}

function createStoreBytes(): Buffer {
  const file = join(root, "base.db");
  generateStoredTasks(file, 50);
  const database = new DatabaseSync(file);
  database.exec("UPDATE scope SET agent = 'echo', principal = 'alice'");
  database.close();
  return readFileSync(file);
}
