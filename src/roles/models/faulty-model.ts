import { findLastNumber, findStrictAnswer, formatNumber } from "../../cards/index.ts";
import type { ModelReply, ModelRequest, RoleModel } from "../role-model.ts";
import { createKeyedRandom } from "./keyed-random.ts";

/** What goes wrong, and how often: shares from 0 to 1 of the calls that it can happen to. Default 0. */
export interface FaultOptions {
  /** A solver's or answerer's number is another one; words become others. */
  readonly wrong?: number;
  /** The planner's JSON breaks off in the middle. */
  readonly invalidJson?: number;
  /** The model cannot be had. */
  readonly fails?: number;
  /** A call waits first. */
  readonly slow?: { readonly share: number; readonly ms: number };
  /** The planner answers at once, without any solver: when first asked (`once`), or however often (`always`). */
  readonly refuseFirst?: "once" | "always";
  /** The planner gives out its first subtask again and again, and never answers. */
  readonly loop?: boolean;
  /** Default 1. Equal seeds make equal mistakes with equal problems. */
  readonly seed?: number;
  /** Waits. Default: a timer that ends early, and throws the reason, when the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * A model with mistakes put in on purpose, to see what the others make of them: forced first calls, repairs, limits,
 * timeouts, and how errors add up. With an oracle inside and a solver wrong in a share p of its calls, a chain of n calls is
 * right in (1 − p)^n.
 */
export function withFaults(inner: RoleModel, faults: FaultOptions): RoleModel {
  const { wrong = 0, invalidJson = 0, fails = 0, slow, refuseFirst, loop = false } = faults;
  const { seed = 1, sleep = waitUnlessAborted } = faults;

  return {
    id: `faulty(${inner.id})`,
    evidenceKind: "simulated",
    async complete(request): Promise<ModelReply> {
      const { input, signal } = request;
      const happens = (fault: string, share: number): boolean =>
        share > 0 && createKeyedRandom(seed, fault, ...buildCallKey(request))() < share;
      if (slow && happens("slow", slow.share)) await sleep(slow.ms, signal);
      if (happens("fails", fails)) throw new Error("The model cannot be had (a fault put in on purpose).");
      if (input.kind === "plan") {
        const attempt = input.rejectionReason === undefined ? 1 : 2;
        const refuses = refuseFirst === "always" || (refuseFirst === "once" && attempt === 1);
        if (refuses && input.findings.length === 0)
          return createActionReply({ action: "final_answer", answer: "0" });
        const [first] = input.findings;
        if (loop && first) return createActionReply({ action: "call_solver", subtask: first.subtask });
      }
      const reply = await inner.complete(request);
      if (input.kind === "plan") {
        if (!happens("invalidJson", invalidJson)) return reply;
        return { ...reply, text: reply.text.slice(0, Math.ceil(reply.text.length / 2)) };
      }
      if (!happens("wrong", wrong)) return reply;
      const offset = 1 + Math.floor(createKeyedRandom(seed, "off", ...buildCallKey(request))() * 9);
      const text = falsifyAnswer(reply.text, offset);
      return { ...reply, text: input.kind === "answer" ? `Answer: ${text}` : text };
    },
  };
}

/** What makes a call this one and no other, in every run. */
function buildCallKey({ role, input, messages }: ModelRequest): unknown[] {
  const { metadata, content } = input.task;
  const callPosition =
    input.kind === "plan"
      ? [input.turn, input.findings.length, input.rejectionReason]
      : [metadata.turn, metadata.attempt, input.kind === "answer" ? input.sampleNumber : messages.length];
  return [role, input.kind, metadata.sample_id, content, ...callPosition];
}

/** Never what it was, by value or in words. */
function falsifyAnswer(text: string, offset: number): string {
  const number = findStrictAnswer(text) ?? findLastNumber(text);
  return number === undefined ? "something else" : formatNumber(Number(number) + offset);
}

function createActionReply(action: object): ModelReply {
  return { text: JSON.stringify(action), finish: "stop" };
}

async function waitUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", stop, { once: true });
    function done(): void {
      signal.removeEventListener("abort", stop);
      resolve();
    }
    function stop(): void {
      clearTimeout(timer);
      reject(signal.reason as Error);
    }
  });
}
