import { computeSha256Hex } from "../base/data-structures/index.ts";
import type { Clock } from "./clock.ts";
import { createTurnEndedError } from "./task-errors.ts";
import type { FinishedStep } from "./task-store.ts";

const IDEMPOTENCY_KEY_DIGITS = 32;
const MAX_KEY_LENGTH = 256;
/** Maximum total length of the keys and results of one turn, in characters. */
const MAX_TOTAL_LENGTH = 64 * 2 ** 20;

/** Information for the function of a step. */
export interface StepExecution {
  /**
   * Identifies the step of this turn in every attempt. Pass the key to services that accept idempotency keys, because
   * a step that was in flight when its process died is executed again. 32 hexadecimal digits.
   */
  readonly idempotencyKey: string;
  /** Number of the current attempt at the turn, from 1. */
  readonly attempt: number;
  /** Signal that aborts when the task is canceled, a time limit is exceeded, or the server closes. */
  readonly signal: AbortSignal;
}

/** The turn whose steps are executed. */
interface TurnOfSteps {
  readonly task: { readonly taskId: string };
  /** Sequence number of the turn's message. */
  readonly seq: number;
  readonly attempt: number;
  readonly signal: AbortSignal;
  /** True if the server ignores the agent's further output. */
  readonly hasEnded: boolean;
  /** Resolves when the finished steps of the turn are durable, as far as the turn can be attempted again. */
  commitSteps(): Promise<void>;
}

/**
 * The steps of one turn. A step is executed once: a later attempt at the turn, and a second call in the same attempt,
 * receive the stored result (E18). Errors are not stored.
 */
export class TurnSteps {
  readonly #finished = new Map<string, FinishedStep>();
  readonly #unstored = new Set<FinishedStep>();
  /** Steps whose function is running, or whose result is not durable. */
  readonly #running = new Map<string, Promise<FinishedStep>>();
  readonly #turn: TurnOfSteps;
  #totalLength = 0;

  /** `stored` contains the steps that earlier attempts have finished. */
  constructor(turn: TurnOfSteps, stored: readonly FinishedStep[] = []) {
    this.#turn = turn;
    for (const step of stored) this.#addFinished(step);
  }

  /** Resolves with the result of the step `key`, which `execute` returns if no attempt has finished the step. */
  async executeOnce<T>(key: string, execute: (step: StepExecution) => T | PromiseLike<T>): Promise<T> {
    assertValidStepKey(key);
    if (typeof execute !== "function")
      throw new TypeError(
        `"execute" of run.once(${JSON.stringify(key)}, execute) is not a function; pass a function, such as async () => 1.`,
      );
    const step = await (this.#running.get(key) ?? this.#finished.get(key) ?? this.#start(key, execute));
    return decodeStepResult(step.json) as T;
  }

  #start(key: string, execute: (step: StepExecution) => unknown): Promise<FinishedStep> {
    const running = this.#executeAndCommit(key, execute).finally(() => this.#running.delete(key));
    this.#running.set(key, running);
    return running;
  }

  async #executeAndCommit(key: string, execute: (step: StepExecution) => unknown): Promise<FinishedStep> {
    this.#assertTurnAcceptsSteps();
    const { task, seq: turnSeq, attempt, signal } = this.#turn;
    signal.throwIfAborted();
    const idempotencyKey = createIdempotencyKey(task.taskId, turnSeq, key);
    const result = await execute({ idempotencyKey, attempt, signal });
    const step = { turnSeq, key, json: encodeStepResult(key, result) };
    if (this.#totalLength + step.json.length > MAX_TOTAL_LENGTH)
      throw new RangeError(
        `The steps of the turn exceed ${MAX_TOTAL_LENGTH} characters at ${JSON.stringify(key)}; return smaller results.`,
      );
    this.#assertTurnAcceptsSteps();
    this.#addFinished(step);
    this.#unstored.add(step);
    await this.#turn.commitSteps();
    return step;
  }

  #assertTurnAcceptsSteps(): void {
    if (this.#turn.hasEnded) throw createTurnEndedError(this.#turn.task.taskId);
  }

  #addFinished(step: FinishedStep): void {
    this.#finished.set(step.key, step);
    this.#totalLength += step.key.length + step.json.length;
  }

  /** Returns the finished steps that the store does not have. Each step is returned once. */
  takeUnstored(): readonly FinishedStep[] {
    const unstored = [...this.#unstored];
    this.#unstored.clear();
    return unstored;
  }

  /** Called when the store has deleted the steps although the turn continues. */
  markAllUnstored(): void {
    for (const step of this.#finished.values()) this.#unstored.add(step);
  }
}

function assertValidStepKey(key: string): void {
  const isText = typeof key === "string" && key.isWellFormed();
  if (isText && key.length > 0 && key.length <= MAX_KEY_LENGTH) return;
  throw new RangeError(
    `The step key ${JSON.stringify(key)} is invalid; use text of 1 to ${MAX_KEY_LENGTH} characters.`,
  );
}

/**
 * Returns a key that is the same in every attempt at a turn, and that no other turn or step has. `stepKey` is absent in
 * the key of the turn itself. The key consists of 32 hexadecimal digits, which all known services accept.
 */
export function createIdempotencyKey(taskId: string, turnSeq: number, stepKey?: string): string {
  const identity = stepKey === undefined ? [taskId, turnSeq] : [taskId, turnSeq, stepKey];
  return computeSha256Hex(JSON.stringify(identity)).slice(0, IDEMPOTENCY_KEY_DIGITS);
}

/** Maximum length of a step's result, in characters of JSON. */
const MAX_RESULT_LENGTH = 8 * 2 ** 20;

/**
 * Encodes the result of a step as the JSON text that the store keeps. Throws an error if a later attempt would receive
 * another value than the first attempt, or if the result is too large.
 */
function encodeStepResult(key: string, result: unknown): string {
  const json = stringifyResult(key, result);
  const problem = findNonJsonValue(result, "result");
  if (problem) throw createNonJsonResultError(key, problem);
  if (json.length <= MAX_RESULT_LENGTH) return json;
  throw new RangeError(
    `The result of step ${JSON.stringify(key)} has ${json.length} characters of JSON; the limit is ${MAX_RESULT_LENGTH}. Store the data elsewhere, and return its address.`,
  );
}

function decodeStepResult(json: string): unknown {
  return (JSON.parse(json) as { result?: unknown }).result;
}

function stringifyResult(key: string, result: unknown): string {
  try {
    return JSON.stringify({ result });
  } catch (error) {
    // Cyclic objects, and values of type bigint.
    throw createNonJsonResultError(key, error instanceof Error ? error.message : String(error));
  }
}

function createNonJsonResultError(key: string, problem: string): TypeError {
  return new TypeError(
    `The result of step ${JSON.stringify(key)} is not JSON: ${problem}. Return only strings, numbers, booleans, null, arrays, and plain objects.`,
  );
}

/** Returns a description of the first value that JSON changes, or `undefined`. Members with `undefined` are allowed. */
function findNonJsonValue(value: unknown, path: string): string | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined;
  if (typeof value === "number") return Number.isFinite(value) ? undefined : `${path} is ${value}`;
  if (value === undefined) return path.endsWith("]") ? `${path} is undefined` : undefined;
  if (typeof value !== "object") return `${path} is of type ${typeof value}`;
  if (!Array.isArray(value) && !isPlainObject(value))
    return `${path} is an instance of ${value.constructor.name}`;
  for (const [name, member] of Object.entries(value)) {
    const problem = findNonJsonValue(member, Array.isArray(value) ? `${path}[${name}]` : `${path}.${name}`);
    if (problem) return problem;
  }
  return undefined;
}

/** Returns true for objects of every realm that have no class. */
function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Longest delay of one timer in milliseconds, so that a change of the wall clock takes effect within an hour. */
const MAX_TIMER_DELAY_MS = 60 * 60 * 1000;

/** Resolves once the wall clock reaches `time` in milliseconds since 1970. Rejects if the signal aborts. */
export async function sleepUntil(time: number, clock: Clock, signal: AbortSignal): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const remainingMs = time - clock.now();
    if (remainingMs <= 0) return;
    await delay(Math.min(remainingMs, MAX_TIMER_DELAY_MS), clock, signal);
  }
}

function delay(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal.removeEventListener("abort", end);
      resolve();
    };
    const cancel = clock.schedule(ms, end);
    signal.addEventListener("abort", end);
  });
}

/** Throws an error that names the function and its key if `until` is no time. */
export function assertValidWakeTime(name: "sleep" | "suspend", key: string, until: Date | number): void {
  // Agents in JavaScript can pass any value.
  const time: unknown = typeof until === "number" ? until : (until as Partial<Date> | null)?.getTime?.();
  if (Number.isFinite(time)) return;
  throw new TypeError(
    `"until" of run.${name}(${JSON.stringify(key)}, until) is not a time; pass milliseconds or a valid Date.`,
  );
}
