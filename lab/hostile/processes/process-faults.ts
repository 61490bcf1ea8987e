/** Records unhandled errors of this process instead of ending the process, so that the runner can report them. */
export class ProcessFaultRecorder {
  readonly #faults: string[] = [];

  constructor() {
    process.on("unhandledRejection", (error) => this.record("unhandled rejection", error));
    process.on("uncaughtException", (error) => this.record("uncaught exception", error));
    process.on("warning", ({ name, message }) => {
      if (name === "MaxListenersExceededWarning") this.record("warning", message);
    });
  }

  record(kind: string, error: unknown): void {
    if (this.#faults.length >= 20) return;
    this.#faults.push(`${kind}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }

  /** Returns the faults since the last call. */
  take(): string[] {
    return this.#faults.splice(0);
  }
}
