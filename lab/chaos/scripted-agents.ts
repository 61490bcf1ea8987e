import { setTimeout } from "node:timers/promises";
import type { Agent, AgentEvent, Run } from "../../src/engine/index.ts";
import { getText } from "../../src/protocol/index.ts";
import { formatChunk, parseChunks } from "./chunk-text.ts";

/** What a message asks of a scripted agent, as JSON in the text of the message. */
export interface AgentScript {
  /** Number of chunks to emit. */
  readonly chunks: number;
  /** Time in milliseconds between two chunks. */
  readonly intervalMs: number;
  /** Characters that each chunk has in addition to its number. Default: 0. */
  readonly padding?: number;
  /** Whether the agent kills its process after the first chunk, in every attempt. Default: false. */
  readonly isPoison?: boolean;
}

/** A line that a node reports about an agent. */
export interface AgentReport {
  /** `ended` follows `aborted`, if the agent was aborted. */
  readonly kind: "started" | "aborted" | "ended";
  readonly taskId: string;
  readonly attempt: number;
  /** Monotonic time of the machine in milliseconds. */
  readonly at: number;
}

export const AGENT_POLICIES = ["fail", "restart", "resume"] as const;
export type AgentPolicy = (typeof AGENT_POLICIES)[number];

/** Returns the monotonic time in milliseconds. All processes of the machine share this clock on Linux. */
export function readMonotonicMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Creates an agent that emits numbered chunks. A resumed turn continues after the last stored chunk. */
export function createScriptedAgent(policy: AgentPolicy, onReport: (report: AgentReport) => void): Agent {
  return {
    afterRestart: policy,
    describe: () => ({ name: policy, description: "Emits numbered chunks" }),
    async *execute(run) {
      const { taskId, attempt, signal } = run;
      const report = (kind: AgentReport["kind"]): void =>
        onReport({ kind, taskId, attempt, at: readMonotonicMs() });
      report("started");
      signal.addEventListener("abort", () => report("aborted"));
      try {
        yield* emitChunks(run, policy);
      } finally {
        report("ended");
      }
    },
  };
}

async function* emitChunks(
  { task, message, attempt, signal }: Run,
  policy: AgentPolicy,
): AsyncGenerator<AgentEvent> {
  const script = JSON.parse(getText(message.parts)) as AgentScript;
  const stored = task.artifacts?.find(({ artifactId }) => artifactId === "chunks");
  const first = policy === "resume" && stored ? parseChunks(getText(stored.parts)).length : 0;
  const padding = "x".repeat(script.padding ?? 0);
  for (let number = first; number < script.chunks; number++) {
    const text = formatChunk({ attempt, number, emittedAt: readMonotonicMs() }) + padding;
    yield { artifact: { artifactId: "chunks", parts: [{ text }] }, append: number > 0 };
    if (script.isPoison) {
      // The chunk is stored before the process dies, so that every attempt leaves events.
      await setTimeout(50);
      process.kill(process.pid, "SIGKILL");
    }
    if (script.intervalMs > 0) await setTimeout(script.intervalMs, undefined, { signal });
  }
}
