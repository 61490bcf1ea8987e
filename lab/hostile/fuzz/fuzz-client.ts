import { ChildProcessClient } from "../../bench/child-process-rpc.ts";
import type { ClientRoundResult, FuzzedClientMethods } from "../processes/fuzzed-client-process.ts";
import { MAX_FUZZ_FINDINGS, type FuzzFinding, type FuzzOptions, type FuzzResult } from "./fuzz-result.ts";
import { createHostileRound, type HostileRound } from "./hostile-answers.ts";
import { HostileServer } from "./hostile-server.ts";

const BATCH_SIZE = 500;

/** Runs our client in another process against a server that sends mutated answers. `count` is a number of answers. */
export async function fuzzClient(options: FuzzOptions): Promise<FuzzResult> {
  const { seed, count, firstIndex = 0, deadline = Infinity, reportProgress } = options;
  const pair = await FuzzedClient.start((index) => createHostileRound(seed, index));
  const outcomes: Record<string, number> = {};
  const findings: FuzzFinding[] = [];
  let index = firstIndex;
  try {
    while (pair.answerCount < count && findings.length < MAX_FUZZ_FINDINGS && performance.now() < deadline) {
      const indexes = Array.from({ length: Math.min(BATCH_SIZE, count) }, () => index++);
      const rounds = indexes.map((at) => createHostileRound(seed, at));
      const results = await pair.performRounds(indexes, rounds);
      for (const [at, { outcome, problem }] of results.entries()) {
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
        const isKnown = findings.some((known) => known.problem.slice(0, 200) === problem?.slice(0, 200));
        if (problem !== undefined && !isKnown) findings.push({ problem, input: rounds[at] });
      }
      for (const fault of await pair.takeFaults())
        findings.push({ problem: fault, input: `rounds ${indexes[0]} to ${index} of seed ${seed}` });
      reportProgress?.(pair.answerCount);
    }
    return { name: "client", sent: pair.answerCount, outcomes, findings };
  } finally {
    await pair.stop();
  }
}

/** Our client in another process, and the hostile server in this process. */
export class FuzzedClient {
  readonly #server: HostileServer;
  readonly #process: ChildProcessClient<FuzzedClientMethods>;

  private constructor(server: HostileServer, process: ChildProcessClient<FuzzedClientMethods>) {
    this.#server = server;
    this.#process = process;
  }

  /** `getRound` returns the answers of the round that a request belongs to. */
  static async start(getRound: (index: number) => HostileRound): Promise<FuzzedClient> {
    const module = new URL("../processes/fuzzed-client-process.ts", import.meta.url);
    const process = await ChildProcessClient.start<FuzzedClientMethods>("fuzzed client", module, "any");
    return new FuzzedClient(await HostileServer.start(getRound), process);
  }

  get answerCount(): number {
    return this.#server.answerCount;
  }

  performRounds(
    indexes: readonly number[],
    rounds: readonly HostileRound[],
  ): Promise<readonly ClientRoundResult[]> {
    return this.#process.call(
      "performOperations",
      rounds.map(({ operation }, at) => ({ url: `${this.#server.origin}/${indexes[at]}`, operation })),
    );
  }

  /** Returns unhandled errors of the client's process since the last call. */
  takeFaults(): Promise<string[]> {
    return this.#process.call("takeFaults");
  }

  async stop(): Promise<void> {
    this.#server.close();
    await this.#process.stop();
  }
}
