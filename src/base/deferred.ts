/** A promise with its handles outside. A rejection that nobody awaits is not an error of the process. */
export class Deferred<T = void> {
  readonly promise: Promise<T>;
  resolve!: (value: T) => void;
  #reject!: (error: unknown) => void;

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.resolve = resolve;
      this.#reject = reject;
    });
  }

  reject(reason: unknown): void {
    this.promise.catch(() => {});
    this.#reject(reason);
  }
}
