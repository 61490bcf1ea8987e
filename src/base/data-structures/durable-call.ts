import { CallKeyGenerator } from "./call-key-generator.ts";
import { decodeTypedJson, encodeTypedJson } from "./typed-json.ts";

/** An object that executes steps, such as a run. `Step` is the information for the function of a step. */
export interface StepExecutor<Step> {
  once<T>(key: string, execute: (step: Step) => T | PromiseLike<T>): Promise<T>;
}

/** Key generators by `StepExecutor`. */
const keyGenerators = new WeakMap<object, CallKeyGenerator>();
const NOT_STORED = new Error("The step is not stored.");

/**
 * A call of a model or a tool as a step of a run. A later attempt at the turn repeats a finished call only if the input
 * of the call differs.
 */
export class DurableCall<Step> {
  readonly #run: StepExecutor<Step>;
  readonly #keys: CallKeyGenerator;
  readonly #key: string;
  #isReleased = false;

  constructor(run: StepExecutor<Step>, kind: string, input: unknown) {
    this.#run = run;
    this.#keys = keyGenerators.get(run) ?? new CallKeyGenerator();
    keyGenerators.set(run, this.#keys);
    this.#key = this.#keys.generate(`colloquy:${kind}`, input);
  }

  /** Resolves with the result of the call, which `execute` makes if no attempt has finished the call. */
  async execute<T>(execute: (step: Step) => T | PromiseLike<T>): Promise<T> {
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

  /** Makes the key available to the next call with the same input, because this call has failed. Safe to repeat. */
  release(): void {
    if (!this.#isReleased) this.#keys.release(this.#key);
    this.#isReleased = true;
  }
}
