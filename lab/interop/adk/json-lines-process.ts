import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { ProgramCommand } from "../sdk-peers.ts";

/** A child process that reads and writes one JSON value per line. */
export class JsonLinesProcess {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #name: string;
  #stderr = "";

  constructor([program, ...args]: ProgramCommand) {
    this.#name = [program, ...args].join(" ");
    this.#child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
    this.#child.stderr?.on("data", (bytes: Buffer) => {
      this.#stderr = (this.#stderr + bytes.toString()).slice(-2000);
    });
    // The child may exit while the harness writes to it.
    this.#child.stdin?.on("error", () => {});
    const stdout = this.#child.stdout;
    if (!stdout) throw new Error("The program has no output.");
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  }

  write(value: unknown): void {
    this.#child.stdin?.write(`${JSON.stringify(value)}\n`);
  }

  /** Resolves with the next line. Rejects if the program exits, or writes nothing within `timeoutMs`. */
  async read<T>(timeoutMs: number): Promise<T> {
    const deadline = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => deadline.reject(new Error(`hangs: no result within ${timeoutMs / 1000} s`)),
      timeoutMs,
    );
    try {
      const line = await Promise.race([this.#lines.next(), deadline.promise]);
      if (line.done) throw new Error(`${this.#name} exited: ${this.#stderr.trim()}`);
      return JSON.parse(line.value) as T;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Kills the process, as `kill -9` does, and resolves after its end. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGKILL");
    await ended;
  }
}
