import type { AdkRunnableSource, SqliteSessionService } from "../../adk/index.ts";
import type { Agent, Observer } from "../../engine/index.ts";
import { CliError } from "../cli-error.ts";

/**
 * Factory that creates A2A agents from ADK objects. The agents store ADK sessions in the SQLite file of the
 * task store, or in memory if the task store uses no file. The factory loads ADK on first use, because ADK is
 * an optional peer dependency.
 */
export class AdkAgentFactory {
  readonly #databaseFile: string | undefined;
  readonly #observer: Pick<Observer, "onError">;
  #sessionService: SqliteSessionService | undefined;

  constructor(store: string, observer: Pick<Observer, "onError">) {
    this.#databaseFile = store.startsWith("sqlite:") ? store.slice("sqlite:".length) : undefined;
    this.#observer = observer;
  }

  /**
   * Creates an A2A agent with the given `id` from an ADK object. The factory stores the agent's sessions
   * under `id`, because several ADK agents may have the same name.
   */
  async createAgentFromAdk(id: string, source: AdkRunnableSource): Promise<Agent> {
    const { adkAgent, SqliteSessionService } = await requireAdk(import("../../adk/index.ts"));
    return adkAgent(source, {
      appName: id,
      observer: this.#observer,
      // Opened lazily, because the store creates the file.
      sessionService: () =>
        this.#databaseFile === undefined
          ? undefined
          : (this.#sessionService ??= new SqliteSessionService(this.#databaseFile)),
    });
  }

  close(): void {
    this.#sessionService?.close();
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
