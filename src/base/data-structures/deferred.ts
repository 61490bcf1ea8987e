/**
 * An outcome that code waits for, with a promise or a callback. An unhandled rejection of the promise does not
 * crash the process. The promise is created on first use, because often no code waits for the outcome.
 */
export class Deferred<T = void> {
  #promise: Promise<T> | undefined;
  #resolve: ((value: T) => void) | undefined;
  #reject: ((reason: unknown) => void) | undefined;
  #outcome: { readonly value: T } | { readonly reason: unknown } | undefined;
  #onSettled: (() => void) | undefined;

  get promise(): Promise<T> {
    return (this.#promise ??= this.#createPromise());
  }

  get isSettled(): boolean {
    return this.#outcome !== undefined;
  }

  #createPromise(): Promise<T> {
    const outcome = this.#outcome;
    if (outcome) return "value" in outcome ? Promise.resolve(outcome.value) : rejectSafely(outcome.reason);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#resolve = resolve;
    this.#reject = reject;
    return promise;
  }

  /** Calls `callback` when the outcome is known. Only one callback can wait. */
  onSettled(callback: () => void): void {
    if (this.#outcome) callback();
    else this.#onSettled = callback;
  }

  /** Resolves the promise, unless it is settled. */
  resolve(value: T): void {
    if (this.#outcome) return;
    this.#outcome = { value };
    this.#resolve?.(value);
    this.#onSettled?.();
  }

  /** Rejects the promise, unless it is settled. */
  reject(reason: unknown): void {
    if (this.#outcome) return;
    this.#outcome = { reason };
    this.#promise?.catch(() => {});
    this.#reject?.(reason);
    this.#onSettled?.();
  }
}

function rejectSafely(reason: unknown): Promise<never> {
  const promise = Promise.reject(reason);
  promise.catch(() => {});
  return promise;
}
