import { bundleWorker } from "../runtimes/bundle-suite.ts";
import { startWorker, type RunningMiniflare } from "../runtimes/miniflare.ts";

/** A worker with the agents of `agent-host.ts` in workerd. A killed workerd starts again on the same storage. */
export class RunningAgentHost {
  readonly #start: () => RunningMiniflare;
  #miniflare: RunningMiniflare;
  #ready: Promise<URL>;

  private constructor(start: () => RunningMiniflare) {
    this.#start = start;
    this.#miniflare = start();
    this.#ready = this.#miniflare.ready;
  }

  /** `packageFolder` contains Miniflare, and `storageFolder` the storage of the objects. */
  static async start(packageFolder: string, storageFolder: string): Promise<RunningAgentHost> {
    const script = await bundleWorker("lab/edge-kills/agent-host.ts", packageFolder, { usesNode: true });
    const durableObject = { binding: "AGENT_HOST", className: "AgentHost" };
    const host = new RunningAgentHost(() =>
      startWorker(packageFolder, script, { usesNode: true, durableObject, storageFolder, isSilent: true }),
    );
    await host.#ready;
    return host;
  }

  /** Resolves with a URL of the current workerd. */
  async resolveUrl(path: string): Promise<string> {
    return new URL(path, await this.#ready).href;
  }

  /** Kills workerd with SIGKILL, and starts another on the same storage. */
  async killProcess(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<URL>();
    promise.catch(() => {});
    this.#ready = promise;
    try {
      await this.#miniflare.dispose();
      this.#miniflare = this.#start();
      resolve(await this.#miniflare.ready);
    } catch (error) {
      reject(error);
      throw error;
    }
  }

  /** Resets an object, which loses its memory and its running requests. */
  async resetObject(name: string): Promise<void> {
    const response = await fetch(await this.resolveUrl("/abort"), { headers: { "x-object": name } });
    await response.arrayBuffer();
  }

  async close(): Promise<void> {
    await this.#miniflare.dispose();
  }
}
