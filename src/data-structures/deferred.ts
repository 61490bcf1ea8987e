/**
 * A promise that can be resolved or rejected from outside. An unhandled rejection of the promise does not
 * crash the process.
 */
export class Deferred<T = void> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T) => void;
  readonly #reject: (reason: unknown) => void;

  constructor() {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.promise = promise;
    this.resolve = resolve;
    this.#reject = reject;
  }

  reject(reason: unknown): void {
    this.promise.catch(() => {});
    this.#reject(reason);
  }
}
