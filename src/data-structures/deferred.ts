/**
 * A promise that can be resolved or rejected from outside. An unhandled rejection of the promise does not
 * crash the process. The promise is created on first use, because often no code waits for the outcome.
 */
export class Deferred<T = void> {
  #promise: Promise<T> | undefined;
  #settle: { readonly resolve: (value: T) => void; readonly reject: (reason: unknown) => void } | undefined;
  #outcome: { readonly value: T } | { readonly reason: unknown } | undefined;

  get promise(): Promise<T> {
    return (this.#promise ??= this.#createPromise());
  }

  #createPromise(): Promise<T> {
    const outcome = this.#outcome;
    if (outcome) return "value" in outcome ? Promise.resolve(outcome.value) : rejectSafely(outcome.reason);
    const { promise, ...settle } = Promise.withResolvers<T>();
    this.#settle = settle;
    return promise;
  }

  /** Resolves the promise, unless it is settled. */
  resolve(value: T): void {
    if (this.#outcome) return;
    this.#outcome = { value };
    this.#settle?.resolve(value);
  }

  /** Rejects the promise, unless it is settled. */
  reject(reason: unknown): void {
    if (this.#outcome) return;
    this.#outcome = { reason };
    this.#promise?.catch(() => {});
    this.#settle?.reject(reason);
  }
}

function rejectSafely(reason: unknown): Promise<never> {
  const promise = Promise.reject(reason);
  promise.catch(() => {});
  return promise;
}
