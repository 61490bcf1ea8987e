/** Runs our client against the hostile server of the client fuzzer. */
import { serveParentProcessCalls } from "../../bench/child-process-rpc.ts";
import { connect, TaskNotCompletedError, type A2AClient } from "../../../src/client/index.ts";
import { A2AError } from "../../../src/protocol/index.ts";
import type { ClientOperation } from "../fuzz/hostile-answers.ts";
import { ProcessFaultRecorder } from "./process-faults.ts";

/** Time after which a call counts as hung. */
const CALL_TIMEOUT_MS = 10_000;
const MAX_EVENTS = 1000;

export interface ClientRoundResult {
  /** `resolved`, or the reason of the error. */
  readonly outcome: string;
  readonly problem?: string;
}

export type FuzzedClientMethods = {
  /** Performs one operation per element against the server whose URL the element contains. */
  performOperations(
    rounds: readonly { readonly url: string; readonly operation: ClientOperation }[],
  ): Promise<ClientRoundResult[]>;
  /** Returns unhandled errors of the process since the last call. */
  takeFaults(): string[];
};

const faults = new ProcessFaultRecorder();

serveParentProcessCalls({
  async performOperations(rounds) {
    const results: ClientRoundResult[] = [];
    let next = 0;
    const perform = async (): Promise<void> => {
      while (next < rounds.length) {
        const index = next++;
        const round = rounds[index];
        if (round) results[index] = await performRound(round.url, round.operation);
      }
    };
    await Promise.all(Array.from({ length: 8 }, perform));
    return results;
  },
  takeFaults: () => faults.take(),
} satisfies FuzzedClientMethods);

async function performRound(url: string, operation: ClientOperation): Promise<ClientRoundResult> {
  const stopTimer = new AbortController();
  const timeout = new Promise<ClientRoundResult>((resolve) => {
    const timer = setTimeout(
      () => resolve({ outcome: "hung", problem: `${operation} did not end in ${CALL_TIMEOUT_MS} ms` }),
      CALL_TIMEOUT_MS,
    );
    stopTimer.signal.addEventListener("abort", () => clearTimeout(timer));
  });
  const round = (async (): Promise<ClientRoundResult> => {
    try {
      const noRetries = { maxRetries: 0 };
      const client = await connect(`${url}/card.json`, { retry: noRetries, reconnect: noRetries });
      if (operation !== "connect") await callOperation(client, operation);
      return { outcome: "resolved" };
    } catch (error) {
      if (error instanceof A2AError) return { outcome: error.reason };
      if (error instanceof TaskNotCompletedError) return { outcome: "task not completed" };
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return { outcome: "crashed", problem: `${operation} threw another error than an A2AError: ${text}` };
    }
  })();
  return await Promise.race([round, timeout]).finally(() => stopTimer.abort());
}

async function callOperation(
  client: A2AClient,
  operation: Exclude<ClientOperation, "connect">,
): Promise<void> {
  switch (operation) {
    case "send":
      await client.send("hi");
      return;
    case "ask":
      await client.ask("hi");
      return;
    case "stream":
      return await readEvents(client.stream("hi"));
    case "subscribe":
      return await readEvents(client.tasks.subscribe("t-1"));
    case "get":
      await client.tasks.get("t-1");
      return;
    case "list":
      await client.tasks.list();
      return;
    case "cancel":
      await client.tasks.cancel("t-1");
      return;
    case "push":
      await client.tasks.pushConfigs.create("t-1", { url: "https://example.com/hook" });
      await client.tasks.pushConfigs.list("t-1");
      return;
    case "extended card":
      await client.getExtendedCard();
      return;
  }
}

async function readEvents(events: AsyncIterable<unknown>): Promise<void> {
  let count = 0;
  for await (const _ of events) if (++count === MAX_EVENTS) return;
}
