/** A signal that aborts once nothing was heard for a while. Whoever has it ends it. */
export class Silence {
  readonly #ended = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(ms: number) {
    this.#timer = setTimeout(() => this.#ended.abort(), ms);
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  broken(): void {
    this.#timer.refresh();
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}
