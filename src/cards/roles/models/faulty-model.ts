import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import { extractAnswer } from "../../index.ts";
import { formatNumberWithoutExponent } from "./oracle-model.ts";
import type { ModelReply, ModelRequest, RoleModel } from "../role-model.ts";
import { untilAborted } from "../../../client/index.ts";

/**
 * Options for `withFaults`. Each numeric option is the fraction of model calls with that fault, 0 to 1.
 * Default: 0.
 */
export interface FaultOptions {
  /**
   * Fraction of wrong replies from solvers and answerers. A wrong reply contains a changed number, or the
   * text "something else" if the correct reply contains no number.
   */
  readonly wrong?: number;
  /** Fraction of planner replies whose JSON is cut off in the middle. */
  readonly invalidJson?: number;
  /** Fraction of calls that fail because the model is unavailable. */
  readonly fails?: number;
  /** Fraction of delayed calls (`share`), and the delay in milliseconds (`ms`). */
  readonly slow?: { readonly share: number; readonly ms: number };
  /**
   * Whether the planner answers before any solver call, either in its first reply (`once`) or in every reply
   * (`always`).
   */
  readonly refuseFirst?: "once" | "always";
  /** Whether the planner repeats its first subtask forever without answering. */
  readonly loop?: boolean;
  /** Seed that selects the faults. The same seed causes the same faults for the same problems. Default: 1. */
  readonly seed?: number;
  /**
   * Function that waits for the delay that `slow` specifies. Default: a timer that rejects with the abort
   * reason if the signal aborts.
   */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const assertKnownOptions = defineOptionNames<FaultOptions>()(
  "withFaults",
  "fails invalidJson loop refuseFirst seed sleep slow wrong",
);

/**
 * Wraps a model and injects faults into the replies. The faults let tests show how planners and reports
 * handle forced first calls, repairs, limits, timeouts, and wrong answers. If each solver reply is wrong with
 * probability p, the result of n dependent solver calls is correct with probability (1 − p)^n.
 */
export function withFaults(inner: RoleModel, faults: FaultOptions): RoleModel {
  assertKnownOptions(faults);
  const { wrong = 0, invalidJson = 0, fails = 0, slow, refuseFirst, loop = false } = faults;
  const { seed = 1, sleep = waitUnlessAborted } = faults;

  return {
    id: `faulty(${inner.id})`,
    evidenceKind: "simulated",
    ...(inner.server !== undefined && { server: inner.server }),
    async complete(request): Promise<ModelReply> {
      const { input, signal } = request;
      const happens = (fault: string, share: number): boolean =>
        share > 0 && createKeyedRandom(seed, fault, ...buildFaultSelectionKey(request))() < share;
      const isSlow = slow !== undefined && happens("slow", slow.share);
      const mark = (reply: ModelReply, ...faults: string[]): ModelReply => {
        const injectedFaults = [...(isSlow ? ["slow"] : []), ...faults];
        return injectedFaults.length > 0 ? { ...reply, injectedFaults } : reply;
      };
      if (isSlow) await sleep(slow.ms, signal);
      if (happens("fails", fails))
        throw Object.assign(new Error("The model is unavailable (injected fault)."), {
          injectedFaults: ["fails"],
        });
      if (input.kind === "plan") {
        const attempt = input.rejectionReason === undefined ? 1 : 2;
        const refuses = refuseFirst === "always" || (refuseFirst === "once" && attempt === 1);
        if (refuses && input.findings.length === 0)
          return mark(createPlannerActionReply({ action: "final_answer", answer: "0" }), "refuseFirst");
        const [first] = input.findings;
        if (loop && first)
          return mark(createPlannerActionReply({ action: "call_solver", subtask: first.subtask }), "loop");
      }
      const reply = await inner.complete(request);
      if (input.kind === "plan") {
        if (!happens("invalidJson", invalidJson)) return mark(reply);
        const half = reply.text.slice(0, Math.ceil(reply.text.length / 2));
        return mark({ ...reply, text: half }, "invalidJson");
      }
      if (!happens("wrong", wrong)) return mark(reply);
      const offset = 1 + Math.floor(createKeyedRandom(seed, "off", ...buildFaultSelectionKey(request))() * 9);
      const text = falsifyAnswer(reply.text, offset);
      return mark({ ...reply, text: input.kind === "answer" ? `Answer: ${text}` : text }, "wrong");
    },
  };
}

/** Builds a key that identifies a model call in every run. */
function buildFaultSelectionKey({ role, input, messages }: ModelRequest): unknown[] {
  const { metadata, content } = input.task;
  const callPosition =
    input.kind === "plan"
      ? [input.turn, input.findings.length, input.rejectionReason]
      : [metadata.turn, metadata.attempt, input.kind === "answer" ? input.sampleNumber : messages.length];
  return [role, input.kind, metadata.sample_id, content, ...callPosition];
}

/** Replaces an answer with a different value and a different text. */
function falsifyAnswer(text: string, offset: number): string {
  const number = extractAnswer(text, "number").answer;
  return number === undefined ? "something else" : formatNumberWithoutExponent(Number(number) + offset);
}

function createPlannerActionReply(action: object): ModelReply {
  return { text: JSON.stringify(action), finish: "stop" };
}

async function waitUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  const elapsed = Promise.withResolvers<void>();
  const timer = setTimeout(elapsed.resolve, ms);
  await untilAborted(elapsed.promise, signal).finally(() => clearTimeout(timer));
}

/**
 * Creates a random number generator from a seed and a key. The same seed and key always produce the same
 * numbers, regardless of the order of the problems.
 */
export function createKeyedRandom(seed: number, ...key: readonly unknown[]): () => number {
  // 32-bit FNV-1a hash.
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(JSON.stringify([seed, ...key]))) {
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  const random = createSeededRandom(hash);
  // Similar seeds produce similar first numbers, so the first number is discarded.
  random();
  return random;
}

/**
 * Creates a random number generator that returns the same numbers for the same seed on every platform
 * (mulberry32).
 */
export function createSeededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
