import type { AdkRunnableSource, MemoryArtifactService } from "../../adk/index.ts";
import type { Agent, Observer } from "../../engine/index.ts";
import { CliError } from "../cli-error.ts";

/**
 * Factory that creates A2A agents from ADK objects. A later agent with the same id continues the conversations, which are
 * in the task store, and keeps the artifacts. The factory loads ADK on first use, because ADK is an optional peer
 * dependency.
 */
export class AdkAgentFactory {
  readonly #observer: Pick<Observer, "onError">;
  readonly #idsByEarlierId = new Map<string, string>();
  #artifactService: MemoryArtifactService | undefined;

  constructor(observer: Pick<Observer, "onError">) {
    this.#observer = observer;
  }

  /**
   * Creates an A2A agent from an ADK object. The agent's sessions are stored under `id`, which is by default derived from
   * the name of the ADK agent. An older version of Colloquy may have stored the sessions under `earlierId`.
   */
  async createAgentFromAdk(
    source: AdkRunnableSource,
    { id, earlierId }: { readonly id?: string; readonly earlierId?: string } = {},
  ): Promise<Agent> {
    const { adkAgent, deriveAdkAgentId, MemoryArtifactService } = await requireAdk(
      import("../../adk/index.ts"),
    );
    const currentId = id ?? deriveAdkAgentId(source);
    if (earlierId !== undefined && currentId !== undefined) this.#idsByEarlierId.set(earlierId, currentId);
    return adkAgent(source, {
      ...(currentId === undefined ? {} : { id: currentId }),
      observer: this.#observer,
      artifactService: (this.#artifactService ??= new MemoryArtifactService()),
    });
  }

  /**
   * Assigns the sessions of an older version of Colloquy to the current agents. Call the function after the task
   * store has created its file.
   */
  async adoptEarlierSessions(filePath: string | undefined): Promise<void> {
    if (this.#idsByEarlierId.size === 0 || filePath === undefined) return;
    const { SqliteSessionService } = await import("../../adk/index.ts");
    const service = new SqliteSessionService(filePath, {
      currentAppNamesByEarlierName: this.#idsByEarlierId,
    });
    service.open();
    service.close();
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
