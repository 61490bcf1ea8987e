import { LruCache } from "../../base/data-structures/index.ts";
import type { Task } from "../../protocol/index.ts";

/** Maximum number of questions of one task to the user within a minute. */
const MAX_QUESTIONS = 4;
const WINDOW_MS = 60_000;
const MAX_TASKS = 10_000;

interface TaskQuestions {
  /** Times of the questions to the user, by the key of the question. */
  readonly askedAtMs: Map<string, number>;
  /** The last question that the model answers. */
  keyForModel?: string;
}

/**
 * Limits how often an agent may interrupt the user. The model answers the questions above the limit. A decision about a
 * question stays the same when the host reads the task again.
 */
export class QuestionLimiter {
  readonly #questionsByTask = new LruCache<TaskQuestions>(MAX_TASKS);
  readonly #now: () => number;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Returns whether the user may receive the current question of a task. */
  allows({ id, status }: Task): boolean {
    const key = status.message?.messageId ?? status.timestamp ?? "";
    const questions: TaskQuestions = this.#questionsByTask.get(id) ?? { askedAtMs: new Map() };
    const { askedAtMs } = questions;
    if (askedAtMs.has(key)) return true;
    if (questions.keyForModel === key) return false;
    const now = this.#now();
    for (const [earlier, atMs] of askedAtMs) if (now - atMs >= WINDOW_MS) askedAtMs.delete(earlier);
    const isAllowed = askedAtMs.size < MAX_QUESTIONS;
    if (isAllowed) askedAtMs.set(key, now);
    else questions.keyForModel = key;
    this.#questionsByTask.set(id, questions);
    return isAllowed;
  }
}

/** Returns the text that a user receives. The user knows the name that the operator of the host gave to the agent. */
export function formatQuestion(agentId: string, question: string): string {
  return `The agent ${JSON.stringify(agentId)} asks: ${question}`;
}
