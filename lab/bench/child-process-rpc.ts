import { fork, spawnSync, type ChildProcess, type ForkOptions } from "node:child_process";

/**
 * Functions that another process can call. The child process calls `serveParentProcessCalls`, and the parent calls
 * `ChildProcessClient.start`. Each system under test and the load generator run in separate processes, so
 * that the CPU time of each can be measured alone.
 */
export type ChildProcessMethods = Record<string, (argument: never) => unknown>;

interface ChildProcessRequest {
  id: number;
  call: string;
  argument: unknown;
}

interface ChildProcessResponse {
  id: number;
  value?: unknown;
  error?: string;
}

/** Answers the calls of the parent process, and exits when the parent disconnects. */
export function serveParentProcessCalls(methods: ChildProcessMethods): void {
  process.on("message", (request: ChildProcessRequest) => void dispatchParentProcessCall(methods, request));
  process.on("disconnect", () => process.exit(0));
  process.send?.({ id: 0 } satisfies ChildProcessResponse);
}

async function dispatchParentProcessCall(
  methods: ChildProcessMethods,
  { id, call, argument }: ChildProcessRequest,
): Promise<void> {
  try {
    const value = await methods[call]?.(argument as never);
    process.send?.({ id, value } satisfies ChildProcessResponse);
  } catch (error) {
    process.send?.({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
}

/** Client of a child process, which runs in the parent. */
export class ChildProcessClient<C extends ChildProcessMethods> {
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #name: string;
  #lastRequestId = 0;

  private constructor(name: string, child: ChildProcess) {
    this.#name = name;
    this.#child = child;
    child.on("message", ({ id, value, error }: ChildProcessResponse) => {
      const pending = this.#pending.get(id);
      this.#pending.delete(id);
      if (error === undefined) pending?.resolve(value);
      else pending?.reject(new Error(`${name}: ${error}`));
    });
    child.once("exit", (code) => {
      for (const { reject } of this.#pending.values()) reject(new Error(`${name} exited with code ${code}`));
      this.#pending.clear();
    });
  }

  /**
   * Starts `module` in a child process that runs only on the given core, if the machine can pin processes, or on
   * any core. Resolves when the child has called `serveParentProcessCalls`.
   */
  static async start<C extends ChildProcessMethods>(
    name: string,
    module: URL,
    core: 0 | 1 | "any",
    args: readonly string[] = [],
    execArgv: readonly string[] = [],
  ): Promise<ChildProcessClient<C>> {
    const child = fork(module, args, {
      ...createPinnedNodeCommand(core, ["--disable-warning=ExperimentalWarning", ...execArgv]),
      // The output of a server must not appear in the report.
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    const client = new ChildProcessClient<C>(name, child);
    const ready = Promise.withResolvers<unknown>();
    client.#pending.set(0, ready);
    await ready.promise;
    return client;
  }

  /** Calls a method of the child process. */
  call<K extends keyof C & string>(
    call: K,
    ...[argument]: Parameters<C[K]> extends [] ? [] : [Parameters<C[K]>[0]]
  ): Promise<Awaited<ReturnType<C[K]>>> {
    const id = ++this.#lastRequestId;
    const pending = Promise.withResolvers<unknown>();
    if (this.hasExited) return Promise.reject(new Error(`${this.#name} has exited`));
    this.#pending.set(id, pending);
    this.#child.send({ id, call, argument } satisfies ChildProcessRequest);
    return pending.promise as Promise<Awaited<ReturnType<C[K]>>>;
  }

  get name(): string {
    return this.#name;
  }

  get processId(): number {
    return this.#child.pid ?? 0;
  }

  /** Whether the process has exited by itself or by a signal. */
  get hasExited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Stops the process. Resolves when it has exited. */
  async stop(): Promise<void> {
    if (this.hasExited) return;
    const exited = new Promise((resolve) => this.#child.once("exit", resolve));
    this.#child.disconnect();
    // A process that does not exit in time is killed.
    const killTimer = setTimeout(() => this.#child.kill("SIGKILL"), 2000);
    await exited;
    clearTimeout(killTimer);
  }
}

/** Returns the command that starts Node, on one core if `core` is a number. `taskset` replaces itself with Node. */
function createPinnedNodeCommand(
  core: 0 | 1 | "any",
  execArgv: string[],
): Pick<ForkOptions, "execPath" | "execArgv"> {
  if (core === "any" || !canPinProcesses()) return { execArgv };
  return { execPath: "taskset", execArgv: ["-c", String(core), process.execPath, ...execArgv] };
}

let canPin: boolean | undefined;

/** Returns true if the program `taskset` can pin processes to the cores 0 and 1. */
export function canPinProcesses(): boolean {
  return (canPin ??= ["0", "1"].every(
    (core) => spawnSync("taskset", ["-c", core, "true"], { stdio: "ignore" }).status === 0,
  ));
}
