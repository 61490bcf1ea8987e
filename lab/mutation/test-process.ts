import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { FileEnded, TestRequest, TestResponse } from "./mutant-runner.ts";

export interface TestProcessOptions {
  /** Number of failed tests after which a run stops. 0 is no limit. */
  readonly bail: number;
  readonly testTimeoutMs: number;
}

/** Runs test files in a child process, which starts with the first run and again after each timeout. */
export class TestProcess {
  #child: ChildProcess | undefined;
  readonly #cwd: string;
  readonly #options: TestProcessOptions;

  constructor(cwd: string, options: TestProcessOptions) {
    this.#cwd = cwd;
    this.#options = options;
  }

  /** Runs test files in the given order. Kills the process if no file ends for `fileTimeoutMs`. */
  async runTests(tests: readonly string[], fileTimeoutMs: number): Promise<TestResponse | "timeout"> {
    const child = (this.#child ??= await this.#start());
    const timer = setTimeout(() => child.kill("SIGKILL"), fileTimeoutMs);
    const response = new Promise<TestResponse | "timeout">((resolve) => {
      child.on("message", (message: TestResponse | FileEnded) => {
        timer.refresh();
        if (message !== "file ended") resolve(message);
      });
      child.once("exit", () => {
        this.#child = undefined;
        resolve("timeout");
      });
    });
    child.send({ tests } satisfies TestRequest);
    return await response.finally(() => {
      clearTimeout(timer);
      child.removeAllListeners();
    });
  }

  async stop(): Promise<void> {
    if (!this.#child) return;
    const exit = once(this.#child, "exit");
    this.#child.kill();
    await exit;
    this.#child = undefined;
  }

  async #start(): Promise<ChildProcess> {
    const { bail, testTimeoutMs } = this.#options;
    const child = fork(
      new URL("mutant-runner.ts", import.meta.url),
      [String(bail), String(Math.ceil(testTimeoutMs))],
      {
        cwd: this.#cwd,
        stdio: ["ignore", "ignore", "inherit", "ipc"],
      },
    );
    await once(child, "message");
    return child;
  }
}
