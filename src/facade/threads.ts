import { Recent } from "../base/index.ts";
import { isInstruction, type ChatMessage } from "./chat-request.ts";
import { toText } from "./chat-parts.ts";

/** Where a conversation goes on: in its context and, where the agent has asked something, in its task. */
export interface Thread {
  readonly contextId: string;
  readonly taskId?: string | undefined;
}

/** Whose conversation it is, and with which agent. */
export interface Party {
  readonly caller: string;
  readonly user: string;
  readonly model: string;
}

const MAX_THREADS = 10_000;

/**
 * Finds the context of a conversation by what was said in it, since chat clients send all of that every time and know
 * nothing of contexts. In memory, the last 10,000.
 *
 * A thread goes on once: who goes back and asks again begins anew, since the agent would remember what was taken back.
 * And two that read the same (two people behind one key who have said "hi") are not told apart, so neither is gone on
 * with: each is told to the agent again, in a context of its own.
 */
export class Threads {
  readonly #threads = new Recent<Thread | "ambiguous">(MAX_THREADS);

  /** The thread that these messages go on with; `undefined` when the agent has to be told what was before. */
  async take(party: Party, messages: readonly ChatMessage[]): Promise<Thread | undefined> {
    const last = messages.findLastIndex(({ role }) => role === "assistant");
    if (last < 0) return undefined;
    const key = await keyOf(party, messages.slice(0, last + 1));
    const found = this.#threads.get(key);
    if (found === undefined || found === "ambiguous") return undefined;
    this.#threads.delete(key);
    return found;
  }

  /** Undoes `take`: the agent has not been told anything. */
  async giveBack(party: Party, messages: readonly ChatMessage[], thread: Thread): Promise<void> {
    const last = messages.findLastIndex(({ role }) => role === "assistant");
    this.#put(await keyOf(party, messages.slice(0, last + 1)), thread);
  }

  /** Keeps where a conversation goes on that now ends with `answer`. */
  async keep(party: Party, messages: readonly ChatMessage[], answer: string, thread: Thread): Promise<void> {
    const key = await keyOf(party, [...messages, { role: "assistant", parts: [{ text: answer }] }]);
    this.#put(key, thread);
  }

  #put(key: string, thread: Thread): void {
    this.#threads.set(key, this.#threads.get(key) === undefined ? thread : "ambiguous");
  }
}

/** Instructions do not count, and neither does space around a text. */
async function keyOf({ caller, user, model }: Party, messages: readonly ChatMessage[]): Promise<string> {
  const said = messages
    .filter(({ role }) => !isInstruction(role))
    .map(({ role, parts }) => [role, toText(parts).trim(), parts.filter((part) => !("text" in part))]);
  const bytes = new TextEncoder().encode(JSON.stringify([caller, user, model, said]));
  const digest = await crypto.subtle.digest("SHA-256", bytes);
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
