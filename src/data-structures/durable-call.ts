import { createHash } from "node:crypto";
import { CallKeyGenerator, decodeTypedJson, encodeTypedJson } from "../data-structures/index.ts";
import type { Run, StepExecution } from "../engine/index.ts";

/** The part of a run that executes steps. */
export type RunWithSteps = Pick<Run, "once">;

const keyGenerators = new WeakMap<RunWithSteps, CallKeyGenerator>();
const HASH_DIGITS = 32;
const NOT_STORED = new Error("The step is not stored.");

/**
 * A call of a model or a tool as a step of a run. A later attempt at the turn repeats a finished call only if the input
 * of the call differs.
 */
export class DurableCall {
  readonly #run: RunWithSteps;
  readonly #keys: CallKeyGenerator;
  readonly #key: string;

  constructor(run: RunWithSteps, kind: string, input: unknown) {
    this.#run = run;
    this.#keys = keyGenerators.get(run) ?? new CallKeyGenerator(hash);
    keyGenerators.set(run, this.#keys);
    this.#key = this.#keys.generate(`colloquy:${kind}`, input);
  }

  /** Resolves with the result of the call, which `execute` makes if no attempt has finished the call. */
  async execute<T>(execute: (step: StepExecution) => T | PromiseLike<T>): Promise<T> {
    try {
      const json = await this.#run.once(this.#key, async (step) => encodeTypedJson([await execute(step)]));
      return (decodeTypedJson(json) as [T])[0];
    } catch (error) {
      this.release();
      throw error;
    }
  }

  /** Resolves with the result of the call if an attempt has finished the call. */
  async findStored(): Promise<{ readonly result: unknown } | undefined> {
    try {
      const json = await this.#run.once<string>(this.#key, () => Promise.reject(NOT_STORED));
      return { result: (decodeTypedJson(json) as [unknown])[0] };
    } catch (error) {
      if (error === NOT_STORED) return undefined;
      throw error;
    }
  }

  /** Makes the key available to the next call with the same input, because this call has failed. */
  release(): void {
    this.#keys.release(this.#key);
  }
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, HASH_DIGITS);
}
