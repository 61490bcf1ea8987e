/** Opens the task store of a server, and the services that need the open store. */
export class StoreOpener {
  readonly #open: () => Promise<void>;
  #opening: Promise<void> | undefined;
  #isOpen = false;

  constructor(open: () => Promise<void>) {
    this.#open = open;
  }

  /** True once the store and the services are open. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The current or last attempt to open the store, unless the attempt has failed. */
  get opening(): Promise<void> | undefined {
    return this.#opening;
  }

  /** Opens the store once. If opening fails, all callers of the attempt fail, and the next call tries again. */
  open(): Promise<void> {
    this.#opening ??= this.#openOnce();
    return this.#opening;
  }

  async #openOnce(): Promise<void> {
    try {
      await this.#open();
      this.#isOpen = true;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }
}
