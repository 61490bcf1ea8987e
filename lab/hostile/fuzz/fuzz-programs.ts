import { ChildProcessClient } from "../../bench/child-process-rpc.ts";
import type { FuzzedProgramMethods, ProgramResult } from "../processes/fuzzed-program-process.ts";
import { FuzzedServer } from "./fuzzed-server.ts";
import { fillPlaceholderTexts } from "./fuzz-request.ts";
import { MAX_FUZZ_FINDINGS, type FuzzFinding, type FuzzOptions, type FuzzResult } from "./fuzz-result.ts";
import { createCommandInput, createFileInput, type ProgramInput } from "./program-input.ts";

/** Inputs after which the tasks of the server are created anew. */
const BATCH_SIZE = 200;

/** Runs commands with mutated arguments and input. */
export function fuzzCommandLine(options: FuzzOptions): Promise<FuzzResult> {
  return fuzzPrograms("cli", createCommandInput, options);
}

/** Reads mutated recordings, cards, keys, settings, and stores. */
export function fuzzFiles(options: FuzzOptions): Promise<FuzzResult> {
  return fuzzPrograms("files", createFileInput, options);
}

async function fuzzPrograms(
  name: string,
  createInput: (seed: string, index: number) => ProgramInput,
  { seed, count, firstIndex = 0, deadline = Infinity, reportProgress }: FuzzOptions,
): Promise<FuzzResult> {
  const runner = await ProgramRunner.start();
  const outcomes: Record<string, number> = {};
  const findings: FuzzFinding[] = [];
  let sent = 0;
  try {
    while (sent < count && findings.length < MAX_FUZZ_FINDINGS && performance.now() < deadline) {
      if (sent > 0 && sent % BATCH_SIZE === 0) {
        await runner.renewPlaceholders();
        reportProgress?.(sent);
      }
      const input = createInput(seed, firstIndex + sent++);
      const { outcome, problem } = await runner.run(input);
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      const isKnown = findings.some((known) => known.problem.slice(0, 100) === problem?.slice(0, 100));
      if (problem !== undefined && !isKnown) findings.push({ problem, input });
    }
    return { name, sent, outcomes, findings };
  } finally {
    await runner.stop();
  }
}

/** Runs inputs in another process, with a server for the commands that call one. */
export class ProgramRunner {
  readonly #server: FuzzedServer;
  readonly #process: ChildProcessClient<FuzzedProgramMethods>;

  private constructor(server: FuzzedServer, process: ChildProcessClient<FuzzedProgramMethods>) {
    this.#server = server;
    this.#process = process;
  }

  static async start(): Promise<ProgramRunner> {
    const module = new URL("../processes/fuzzed-program-process.ts", import.meta.url);
    const process = await ChildProcessClient.start<FuzzedProgramMethods>("fuzzed program", module, "any");
    return new ProgramRunner(await FuzzedServer.start(), process);
  }

  /** Resolves also if the input ends the process, which is a problem. */
  async run(input: ProgramInput): Promise<ProgramResult> {
    const placeholders = { ...this.#server.placeholders, $URL: `${this.#server.origin}/a2a/echo` };
    const filled =
      input.kind === "store"
        ? input
        : { ...input, args: input.args.map((text) => fillPlaceholderTexts(text, placeholders)) };
    return await this.#process
      .call("runProgram", filled)
      .catch((error: unknown) => ({ outcome: "crashed", problem: String(error) }));
  }

  renewPlaceholders(): Promise<void> {
    return this.#server.renewPlaceholders();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#process.stop(), this.#server.stop()]);
  }
}
