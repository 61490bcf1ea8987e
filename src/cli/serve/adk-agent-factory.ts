import type { AdkAgentOptions, AdkRunnableSource, MemoryArtifactService } from "../../agents/adk/index.ts";
import type { Agent, Observer } from "../../engine/index.ts";
import { CliError } from "../cli-error.ts";

/**
 * Factory that creates A2A agents from ADK objects. A later agent with the same id continues the conversations, which are
 * in the task store, and keeps the artifacts. The factory loads ADK on first use, because ADK is an optional peer
 * dependency.
 */
export class AdkAgentFactory {
  readonly #observer: Pick<Observer, "onError">;
  readonly #options: Pick<AdkAgentOptions, "receiveState">;
  #artifactService: MemoryArtifactService | undefined;

  constructor(observer: Pick<Observer, "onError">, options: Pick<AdkAgentOptions, "receiveState"> = {}) {
    this.#observer = observer;
    this.#options = options;
  }

  /**
   * Creates an A2A agent from an ADK object. The agent's sessions are stored under `id`, which is by default derived from
   * the name of the ADK agent.
   */
  async createAgentFromAdk(source: AdkRunnableSource, { id }: { readonly id?: string } = {}): Promise<Agent> {
    const { adkAgent, deriveAdkAgentId, MemoryArtifactService } = await requireAdk(
      import("../../agents/adk/index.ts"),
    );
    const currentId = id ?? deriveAdkAgentId(source);
    return adkAgent(source, {
      ...this.#options,
      ...(currentId === undefined ? {} : { id: currentId }),
      observer: this.#observer,
      artifactService: (this.#artifactService ??= new MemoryArtifactService()),
    });
  }
}

/** Adds an installation hint to the error if ADK is not installed. */
export async function requireAdk<T>(loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes("@google/adk")) throw error;
    const hint = "npm install @google/adk";
    throw new CliError("A2ACLI_ERR_INTERNAL", `Google ADK is not installed here: ${hint}`, hint, error);
  }
}
